/* SPDX-License-Identifier: Apache-2.0 */
/* husk shell */
#include "cli/box.h"
#include "cli/verbs.h"

/* Nobody works against a clock of seconds. */
static const uint64_t SHELL_TIMEOUT_MS = UINT64_C(8) * 3600 * 1000;

int cli_shell(struct cli_settings *settings, size_t count, char **words)
{
	static const char *const bash[] = {"bash", NULL};
	static const char *const sh[] = {"sh", NULL};
	struct cli_box box = {.verb = "shell", .argv = bash, .otherwise = sh};

	(void)count;
	(void)words;
	settings->stdin_open = settings->terminal = 1;
	if (settings->box.timeout_ms == 0)
		settings->box.timeout_ms = SHELL_TIMEOUT_MS;
	return cli_box_run(settings, &box);
}
