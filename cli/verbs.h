/* SPDX-License-Identifier: Apache-2.0 */
/* The commands: one row and one file each. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/settings.h"

#include <stdbool.h>
#include <stddef.h>

/* For the rows of the option table: which commands take it. */
#define CLI_VERB_CODE	 (1u << 0)
#define CLI_VERB_DOCTOR	 (1u << 1)
#define CLI_VERB_HELP	 (1u << 2)
#define CLI_VERB_RUN	 (1u << 3)
#define CLI_VERB_VERSION (1u << 4)
#define CLI_VERB_GC	 (1u << 5)
#define CLI_VERB_SETUP	 (1u << 6)
#define CLI_VERB_ALL	 ((1u << 7) - 1)

struct cli_verb {
	const char *name;
	const char *usage;   /* what follows the name */
	const char *summary; /* one line, without a full stop */
	const char *status;  /* the exit codes, one a line */
	const char *example;
	size_t max_words; /* how many arguments besides options; SIZE_MAX: any number */
	unsigned bit;	  /* CLI_VERB_* */
	bool program; /* its first argument ends the options: the rest is not husk's */
	/* Do it. words holds count arguments and a NULL. Returns the exit code. */
	int (*run)(struct cli_settings *settings, size_t count, char **words);
};

/* Sorted by name; *ret_count rows. */
const struct cli_verb *cli_verbs(size_t *ret_count);

/* The command of that name; on failure the error has a suggestion where one is near. */
int cli_verb_find(const char *name, const struct cli_verb **ret_verb,
		  struct husk_error *err);

/* One file each: cli/code.c, cli/doctor.c, ... */
int cli_code(struct cli_settings *settings, size_t count, char **words);
int cli_doctor(struct cli_settings *settings, size_t count, char **words);
int cli_gc(struct cli_settings *settings, size_t count, char **words);
int cli_help(struct cli_settings *settings, size_t count, char **words);
int cli_run(struct cli_settings *settings, size_t count, char **words);
int cli_setup(struct cli_settings *settings, size_t count, char **words);
int cli_version(struct cli_settings *settings, size_t count, char **words);

/* The help of one command (NULL: of husk) on stdout. Returns the exit code. */
int cli_help_verb(const struct cli_verb *verb);

#endif
