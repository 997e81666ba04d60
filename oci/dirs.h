/* SPDX-License-Identifier: Apache-2.0 */
/* The directories of a tree that only we write to: which there are, by name, and open
 * descriptors of those that were used last. Walks go from here, component by component;
 * the kernel never gets a path of more than one, and no link is ever followed by it. */
#ifndef OCI_DIRS_H
#define OCI_DIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"

enum { DIRS_OPEN = 32, DIRS_MAX_LINKS = 40 /* on one walk, as in the kernel */ };

enum dir_flags {
	DIR_IMPLICIT = 1,    /* made as a parent; nobody said how it is to be */
	DIR_OPAQUE = 2,	     /* hides what lower layers have there */
	DIR_DEAD = 4,	     /* removed, or below one that was */
	DIR_HAS_MODE = 8,    /* its mode is what it is to be already */
	DIR_HAS_TIME = 16,   /* mtime is to be set at the end */
	DIR_NOTED = 32,	     /* for notes: it is written down */
	DIR_MODE_NOTED = 64, /* so is its mode: in the tree it has a wider one */
};

struct dir_node {
	struct dir_node *parent; /* NULL: the root */
	struct dir_node *chain;	 /* of its hash bucket */
	struct dir_node *peer;	 /* for the user */
	uint32_t id, depth, flags;
	mode_t mode, noted_mode;
	int fd; /* -1: not open */
	uint64_t used;
	struct timespec mtime;
	char name[]; /* one component; "" for the root */
};

struct dirs {
	const char *where;
	struct dir_node **nodes; /* in the order they were made: parents come first */
	size_t count, capacity;
	struct dir_node **buckets;
	size_t bucket_count;
	struct dir_node *open[DIRS_OPEN];
	size_t open_max; /* fewer where descriptors are few */
	uint64_t clock, salt;
};

/* root: borrowed, for reading. */
int dirs_init(struct dirs *dirs, int root, const char *where, struct husk_error *err);
void dirs_deinit(struct dirs *dirs);

struct dir_node *dirs_root(const struct dirs *dirs);
struct dir_node *dirs_child(const struct dirs *dirs, const struct dir_node *parent,
			    const char *name, size_t size);
/* Note a directory. HUSK_E_MEMORY, HUSK_E_TOO_BIG. */
int dirs_add(struct dirs *dirs, struct dir_node *parent, const char *name, size_t size,
	     struct dir_node **ret, struct husk_error *err);
/* It is no directory any more; what is below it is forgotten too. */
void dirs_kill(struct dirs *dirs, struct dir_node *node);
/* Mark what is below dead ones dead; afterwards DIR_DEAD is right for all. */
void dirs_bury(struct dirs *dirs);
/* Is node top itself, or below it? */
bool dirs_is_below(const struct dir_node *node, const struct dir_node *top);
/* A descriptor (O_PATH) that stays open during this call of dirs_fd and the next.
 * -errno. */
int dirs_fd(struct dirs *dirs, struct dir_node *node);
/* Give all that live the modes and times noted in them, children before parents. 0 or
 * -errno with *ret_name, the directory where it failed. */
int dirs_finish(struct dirs *dirs, const char **ret_name);

#endif
