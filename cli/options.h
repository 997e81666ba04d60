/* SPDX-License-Identifier: Apache-2.0 */
/* The option table: every option of every command is one row, and all of them are read,
 * checked and explained from it. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/settings.h"

#include <husk/error.h>

#include <stdbool.h>
#include <stddef.h>

struct cli_option {
	const char *name; /* without the dashes */
	char letter;	  /* the short form, or 0 */
	unsigned verbs;	  /* CLI_VERB_* bits (cli/verbs.h) of the commands that take it */
	const char *argument; /* what its value is called; NULL: it takes none */
	const char *standard; /* what holds without it, as typed; NULL: nothing to say */
	const char *help;     /* without a full stop */
	/* Of a choice: the words, and NULL. Of a flag: what may follow it after a "=". */
	const char *const *words;
	size_t at; /* where in struct cli_settings the value goes */
	/* Check the value (NULL where there is none) and store it. */
	int (*set)(const struct cli_option *option, struct cli_settings *settings,
		   char *value, struct husk_error *err);
	/* What holds without it for these commands, where that differs; NULL: as above.
	 */
	const char *setup_standard, *shell_standard;
};

/* For the verbs of a row: it may also stand in a configuration file. */
#define CLI_OPTION_IN_FILES (1u << 31)

/* Sorted by name; *ret_count rows. */
const struct cli_option *cli_options(size_t *ret_count);

/* What holds without the option for the command of that bit; NULL: nothing to say. */
const char *cli_option_standard(const struct cli_option *option, unsigned verb);

/* The option of that long name (size bytes of it) or letter, whichever command it belongs
 * to; NULL where there is none. */
const struct cli_option *cli_option_by_name(const char *name, size_t size);
const struct cli_option *cli_option_by_letter(char letter);

/* May it be given several times, each adding to what was there? */
bool cli_option_repeats(const struct cli_option *option);

/* Take back what earlier layers have given: a flag is off again, and of an option that
 * repeats (the environment's two are one in this) nothing is left but what this layer has
 * added itself. */
void cli_option_clear(const struct cli_option *option, struct cli_settings *settings);

#endif
