/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What setups have installed, kept for the next session that asks for the same.
 *
 * On disk: DIR/setup/KEY/deps is the tree, KEY/size its size in bytes; the time of the
 * directory KEY is when it was last used. KEY is a digest of everything that decides the
 * outcome (session/setup_key.h). A tree is made in a private directory with the name of a
 * temporary workspace, locked, and gets its name by rename when it is whole; a killed
 * maker's is swept like such a workspace. Nothing in it changes afterwards: readers hold
 * a shared lock on KEY, the one who removes it takes the lock alone. KEY.lock is held by
 * who makes it, so that two processes do not install the same twice.
 */
#ifndef SESSION_SETUP_CACHE_H
#define SESSION_SETUP_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include <husk/error.h>

#include "session/workspace.h"

enum { SETUP_KEY_SIZE = 65 }; /* hexadecimal digits and a NUL */

struct setup_cache {
	int fd;	      /* DIR/setup, or -1: there is none */
	uint64_t max; /* bytes */
};

#define SETUP_CACHE_INIT     \
	(struct setup_cache) \
	{                    \
		.fd = -1     \
	}

/* A kept tree. */
struct setup_entry {
	int fd;	  /* KEY; holds the shared lock */
	int deps; /* KEY/deps */
};

#define SETUP_ENTRY_INIT             \
	(struct setup_entry)         \
	{                            \
		.fd = -1, .deps = -1 \
	}

/* A tree in the making: an empty directory to begin with. */
struct setup_stage {
	char name[WORKSPACE_NAME_SIZE];
	int fd;	  /* locked */
	int deps; /* the tree */
};

#define SETUP_STAGE_INIT             \
	(struct setup_stage)         \
	{                            \
		.fd = -1, .deps = -1 \
	}

/* Open the cache in dir (absolute), making it. A place where it cannot be (a read-only or
 * missing home) leaves ret->fd at -1: sessions work without. HUSK_E_INVALID where it
 * belongs to, or is open to changes by, somebody else. */
int setup_cache_open(const char *dir, uint64_t max, struct setup_cache *ret,
		     struct husk_error *err);
void setup_cache_close(struct setup_cache *cache);

/* Look for a tree and mark it as used. 1 where it is there, 0, or -errno. */
int setup_cache_find(const struct setup_cache *cache, const char *key,
		     struct setup_entry *ret);
void setup_entry_deinit(struct setup_entry *entry);

/* Become the only one who makes key: try once. A descriptor to be given to
 * setup_cache_unlock, -EWOULDBLOCK, or another -errno. */
int setup_cache_try_lock(const struct setup_cache *cache, const char *key);
void setup_cache_unlock(const struct setup_cache *cache, const char *key, int *lock);

/* Make a stage, and remove one that was not published. Both 0 or -errno. */
int setup_stage_new(const struct setup_cache *cache, struct setup_stage *ret);
void setup_stage_remove(const struct setup_cache *cache, struct setup_stage *stage);

/* Bring a stage into the form of a kept tree: owned by this user, modes 0755 and 0644, no
 * pipes, sockets or devices. *ret_bytes is its size. 0 or -errno. */
int setup_stage_seal(const struct setup_stage *stage, uint64_t *ret_bytes);

/* Keep a sealed stage as key and hand it over as an entry; then the least recently used
 * trees go until what is left fits. 1; 0 where it is larger than the cache, and remains a
 * stage; -errno. */
int setup_cache_publish(const struct setup_cache *cache, const char *key, uint64_t bytes,
			struct setup_stage *stage, struct setup_entry *ret);

#endif
