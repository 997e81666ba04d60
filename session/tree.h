/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Visiting a directory tree in the order of its names, for what a setup leaves and for
 * what goes into the key of a cached one: trees of packages, of moderate depth and size.
 * What is deeper or larger is refused, not cut. (session/walk.h moves about in trees of
 * any shape, in no order.)
 *
 * No link is followed and no mount crossed, whoever changes the tree meanwhile.
 */
#ifndef SESSION_TREE_H
#define SESSION_TREE_H

#include <sys/stat.h>

enum {
	TREE_DEPTH_MAX = 64,
	TREE_ENTRIES_MAX = 500000,
};

enum tree_step {
	TREE_ENTER, /* a directory, before it is opened */
	TREE_LEAVE, /* the same directory, after what is in it */
	TREE_FILE,  /* a regular file */
	TREE_LINK,
	TREE_OTHER, /* a pipe, a socket, a device */
};

struct tree_entry {
	int dir;	  /* the directory that holds it */
	const char *name; /* in dir */
	const char *path; /* below the root */
	const struct stat *st;
	unsigned depth; /* 0: directly in the root */
};

/* Called for each entry; a negative answer ends the visit and is its result. */
typedef int (*tree_fn)(void *user, enum tree_step step, const struct tree_entry *entry);

/* Visit everything below root, a directory open in any way; `skip` (or NULL) names an
 * entry at the top that is left out. 0, -E2BIG where the tree is too deep or has too many
 * entries, -EXDEV for a mount, or -errno of what could not be read; what vanishes
 * meanwhile is passed over. */
int tree_each(int root, const char *skip, tree_fn fn, void *user);

#endif
