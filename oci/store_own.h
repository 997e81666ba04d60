/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the store share. oci/store.h says how the store works. */
#ifndef OCI_STORE_OWN_H
#define OCI_STORE_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "oci/store.h"

/* The store's directories. All are opened once, with every component looked at; after
 * that everything in them has a name of one component, so that openat with O_NOFOLLOW is
 * all the care it takes (and works where openat2 is filtered away). */
enum store_part {
	STORE_TOP,
	STORE_BLOBS,
	STORE_SHA256,
	STORE_SHA512,
	STORE_PARTIAL,
	STORE_LAYERS,
	STORE_ROOTS,
	STORE_IMAGES,
	STORE_TMP,
	STORE_PARTS
};

struct store {
	char *path;  /* heap */
	char *where; /* heap; path, fit for a message */
	enum store_mode mode;
	int part[STORE_PARTS]; /* -1: a reader may not be let into some */
	unsigned swept;	       /* how many things dead makers had left */
	int lock;	       /* holds STORE/lock shared; -1: a reader that may not */
};

/* "sha256-HEX"; "none" for DIGEST_NONE. */
enum { STORE_KEY = 7 + DIGEST_HEX };
void store_key(const struct digest *digest, char key[STORE_KEY]);
int store_key_parse(const char *key, struct digest *ret);
enum store_part store_blob_part(const struct digest *digest);

/* -- errors -- */

/* For a refused system call on the store, with the remedy where there is one. */
int store_error(const struct store *store, int sys_errno, struct husk_error *err,
		const char *fmt, ...) PRINTF(4, 5);
/* HUSK_E_INVALID where the store is open for reading only. */
int store_check_writable(const struct store *store, struct husk_error *err);

/* -- opening (store.c, store_check.c) -- */

/* One component below dir, never a link. The descriptor or -errno. A file must be a
 * regular one (-EINVAL). */
int store_open_dir_at(int dir, const char *name);
int store_open_file_at(int dir, const char *name, int flags);
/* The whole of a small file; -EFBIG past max. */
int store_read_file_at(int dir, const char *name, size_t max, struct buffer *ret);
/* Open all parts, making those that are missing where `make`; check what is there. */
int store_open_parts(struct store *store, bool make, struct husk_error *err);
bool store_is_here(int dir, const char *name, int fd);

/* -- locks (store_lock.c) -- */

int store_lock_open(struct store *store, struct husk_error *err);
/* From shared to exclusive, with a bounded wait: HUSK_E_IN_USE. And back. */
int store_lock_exclusive(struct store *store, struct husk_error *err);
void store_lock_shared(struct store *store);
/* Lock the file name in dir, making it: a descriptor, or -EWOULDBLOCK where somebody has
 * it. What is locked is what has the name. */
int store_try_lock_file(int dir, const char *name);
/* One turn of waiting for somebody else: sleeps a little and asks waiting(user) now and
 * then. 0 or HUSK_E_CANCELLED. turn counts up from 0. */
int store_wait_turn(unsigned turn, int (*waiting)(void *user), void *user,
		    const char *where, struct husk_error *err);

/* -- tmp/ (store_temp.c, store_sweep.c) -- */

/* A small file under a name of its own, atomically: written to tmp/, synced, renamed to
 * dir/name, and the directory synced. 0 or -errno. */
int store_put_file(const struct store *store, int dir, const char *name, const void *data,
		   size_t size);
/* A new name in tmp/ with its lock: the lock's descriptor or -errno. */
int store_temp_take(const struct store *store, char name[32]);
/* Remove name in tmp/ with its lock, both held by the caller. */
void store_temp_drop(const struct store *store, const char *name, int *lock);
/* What dead makers left goes; how many things it were. */
unsigned store_sweep(const struct store *store);

/* -- roots (store_root.c) -- */

/* Which layer a root is, of one that has no tree of its own; -ENOENT. */
int store_root_layer(int root, struct digest *ret);

/* -- names (store_names.c) -- */

enum { STORE_NAME_FILE = 65 };
void store_name_file(const char *name, char file[STORE_NAME_FILE]);
int store_read_image(const struct store *store, const char *file, struct store_image *ret,
		     struct husk_error *err);

/* -- tidying (store_mark.c, store_gone.c, store_weigh.c) -- */

/* Things of a store: a set of a letter for the part and the key. */
struct store_set {
	void *tree; /* of tsearch(3) */
};
bool store_set_has(const struct store_set *set, enum store_part part, const char *name);
int store_set_add(struct store_set *set, enum store_part part, const char *name);
void store_set_deinit(struct store_set *set);
/* Add all that an image needs, as far as it can be told: of one whose documents are
 * damaged, what is left. 0 or -ENOMEM. */
int store_mark_image(struct store *store, const struct store_image *image,
		     struct store_set *set);

/* A directory in tmp/ that things are moved into while the store is locked, and removed
 * from when it is not any more; where that is cut, a sweep goes on. */
struct store_gone {
	const struct store *store;
	char name[32];
	int lock;
	int dir;
	uint64_t count;
};
int store_gone_init(const struct store *store, struct store_gone *ret);
int store_gone_add(struct store_gone *gone, enum store_part part, const char *name);
/* Remove them; the bytes that this gave back. */
uint64_t store_gone_deinit(struct store_gone *gone);

/* Bytes on disk that go when name below dir does with all that is in it: files that have
 * links elsewhere do not. Directories are made readable for it. */
uint64_t store_weigh(int dir, const char *name);

#endif
