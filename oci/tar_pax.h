/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a pax extended header: "LENGTH KEY=VALUE\n", POSIX.1-2017 pax. */
#ifndef OCI_TAR_PAX_H
#define OCI_TAR_PAX_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

enum { PAX_KEY = 256 }; /* longer keys cannot be one of ours and are given cut */

/* Calls each for every record; a negative answer of it is returned. -EINVAL where the
 * records are not well-formed. */
int pax_parse(const char *data, size_t size,
	      int (*each)(void *user, const char *key, const char *value, size_t size),
	      void *user);
/* A decimal number of at most 2^63 - 1 and nothing else. 0 or -EINVAL. */
int pax_number(const char *value, size_t size, uint64_t *ret);

#endif
