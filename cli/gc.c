/* SPDX-License-Identifier: Apache-2.0 */
/* husk gc: remove what callers that were killed have left. */
#include "cli/running.h"
#include "cli/say.h"
#include "cli/setup.h"
#include "cli/verbs.h"

#include <husk/image.h>
#include <husk/options.h>
#include <husk/session.h>
#include <husk/setup.h>

#include <inttypes.h>
#include <stdio.h>

struct removed {
	uint64_t workspaces, groups, images, setups, bytes;
};

/* Without --setups nothing that is whole goes, and a cache that cannot be used is no
 * matter. --setups none stands for nothing that is kept. */
static int prune(const struct cli_settings *settings, struct removed *removed,
		 struct husk_error *err)
{
	char text[CLI_CACHE_TEXT];
	const char *cache = cli_setup_cache(text);
	uint64_t keep = settings->setups == HUSK_UNLIMITED ? 0 : settings->setups;

	if (!cache)
		return 0;
	if (settings->setups > 0)
		return husk_setup_prune(cache, keep, &removed->setups, &removed->bytes,
					err);
	(void)!husk_setup_prune(cache, UINT64_MAX, NULL, NULL, NULL);
	return 0;
}

static int print(const struct cli_settings *settings, const struct removed *removed)
{
	char line[256];
	int size;

	if (settings->json)
		size = snprintf(line, sizeof(line),
				"{\"workspaces\":%" PRIu64 ",\"cgroups\":%" PRIu64
				",\"images\":%" PRIu64 ",\"setups\":%" PRIu64
				",\"setup_bytes\":%" PRIu64 "}\n",
				removed->workspaces, removed->groups, removed->images,
				removed->setups, removed->bytes);
	else if (settings->setups > 0)
		size = snprintf(line, sizeof(line),
				"removed %" PRIu64 " workspaces, %" PRIu64
				" control groups, %" PRIu64
				" unfinished parts of images and %" PRIu64
				" setups of %" PRIu64 " bytes\n",
				removed->workspaces, removed->groups, removed->images,
				removed->setups, removed->bytes);
	else
		size = snprintf(line, sizeof(line),
				"removed %" PRIu64 " workspaces, %" PRIu64
				" control groups and %" PRIu64
				" unfinished parts of images\n",
				removed->workspaces, removed->groups, removed->images);
	return cli_print(line, (size_t)size);
}

int cli_gc(struct cli_settings *settings, size_t count, char **words)
{
	struct removed removed = {.workspaces = 0};
	struct husk_error err = {0};

	(void)count;
	(void)words;
	/* Listing the boxes that run removes the entries of those that were killed. */
	json_decref(cli_running_list());
	if (cli_settings_finish(settings, &err) < 0 ||
	    husk_sweep(settings->box.temp_dir, &removed.workspaces, &removed.groups,
		       &err) < 0 ||
	    prune(settings, &removed, &err) < 0 ||
	    husk_image_sweep(&settings->images, &removed.images, &err) < 0)
		return cli_say_error(&err);
	return print(settings, &removed);
}
