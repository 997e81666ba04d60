/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a file of the caller whole (code and environment files), and keeping to what
 * the caller named where a box may have made links. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <husk/error.h>

#include <stdbool.h>
#include <stddef.h>

/* Read path (NULL: standard input) to its end, at most max bytes. A pipe will do. `what`
 * names the option or argument in errors. Below a place (a list that ends with NULL, or
 * NULL; cli_reach_places) a box may have made what is there: regular files alone are
 * read, and no link is followed. ret_inside may be NULL.
 *
 * Ownership: *ret_text is the caller's, to be freed. A NUL that is not counted follows
 * the bytes. */
int cli_input_read(const char *what, const char *path, const char *const *places,
		   size_t max, char **ret_text, size_t *ret_size, bool *ret_inside,
		   struct husk_error *err);

/* Open it that way: a descriptor, -EXDEV for a link, -ENOTSUP for what is no regular
 * file, or another -errno. *ret_inside (where it is not NULL) is also set when failing:
 * the way has led into one of the places. */
int cli_input_open(const char *path, const char *const *places, bool *ret_inside);

/* Is there, in one of the places, a link on the way to path? For what is opened
 * elsewhere. */
bool cli_input_strays(const char *path, const char *const *places);

/* The error for such a link on the way to path. thing: what could be named without one, a
 * "file" or a "place". Returns HUSK_E_INVALID. */
int cli_input_strayed(const char *what, const char *path, const char *thing,
		      struct husk_error *err);

#endif
