/* SPDX-License-Identifier: Apache-2.0 */
/* The public names, and the gathering of the view. */
#include "session/host.h"

#include <stdlib.h>

#include "base/error.h"
#include "session/settings.h"

/* Where a session without other orders makes its workspace. */
static const char temp_dir[] = "/tmp";

int host_gather(const struct husk_host_options *options, struct host_view *ret,
		struct husk_error *err)
{
	int r;

	*ret = (struct host_view){0};
	probe_facts_read(&ret->facts);
	r = probe_all(temp_dir, &ret->answers, err);
	if (r < 0)
		return r;
	ret->has_limits = cgroup_describe(&ret->limits) == 0;
	host_gather_systemd(ret->facts.uid, &ret->systemd);
	host_gather_box(ret->has_limits ? &ret->limits : NULL, &ret->box);
	ret->skip_images = options->skip_images;
	if (ret->skip_images)
		return 0;
	host_gather_libraries(ret->libraries);
	return host_gather_store(options->store, &ret->answers, &ret->store, err);
}

int husk_host_probe(husk_host **ret_host, struct husk_error *err)
{
	return husk_host_probe_with(NULL, ret_host, err);
}

int husk_host_probe_with(const struct husk_host_options *options, husk_host **ret_host,
			 struct husk_error *err)
{
	struct husk_host_options known;
	struct host_view *view;
	husk_host *host = NULL;
	int r;

	if (!ret_host)
		return error_set(err, HUSK_E_INVALID, "host", "ret_host is NULL");
	r = settings_host(options, &known, err);
	if (r < 0)
		return r;
	view = malloc(sizeof(*view));
	if (!view)
		return error_oom(err, "host");
	r = host_gather(&known, view, err);
	if (r == 0) {
		host = host_judge(view);
		if (!host)
			r = error_oom(err, "host");
	}
	free(view);
	if (r == 0)
		*ret_host = host;
	return r;
}

static const struct host_row *row_at(const husk_host *host, size_t index)
{
	return host && index < host->count ? &host->rows[index] : NULL;
}

size_t husk_host_count(const husk_host *host)
{
	return host ? host->count : 0;
}

const char *husk_host_name(const husk_host *host, size_t index)
{
	const struct host_row *row = row_at(host, index);

	return row ? row->name : NULL;
}

int husk_host_state(const husk_host *host, size_t index)
{
	const struct host_row *row = row_at(host, index);

	return row ? row->state : 0;
}

const char *husk_host_finding(const husk_host *host, size_t index)
{
	const struct host_row *row = row_at(host, index);

	return row ? row->finding : NULL;
}

const char *husk_host_remedy(const husk_host *host, size_t index)
{
	const struct host_row *row = row_at(host, index);

	return row ? row->remedy : NULL;
}

int husk_host_usable(const husk_host *host)
{
	return host && host->usable;
}

const char *husk_host_level(const husk_host *host)
{
	return host ? host->level : NULL;
}

const char *husk_host_summary(const husk_host *host)
{
	return host ? host->summary : NULL;
}

husk_host *husk_host_free(husk_host *host)
{
	free(host);
	return NULL;
}
