/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the host image whose name is near to one that is not there. */
#ifndef CLI_NEARBY_H
#define CLI_NEARBY_H

#include <stdbool.h>
#include <stddef.h>

/* Write a hint that names it into hint (size bytes); false where none is near, or where
 * name is a path. */
bool cli_nearby_program(const char *name, char *hint, size_t size);

#endif
