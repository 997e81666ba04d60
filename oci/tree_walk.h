/* SPDX-License-Identifier: Apache-2.0 */
/* From a path to a directory of a tree (oci/dirs.h), links on the way followed as if the
 * tree were all there is. */
#ifndef OCI_TREE_WALK_H
#define OCI_TREE_WALK_H

#include <stdbool.h>

#include "base/error.h"
#include "oci/dirs.h"

struct tree_walk {
	struct dirs *dirs;
	/* There is no directory of that name, and no link: make it (what is there instead
	 * goes), or leave *ret NULL. NULL: the walk ends there. */
	int (*missing)(void *user, struct dir_node *parent, const char *name,
		       struct dir_node **ret, struct husk_error *err);
	void *user;
	bool no_links; /* links are not followed: missing is asked */
};

/* From `from` on. *ret is NULL where there is no such directory (and missing is NULL).
 * HUSK_E_IMAGE after DIRS_MAX_LINKS links. */
int tree_walk(const struct tree_walk *walk, struct dir_node *from, const char *path,
	      size_t size, struct dir_node **ret, struct husk_error *err);

#endif
