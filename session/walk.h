/* SPDX-License-Identifier: Apache-2.0 */
/* Moving about in a directory tree that may be as deep as its maker liked and may change
 * under the mover: by descriptors, without recursion, without links, without crossing
 * mounts.
 *
 * A walk stands in one directory and knows, of every directory above it up to its root,
 * the name and the identity (device and inode). Only the WALK_OPEN_MAX innermost are
 * open. Going up to one that is not goes through ".." and is checked against the
 * identity; where that fails, because something was moved meanwhile, the way down from
 * the root is tried by names, checked the same way. So a walk never stands outside its
 * root. */
#ifndef SESSION_WALK_H
#define SESSION_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buffer.h"

enum { WALK_OPEN_MAX = 8, WALK_READ_SIZE = 64 << 10 };

struct walk_level {
	uint64_t dev;
	uint64_t ino;
	size_t name; /* where in walk.names; the root's is "" */
	int fd;	     /* or -1 */
};

struct walk {
	struct walk_level
	    *levels; /* levels[0] is the root, levels[depth] where it stands */
	size_t depth;
	size_t capacity;
	struct buffer names; /* of the levels, each with its NUL */
	bool repair;   /* make directories of ours readable and writable on entering */
	char *entries; /* WALK_READ_SIZE bytes for walk_next */
	size_t at;     /* of the next entry */
	size_t end;
};

/* One entry of a directory; name lives until the next walk_next. */
struct walk_entry {
	const char *name;
	unsigned char type; /* DT_*; DT_UNKNOWN is possible */
};

#define WALK_INIT             \
	(struct walk)         \
	{                     \
		.capacity = 0 \
	}

/* Begin at root, a directory that the caller holds open in any way; the walk opens it
 * anew, since a position in a directory belongs to the descriptor. With `repair` (for
 * removing), directories of this user that lack it are given mode 0700 on the way in. */
int walk_init(struct walk *walk, int root, bool repair);
void walk_deinit(struct walk *walk);
#define CLEANUP_WALK __attribute__((cleanup(walk_deinit)))

/* The directory where it stands, open for reading. */
static inline int walk_fd(const struct walk *walk)
{
	return walk->levels[walk->depth].fd;
}

/* Read the directory where it stands, from the start after walk_rewind. 1 with an entry
 * (never "." or ".."), 0 at the end, -errno. Not across walk_enter and walk_leave. */
void walk_rewind(struct walk *walk);
int walk_next(struct walk *walk, struct walk_entry *ret);

/* Step into the directory `name`. *ret_st is what it was before anything of it was read.
 * -ENOENT, -ENOTDIR or -ELOOP where it is no directory (any more), -EXDEV for a mount. */
int walk_enter(struct walk *walk, const char *name, struct stat *ret_st);

/* Step back up. Returns 0, or how many levels more are lost because they were moved away,
 * or -errno; after -errno the walk cannot go on. */
int walk_leave(struct walk *walk);

/* Whether an error of walk_enter or walk_next is about that directory, not about us. */
bool walk_error_is_local(int r);

#endif
