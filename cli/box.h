/* SPDX-License-Identifier: Apache-2.0 */
/* What `run` and `code` have in common: one box by the settings, its streams passed
 * through or its result as JSON, and the exit code. */
#ifndef CLI_BOX_H
#define CLI_BOX_H

#include "cli/settings.h"

#include <stddef.h>

struct cli_box {
	const char *verb; /* the command, for hints */
	const char *const
	    *argv; /* the program, or for code what stands for it in the plan */
	const char *const *otherwise; /* run where argv[0] is not in the image; or NULL */
	const char *language;	      /* NULL: argv is run */
	const char *code;	      /* size bytes */
	size_t size;
};

/* Run the box, or print its plan. Returns husk's exit code. */
int cli_box_run(struct cli_settings *settings, const struct cli_box *box);

#endif
