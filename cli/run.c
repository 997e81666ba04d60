/* SPDX-License-Identifier: Apache-2.0 */
/* husk run */
#include "cli/box.h"
#include "cli/say.h"
#include "cli/verbs.h"

#include <stdbool.h>
#include <string.h>

/* A directory, and the host itself, say nothing about what to run. */
static bool names_program(const char *image)
{
	return image && strcmp(image, "host") != 0 && strncmp(image, "dir:", 4) != 0;
}

int cli_run(struct cli_settings *settings, size_t count, char **words)
{
	struct cli_box box = {.verb = "run", .argv = (const char *const *)words};
	struct husk_error err = {0};

	if (count == 0 && !names_program(cli_settings_image(settings))) {
		(void)cli_error(&err, "usage", "no program is given");
		cli_error_hint(&err,
			       "write it after the options: husk run -- PROG [ARG...]");
		return cli_say_usage(&err, "run");
	}
	return cli_box_run(settings, &box);
}
