/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/fetch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fd.h"
#include "base/printable.h"
#include "oci/fetch_own.h"
#include "oci/notes.h"
#include "oci/unpack.h"

/* -- stopping -- */

void fetch_stop(struct fetch *fetch, const struct husk_error *why)
{
	(void)pthread_mutex_lock(&fetch->lock);
	if (!fetch->is_stopped) {
		fetch->is_stopped = true;
		fetch->why = *why;
		for (size_t i = 0; i < FETCH_WORKERS; i++) {
			if (!fetch->active[i])
				continue;
			blob_abandon(fetch->active[i], why);
			blob_fail(fetch->active[i], why);
		}
	}
	(void)pthread_mutex_unlock(&fetch->lock);
}

bool fetch_is_stopped(struct fetch *fetch)
{
	bool is_stopped;

	(void)pthread_mutex_lock(&fetch->lock);
	is_stopped = fetch->is_stopped;
	(void)pthread_mutex_unlock(&fetch->lock);
	return is_stopped;
}

bool fetch_is_cancelled(struct fetch *fetch)
{
	struct pollfd fd = {.fd = fetch->options->cancel_fd, .events = POLLIN};
	struct husk_error why;

	if (fetch_is_stopped(fetch))
		return true;
	if (fd.fd < 0 || poll(&fd, 1, 0) <= 0)
		return false;
	(void)error_set(&why, HUSK_E_CANCELLED, fetch->where, "stopped by the caller");
	fetch_stop(fetch, &why);
	return true;
}

int fetch_outcome(struct fetch *fetch, struct husk_error *err)
{
	int r = 0;

	(void)pthread_mutex_lock(&fetch->lock);
	if (fetch->is_stopped) {
		r = fetch->why.code < 0 ? fetch->why.code : HUSK_E_SYSTEM;
		if (err)
			*err = fetch->why;
	}
	(void)pthread_mutex_unlock(&fetch->lock);
	return r;
}

/* -- the root -- */

/* A tree that is all of the image need not be made a second time. */
static int try_layer_as_root(struct fetch *fetch, struct store_making *making,
			     bool *ret_done, struct husk_error *err)
{
	const struct digest *diff_id = fetch->config.diff_ids;
	CLEANUP_FD int layer = -1;
	int r = store_open_layer(fetch->store, diff_id, &layer, err);

	*ret_done = r == 0 && notes_are_empty(layer);
	return *ret_done ? store_root_is_layer(making, diff_id, err) : r;
}

static int merge(struct fetch *fetch, int root, struct husk_error *err)
{
	size_t count = fetch->config.diff_id_count, opened = 0;
	int *layers = calloc(count ? count : 1, sizeof(*layers));
	int r = 0;

	if (!layers)
		return error_oom(err, fetch->where);
	for (; r == 0 && opened < count; opened += r == 0)
		r = store_open_layer(fetch->store, &fetch->config.diff_ids[opened],
				     &layers[opened], err);
	if (r == 0)
		r = layers_merge(layers, count, root, fetch->where, err);
	for (size_t i = 0; i < opened; i++)
		fd_close(&layers[i]);
	free(layers);
	return r;
}

static int make_root(struct fetch *fetch, const struct digest *chain,
		     struct husk_error *err)
{
	struct fetch_layer waiter = {.fetch = fetch, .index = SIZE_MAX};
	struct store_making *making = NULL;
	int root = -1, r;
	bool is_done;

	if (store_has_root(fetch->store, chain))
		return 0;
	fetch_tell(fetch, HUSK_PROGRESS_ASSEMBLING, -1, 0, fetch->manifest.layer_count);
	r = store_root_begin(fetch->store, chain, fetch_tell_waiting, &waiter, &making,
			     &root, err);
	if (r < 0 || !making)
		return r;
	/* An image without layers is an empty root. */
	is_done = fetch->config.diff_id_count == 0;
	if (fetch->config.diff_id_count == 1)
		r = try_layer_as_root(fetch, making, &is_done, err);
	if (r == 0 && !is_done)
		r = merge(fetch, root, err);
	if (r == 0)
		r = fetch_is_cancelled(fetch) ? fetch_outcome(fetch, err)
					      : store_making_commit(making, err);
	(void)store_making_free(making);
	return r;
}

/* -- all of it -- */

static int name_image(struct fetch *fetch, const struct digest *chain,
		      struct store_image *ret, struct husk_error *err)
{
	struct store_image image = {
	    .name = strdup(fetch->options->name),
	    .top = fetch->top,
	    .manifest = fetch->manifest_digest,
	    .chain = *chain,
	    .added_s = (int64_t)time(NULL),
	};
	int r;

	if (!image.name)
		return error_oom(err, fetch->where);
	platform_text(fetch->config.platform.os[0] ? &fetch->config.platform
						   : &fetch->options->platform,
		      image.platform);
	for (size_t i = 0; i < fetch->manifest.layer_count; i++)
		image.size += fetch->manifest.layers[i].size;
	r = store_set_image(fetch->store, &image, err);
	if (r < 0) {
		store_image_deinit(&image);
		return r;
	}
	*ret = image;
	return 0;
}

static int fetch_all(struct fetch *fetch, const struct descriptor *top,
		     const struct buffer *top_data, struct store_image *ret,
		     struct husk_error *err)
{
	struct digest chain = {0};
	size_t count;
	int r = fetch_documents(fetch, top, top_data, err);

	if (r < 0)
		return r;
	count = fetch->manifest.layer_count;
	fetch->told_ms = calloc(count ? count : 1, sizeof(*fetch->told_ms));
	if (!fetch->told_ms)
		return error_oom(err, fetch->where);
	fetch_tell(fetch, HUSK_PROGRESS_RESOLVED, -1, 0, count);
	if (fetch_is_cancelled(fetch))
		return fetch_outcome(fetch, err);
	r = fetch_layers(fetch, err);
	if (r == 0 && count > 0)
		r = image_config_chain(&fetch->config, count, &chain, err);
	if (r == 0)
		r = make_root(fetch, &chain, err);
	if (r == 0 && fetch_is_cancelled(fetch))
		r = fetch_outcome(fetch, err);
	if (r == 0)
		r = name_image(fetch, &chain, ret, err);
	if (r == 0)
		fetch_tell(fetch, HUSK_PROGRESS_DONE, -1, count, count);
	return r;
}

/* Whoever met the end of the disk: the remedy is the same. */
static void add_remedy(struct husk_error *err)
{
	if (err && err->hint[0] == '\0' &&
	    (err->sys_errno == ENOSPC || err->sys_errno == EDQUOT))
		error_hint(err, "make room where the image store is, for instance with "
				"husk image prune, and pull again: what has come stays");
}

int fetch_image(struct store *store, const struct fetch_source *source,
		const struct descriptor *top, const struct buffer *top_data,
		const struct fetch_options *options, struct store_image *ret,
		struct husk_error *err)
{
	struct fetch fetch = {
	    .store = store,
	    .source = source,
	    .options = options,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .progress_lock = PTHREAD_MUTEX_INITIALIZER,
	};
	int r;

	(void)printable(fetch.where, sizeof(fetch.where), options->name);
	r = fetch_all(&fetch, top, top_data, ret, err);
	if (r < 0)
		add_remedy(err);
	image_config_deinit(&fetch.config);
	manifest_deinit(&fetch.manifest);
	free(fetch.told_ms);
	(void)pthread_mutex_destroy(&fetch.progress_lock);
	(void)pthread_mutex_destroy(&fetch.lock);
	return r;
}
