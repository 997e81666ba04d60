/* SPDX-License-Identifier: Apache-2.0 */
/* husk run */
#include "cli/box.h"
#include "cli/say.h"
#include "cli/verbs.h"

int cli_run(struct cli_settings *settings, size_t count, char **words)
{
	struct cli_box box = {.verb = "run", .argv = (const char *const *)words};
	struct husk_error err = {0};

	if (count == 0 && !cli_settings_has_command(settings)) {
		(void)cli_error(&err, "usage", "no program is given");
		cli_error_hint(&err,
			       "write it after the options: husk run -- PROG [ARG...]");
		return cli_say_usage(&err, "run");
	}
	return cli_box_run(settings, &box);
}
