/* SPDX-License-Identifier: Apache-2.0 */
/* Variables for the box: -e NAME=VALUE, -e NAME and --env-file FILE. Nothing else of the
 * caller's environment is ever passed on. */
#ifndef CLI_ENVIRONMENT_H
#define CLI_ENVIRONMENT_H

#include "cli/keep.h"

#include <husk/error.h>

#include <stddef.h>

/* How much an environment file may hold: the kernel takes far less than this. */
enum { CLI_ENV_FILE_MAX = 16 << 20 };

struct cli_variable {
	const char *text; /* NAME=VALUE */
	size_t rank;	  /* of two with one name, the higher rank holds */
};

struct cli_environment {
	struct cli_variable *variables; /* kept */
	size_t count, capacity;
	size_t layer; /* every variable of a higher layer holds before any of a lower */
};

/* -e: NAME=VALUE, or NAME to copy the caller's variable (nothing where the caller has
 * none). The value is overwritten in `text`, so that it does not stand in this process's
 * argument list while the box runs. */
int cli_environment_add(struct cli_environment *environment, struct cli_keep **kept,
			char *text, struct husk_error *err);

/* Copy the caller's variable of that name, unless there is one of that name. */
int cli_environment_add_standard(struct cli_environment *environment,
				 struct cli_keep **kept, const char *name,
				 struct husk_error *err);

/* --env-file: a line each as for -e. Blank lines and lines that begin with # are skipped,
 * and so are blanks before a name; a value is taken as it stands, quotes and all. */
int cli_environment_add_file(struct cli_environment *environment, struct cli_keep **kept,
			     const char *path, struct husk_error *err);

/* The lines of an environment file that is in memory (size bytes, ended by a NUL that is
 * not counted, changed in place and referred to afterwards). `name` stands in errors. */
int cli_environment_add_lines(struct cli_environment *environment, struct cli_keep **kept,
			      const char *name, char *text, size_t size,
			      struct husk_error *err);

/* Drop the variables of lower layers. */
void cli_environment_clear_below(struct cli_environment *environment);

/* All variables as the library takes them, each name once: -e before any file, later
 * before earlier. *ret_env is NULL where there are none. */
int cli_environment_merge(struct cli_environment *environment, struct cli_keep **kept,
			  const char *const **ret_env, struct husk_error *err);

#endif
