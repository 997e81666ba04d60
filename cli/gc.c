/* SPDX-License-Identifier: Apache-2.0 */
/* husk gc: remove what callers that were killed have left. */
#include "cli/say.h"
#include "cli/verbs.h"

#include <husk/session.h>

#include <inttypes.h>
#include <stdio.h>

int cli_gc(struct cli_settings *settings, size_t count, char **words)
{
	uint64_t workspaces = 0, groups = 0;
	struct husk_error err = {0};
	char line[160];
	int size;

	(void)count;
	(void)words;
	if (cli_settings_finish(settings, &err) < 0 ||
	    husk_sweep(settings->box.temp_dir, &workspaces, &groups, &err) < 0)
		return cli_say_error(&err);
	if (settings->json)
		size = snprintf(line, sizeof(line),
				"{\"workspaces\":%" PRIu64 ",\"cgroups\":%" PRIu64 "}\n",
				workspaces, groups);
	else
		size = snprintf(line, sizeof(line),
				"removed %" PRIu64 " workspaces and %" PRIu64
				" control groups\n",
				workspaces, groups);
	return cli_print(line, (size_t)size);
}
