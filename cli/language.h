/* SPDX-License-Identifier: Apache-2.0 */
/* The languages of `husk code`, and how a file tells which one it is in. */
#ifndef CLI_LANGUAGE_H
#define CLI_LANGUAGE_H

#include <husk/error.h>

#include <stddef.h>

struct cli_language {
	const char *name;    /* as the library knows it */
	const char *program; /* what runs it, for --explain: PROGRAM FLAG CODE */
	const char *flag;
};

/* The language called name. */
int cli_language_find(const char *name, const struct cli_language **ret_language,
		      struct husk_error *err);

/* The language of a file: by the ending of path (NULL: no file), else by a #! line at the
 * start of code, else python. A #! line that names another interpreter is an error. */
int cli_language_guess(const char *path, const char *code, size_t size,
		       const struct cli_language **ret_language, struct husk_error *err);

#endif
