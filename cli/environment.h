/* SPDX-License-Identifier: Apache-2.0 */
/* Variables for the box: -e NAME=VALUE, -e NAME and --env-file FILE. Nothing else of the
 * caller's environment is ever passed on. */
#ifndef CLI_ENVIRONMENT_H
#define CLI_ENVIRONMENT_H

#include "cli/keep.h"

#include <husk/error.h>

#include <stdbool.h>
#include <stddef.h>

/* How much an environment file may hold: the kernel takes far less than this. */
enum { CLI_ENV_FILE_MAX = 16 << 20 };

struct cli_variable {
	const char *text; /* NAME=VALUE */
	size_t rank;	  /* of two with one name, the higher rank holds */
};

/* An --env-file, read when all options are known: what is in a box's reach is known then.
 */
struct cli_environment_file {
	struct cli_environment_file *next; /* kept */
	const char *path;
	size_t layer;
	const char *where, *key; /* of a configuration file; kept, or NULL */
};

struct cli_environment {
	struct cli_variable *variables; /* kept */
	size_t count, capacity;
	struct cli_environment_file *files; /* in their order */
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

/* --env-file, to be read by cli_environment_read. where and key: its place in a
 * configuration file, or NULL. All three are kept by the caller. */
int cli_environment_add_file(struct cli_environment *environment, struct cli_keep **kept,
			     const char *path, const char *where, const char *key,
			     struct husk_error *err);

/* Read the files: a line each as for -e. Blank lines and lines that begin with # are
 * skipped, and so are blanks before a name; a value is taken as it stands, quotes and
 * all. Below a place (cli_reach_places) no link is followed, and no line copies a
 * variable of the caller's: a box may have written it. After an error *ret_file is the
 * file. */
int cli_environment_read(struct cli_environment *environment, struct cli_keep **kept,
			 const char *const *places,
			 const struct cli_environment_file **ret_file,
			 struct husk_error *err);

/* The lines of an environment file that is in memory (size bytes, ended by a NUL that is
 * not counted, changed in place and referred to afterwards). `name` stands in errors.
 * foreign: a box may have written it. */
int cli_environment_add_lines(struct cli_environment *environment, struct cli_keep **kept,
			      const char *name, char *text, size_t size, bool foreign,
			      struct husk_error *err);

/* Drop the variables and files of lower layers. */
void cli_environment_clear_below(struct cli_environment *environment);

/* All variables as the library takes them, each name once: -e before any file, later
 * before earlier. *ret_env is NULL where there are none. */
int cli_environment_merge(struct cli_environment *environment, struct cli_keep **kept,
			  const char *const **ret_env, struct husk_error *err);

#endif
