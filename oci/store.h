/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: blobs, unpacked layers, roots and names of images in one directory, shared
 * by processes. Theory of operation:
 *
 *	STORE/              0755 for root's, 0700 for a user's
 *	  version           "husk store 1\n"; with it the directory is a store
 *	  lock              flock: shared by all who have the store open, exclusive
 *	                    for prune and rm; only its owner may open it
 *	  blobs/ALG/HEX     manifests, indexes, configs, layers as they came
 *	  partial/ALG-HEX   blobs on their way; flock: somebody is at it
 *	  layers/ALG-HEX/   by diff id: tree, notes (oci/unpack.h)
 *	  roots/ALG-HEX/    by chain id ("none": no layers): lease, a file, and
 *	                    tree, the merged root; or layer, a file that holds the
 *	                    diff id of the layer whose tree is the root
 *	  images/HEX        one JSON file for each name; HEX: sha256 of the name
 *	  tmp/              what is being made; NAME goes with NAME.lock
 *
 * Appearing. A thing gets its final name by rename, when all of it is on the disk:
 * fsync for files, syncfs for trees, then the directory that it went into. Whoever
 * sees it sees all of it, after a kill or a power cut too. The name of an image comes
 * last: what it stands for is there before; what lacks a name is invisible, and reused
 * by the next pull.
 *
 * Making. What is made has a fixed name in tmp/ (or in partial/) from what it will be,
 * so that all who want to make the same thing meet at one lock: one makes it, the
 * others wait and then find it there. The lock is taken before NAME exists and given
 * up after it is gone, so NAME without a locked NAME.lock is a dead maker's: it is
 * swept by the next who opens the store for writing, or goes by the next who makes the
 * same. A partial blob is its own lock, and no rubbish: its bytes are hashed again and
 * built on; prune removes it. Every lock is taken on an open file of its own, so that
 * threads exclude each other as processes do. Order, for who takes several: layer or
 * root, then blob.
 *
 * Removing. Prune and rm hold the store exclusively (so nobody is pulling) while they
 * mark what names need (top, indexes on the way, manifest, config, layers, diff ids,
 * root), and move the rest into one directory in tmp/; the store is shared again while
 * that is removed, and a sweep goes on where that is cut. A root in use is held by a
 * shared flock on its lease, which also readers of a store that is not theirs can
 * take; its remover takes that exclusively, and one who came a moment too late sees
 * that the directory has lost its name. A leased root stays, with the layer that it
 * may be; other roots have links of their own to all files.
 *
 * Trust. Who can write to a store decides what boxes run: it belongs to root or to the
 * caller, is open to nobody else's changes, its frame holds no link, and a directory
 * with other things in it is not made into one. Links above the store's own directory
 * are its owner's affair. Files in it are opened by one name below an open directory,
 * never following a link, never waiting for a FIFO. Small ones are checked again as
 * they are read, large blobs when something is made of them.
 */
#ifndef OCI_STORE_H
#define OCI_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "oci/blob.h"
#include "oci/digest.h"
#include "oci/manifest.h"

struct store;

enum store_mode {
	STORE_WRITE, /* made where it is missing; the shared lock is held */
	STORE_READ,  /* HUSK_E_IMAGE where it is missing */
};

/* Open the store at path (absolute). Sweeps what dead makers left in tmp/ (STORE_WRITE).
 * A store of a newer version, of another owner than root or the caller, or writable by
 * others is refused with the remedy. */
int store_open(const char *path, enum store_mode mode, struct store **ret,
	       struct husk_error *err);
/* Accepts NULL, returns NULL. */
struct store *store_close(struct store *store);
/* How many things of dead makers opening it has removed. */
unsigned store_swept(const struct store *store);
const char *store_path(const struct store *store);

/* -- blobs -- */

bool store_has_blob(struct store *store, const struct digest *digest, uint64_t *ret_size);
/* A small one whole (bounded by OCI_MAX_DOCUMENT), its digest checked again. */
int store_read_blob(struct store *store, const struct digest *digest, struct buffer *ret,
		    struct husk_error *err);
/* A descriptor for reading; the caller's. */
int store_open_blob(struct store *store, const struct digest *digest, int *ret_fd,
		    struct husk_error *err);
/* Put a small one in: hashed, must be digest. */
int store_add_blob(struct store *store, const struct digest *digest, const void *data,
		   size_t size, struct husk_error *err);

/* Hash a blob that something could not be made of: true where it was damaged, and is
 * gone now. */
bool store_drop_damaged_blob(struct store *store, const struct digest *digest);

