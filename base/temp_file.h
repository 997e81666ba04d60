/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files that get their own name by rename, when they are whole. Between the two
 * a maker may be killed: so it holds a shared lock on the file for as long as it has such
 * a name, and one that nobody holds is what a dead maker left. */
#ifndef BASE_TEMP_FILE_H
#define BASE_TEMP_FILE_H

#include <stdbool.h>

enum { TEMP_FILE_NAME = 48 };

#define TEMP_FILE_WORKSPACE ".husk-"
#define TEMP_FILE_EXPORT    ".husk-export-"

/* A name that nobody has, most likely: prefix (one of those), 16 hexadecimal digits and
 * ".tmp". 0 or -errno. */
int temp_file_name(const char *prefix, char ret[TEMP_FILE_NAME]);
bool temp_file_is(const char *prefix, const char *name);

/* Before the file has such a name, or at once after it was made with it. Where the file
 * system knows no locks nothing is held, and nothing is ever taken for a leftover. */
void temp_file_hold(int fd);

/* Remove the entry of dir, which is known to have such a name, where it is a regular file
 * that nobody holds. True where it is gone. No link is followed. */
bool temp_file_sweep(int dir, const char *name);
/* All of them in dir. */
void temp_file_sweep_all(int dir, const char *prefix);

#endif
