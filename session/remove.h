/* SPDX-License-Identifier: Apache-2.0 */
/* Removing a directory tree that a hostile program has built and may still be changing.
 */
#ifndef SESSION_REMOVE_H
#define SESSION_REMOVE_H

#include <stddef.h>
#include <stdint.h>

struct remove_report {
	uint64_t removed; /* entries */
	uint64_t failed;
	int sys_errno;	 /* why the first failure, positive; 0: none */
	char first[256]; /* its name, printable, the end of its path */
};

/* Remove everything below root, a directory that the caller holds open; root itself
 * stays. Depth, width and modes do not matter: directories of this user that cannot be
 * read or changed are given mode 0700. No link is followed and no mount crossed: a
 * directory that something is mounted on, or that was moved out of root meanwhile, stays
 * and is not touched. Ends even if somebody goes on adding entries. 0 where everything is
 * gone, else -errno of the first failure. */
int remove_tree(int root, struct remove_report *report);

#endif
