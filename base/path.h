/* SPDX-License-Identifier: Apache-2.0 */
/* Paths inside a directory tree that others shaped. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stddef.h>

/* Where path (relative, without "..") leads below root once the links on the way are
 * followed as if root were "/". Components that do not exist are kept as they are. The
 * answer is relative to root and holds no link, "." or "..". 0, -ELOOP after 40 links,
 * -ENAMETOOLONG where it does not fit, or what the walk failed with. */
int path_resolve_in_root(int root, const char *path, char *ret, size_t capacity);

#endif
