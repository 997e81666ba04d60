/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a file of the caller whole: code and environment files. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <husk/error.h>

#include <stddef.h>

/* Read path (NULL: standard input) to its end, at most max bytes. A pipe will do. `what`
 * names the option or argument in errors. Below workspace (NULL: none is given) a box may
 * have made what is there: regular files alone are read, and no link is followed.
 *
 * Ownership: *ret_text is the caller's, to be freed. A NUL that is not counted follows
 * the bytes. */
int cli_input_read(const char *what, const char *path, const char *workspace, size_t max,
		   char **ret_text, size_t *ret_size, struct husk_error *err);

/* Open it that way: a descriptor, -ELOOP for a link, -ENOTSUP for what is no regular
 * file, or another -errno. */
int cli_input_open(const char *path, const char *workspace);

#endif
