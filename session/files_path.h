/* SPDX-License-Identifier: Apache-2.0 */
/* What the file API takes for a path, and how it words its errors. */
#ifndef SESSION_FILES_PATH_H
#define SESSION_FILES_PATH_H

#include <stdbool.h>

#include <husk/error.h>

struct workspace;

enum { FILES_PATH_MAX = 4095 }; /* bytes of a path, without the NUL */

/* Bring a caller's path into the normal form of session/beneath.h. The rules:
 * - it is relative to the workspace; an absolute one is accepted where it lies in the
 * host path of the workspace, and /workspace, the box's own name for it, is not such a
 * one;
 * - "." , doubled slashes and ".." are taken out by their letters alone (a/../b is b,
 * whether there is an a or not); what would leave the workspace is refused;
 * - names are 1 to 255 bytes, any byte but the slash and NUL;
 * - for a file, a path that can only be a directory ("", ".", "a/", "a/..") is refused.
 *   With `directory` all of these are fine and "" is the workspace itself.
 *
 * *ret_path is the caller's. Errors: HUSK_E_INVALID (NULL), HUSK_E_PATH, HUSK_E_MEMORY.
 */
int files_path_parse(const struct workspace *workspace, const char *path, bool directory,
		     char **ret_path, struct husk_error *err);

/* Turn an errno (positive) of an attempt to `verb` (as in "cannot be read") path into an
 * error: HUSK_E_PATH for what is wrong with the path itself, else HUSK_E_SYSTEM or
 * HUSK_E_MEMORY. The path is shown in a printable form; a remedy is added where there is
 * one. Returns the code. */
int files_path_error(struct husk_error *err, int sys_errno, const char *path,
		     const char *verb);

#endif
