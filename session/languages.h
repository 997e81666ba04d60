/* SPDX-License-Identifier: Apache-2.0 */
/* The languages that run_code knows, as a table. */
#ifndef SESSION_LANGUAGES_H
#define SESSION_LANGUAGES_H

#include <stddef.h>

enum { LANGUAGE_PROGRAMS = 3, LANGUAGE_ARGS = 4 };

struct language {
	const char *name;
	const char *programs[LANGUAGE_PROGRAMS]; /* tried in order, NULL-ended */
	const char *option;			 /* takes the code as the next argument */
	const char
	    *from_file; /* short code that runs the code at BOX_CODE_PATH in its place */
	const char *hint; /* for an image that has none of the programs */
};

/* NULL for an unknown name. */
const struct language *language_find(const char *name);
/* "python, bash or node" */
const char *language_names(void);

#endif
