/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a file of the caller whole: code and environment files. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <husk/error.h>

#include <stddef.h>

/* Read path (NULL: standard input) to its end, at most max bytes. A pipe will do. `what`
 * names the option or argument in errors.
 *
 * Ownership: *ret_text is the caller's, to be freed. A NUL that is not counted follows
 * the bytes. */
int cli_input_read(const char *what, const char *path, size_t max, char **ret_text,
		   size_t *ret_size, struct husk_error *err);

#endif
