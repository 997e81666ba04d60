/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a command line apart by the option table. Options are `--name VALUE`,
 * `--name=VALUE`, `-x VALUE`, `-xVALUE`, `-x=VALUE`, and flags in a bundle (`-ie A=B`).
 * `--` ends them, and so does the first other word of a command that runs a program. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "cli/settings.h"
#include "cli/verbs.h"

#include <husk/error.h>

#include <stddef.h>

/* Read argv: the words that follow the command's name, and a NULL. Values go to settings;
 * behind --help nothing is looked at any more. The words that are no options are moved to
 * the front of argv, in order, with a NULL behind them; *ret_count is how many. */
int cli_arguments_parse(const struct cli_verb *verb, struct cli_settings *settings,
			char **argv, size_t *ret_count, struct husk_error *err);

/* The last value that argv gives to an option with an argument, before it is parsed; NULL
 * where there is none. Nothing is changed, and mistakes are passed over. */
const char *cli_arguments_peek(const struct cli_verb *verb, char **argv,
			       const char *name);

#endif
