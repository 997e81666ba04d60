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

/* What the GNU.sparse.* records of one header say: GNU tar manual, "Storing Sparse
 * Files". */
struct pax_sparse {
	unsigned seen;
	uint64_t size;	 /* of the file, holes included */
	uint64_t mapped; /* bytes that the map of versions 0.0 and 0.1 holds */
};
/* Take a record; others are passed over. -EINVAL where it is not what it should be. */
int pax_sparse_take(struct pax_sparse *sparse, const char *key, const char *value,
		    size_t size);
/* Are they a whole description, of `stored` bytes of content? One that is not is read in
 * different ways. 0 or -EINVAL. */
int pax_sparse_check(const struct pax_sparse *sparse, uint64_t stored);

#endif