/* Begin a large one; size is the descriptor's. *ret is NULL where the store has it by now
 * (another process may have been at it; this waits for that one and calls waiting(user)
 * every 200 ms or so, which stops it when it returns not 0: HUSK_E_CANCELLED).
 * One thread writes, one may read (oci/blob.h). */
int store_blob_begin(struct store *store, const struct digest *digest, uint64_t size,
		     int (*waiting)(void *user), void *user, struct blob **ret,
		     struct husk_error *err);
/* After blob_finish succeeded: fsync, and give it its name. */
int store_blob_commit(struct blob *blob, struct husk_error *err);
/* Release, committed or not; what was not finished stays in partial/. Accepts NULL. */
struct blob *store_blob_free(struct blob *blob);

/* -- layers -- */

bool store_has_layer(struct store *store, const struct digest *diff_id);
/* Begin to make a layer; waits as store_blob_begin does; *ret_dir is -1 and *ret NULL
 * where it is there by now, else an empty directory in tmp/. */
struct store_making;
int store_layer_begin(struct store *store, const struct digest *diff_id,
		      int (*waiting)(void *user), void *user, struct store_making **ret,
		      int *ret_dir, struct husk_error *err);
/* syncfs, rename. */
int store_making_commit(struct store_making *making, struct husk_error *err);
/* Release; what was not committed is removed. Accepts NULL, returns NULL. */
struct store_making *store_making_free(struct store_making *making);
int store_open_layer(struct store *store, const struct digest *diff_id, int *ret_fd,
		     struct husk_error *err);

/* -- roots -- */

bool store_has_root(struct store *store, const struct digest *chain);
/* As store_layer_begin; *ret_dir is the empty tree. */
int store_root_begin(struct store *store, const struct digest *chain,
		     int (*waiting)(void *user), void *user, struct store_making **ret,
		     int *ret_dir, struct husk_error *err);
/* Instead of filling the tree: the root is that layer's tree, as it is. For a chain of
 * one layer that says nothing but its tree. */
int store_root_is_layer(struct store_making *making, const struct digest *diff_id,
			struct husk_error *err);
/* Hold a root: *ret_tree is the root directory, *ret_lease keeps it from being removed
 * while it is open. Both are the caller's and close-on-exec. */
int store_root_lease(struct store *store, const struct digest *chain, int *ret_tree,
		     int *ret_lease, struct husk_error *err);

/* -- names -- */

struct store_image {
	char *name;		/* heap; normalised reference, or what import was told */
	struct digest top;	/* what the name stands for: an index or a manifest */
	struct digest manifest; /* the manifest for this platform */
	struct digest chain;	/* its root; DIGEST_NONE: no layers */
	char platform[84];
	int64_t added_s;  /* seconds since the epoch */
	uint64_t size;	  /* bytes of its compressed layers */
	char source[128]; /* what an importer noted about the file, or "" */
};

void store_image_deinit(struct store_image *image);
/* HUSK_E_IMAGE where there is none of that name, or its file is damaged. */
int store_find_image(struct store *store, const char *name, struct store_image *ret,
		     struct husk_error *err);
/* Is there a file of that name, damaged or not? */
bool store_has_name(struct store *store, const char *name);
/* By digest or unambiguous prefix of at least 6 hex digits of top or manifest. */
int store_find_digest(struct store *store, const char *prefix, struct store_image *ret,
		      struct husk_error *err);
/* Add or replace a name, atomically. Everything it stands for must be there. */
int store_set_image(struct store *store, const struct store_image *image,
		    struct husk_error *err);
/* All, sorted by name; heap (store_images_free). Returns how many names' files are
 * damaged, with err telling of the first: the others are listed all the same. */
int store_list_images(struct store *store, struct store_image **ret, size_t *ret_count,
		      struct husk_error *err);
void store_images_free(struct store_image *images, size_t count);

/* -- removing --
 *
 * No other thread may be using the same struct store meanwhile. Where a pull or an import
 * has the store: HUSK_E_IN_USE, after some seconds of waiting. A damaged name stops both,
 * since what it needs is not known; but not its own removal. Bytes are those that the
 * disk gets back. */

/* Remove a name, and what no other name needs. HUSK_E_IN_USE where a box has its root. */
int store_remove_image(struct store *store, const char *name, uint64_t *ret_freed,
		       struct husk_error *err);
/* Remove what no name needs: partial blobs, blobs, layers, roots. Roots in use stay, with
 * what they need. */
int store_prune(struct store *store, uint64_t *ret_count, uint64_t *ret_freed,
		struct husk_error *err);

#endif
