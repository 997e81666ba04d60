/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about a program that is not in the box. */
#ifndef CLI_NO_PROGRAM_H
#define CLI_NO_PROGRAM_H

#include "cli/settings.h"

/* Write a hint into hint (size bytes); false where there is nothing useful to say. */
bool cli_no_program_hint(const struct cli_settings *settings, const char *name,
			 char *hint, size_t size);

#endif
