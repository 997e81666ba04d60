/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that are being made. NAME in tmp/ is the same for all who want to make the same
 * thing, so that its lock keeps the others waiting. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/store_own.h"
#include "oci/unpack.h"

struct store_making {
	const struct store *store;
	enum store_part part;
	char key[STORE_KEY];	  /* its final name in part */
	char name[STORE_KEY + 8]; /* in tmp/ */
	int lock;
	int dir;  /* what becomes part/key */
	int tree; /* of a root; -1 for a layer */
};

static bool is_there(const struct store *store, enum store_part part, const char *key)
{
	struct stat st;

	return store->part[part] >= 0 &&
	       fstatat(store->part[part], key, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

bool store_has_layer(struct store *store, const struct digest *diff_id)
{
	char key[STORE_KEY];

	store_key(diff_id, key);
	return is_there(store, STORE_LAYERS, key);
}

bool store_has_root(struct store *store, const struct digest *chain)
{
	char key[STORE_KEY];

	store_key(chain, key);
	return is_there(store, STORE_ROOTS, key);
}

/* An empty directory, open: what a dead maker left goes first. */
static int make_dir(struct store_making *making)
{
	int tmp = making->store->part[STORE_TMP];

	if (unlinkat(tmp, making->name, AT_REMOVEDIR) < 0 && errno != ENOENT) {
		int r = tree_remove(tmp, making->name);

		if (r < 0)
			return r;
	}
	if (mkdirat(tmp, making->name, 0755) < 0)
		return -errno;
	making->dir = store_open_dir_at(tmp, making->name);
	if (making->dir >= 0 && fchmod(making->dir, 0755) < 0)
		return -errno;
	return making->dir < 0 ? making->dir : 0;
}

/* Have the lock, or find that the thing is there: then making->lock stays -1. */
static int take_lock(struct store_making *making, int (*waiting)(void *user), void *user,
		     struct husk_error *err)
{
	const struct store *store = making->store;
	char lock[sizeof(making->name) + 8];

	(void)snprintf(lock, sizeof(lock), "%s.lock", making->name);
	for (unsigned turn = 0;; turn++) {
		int fd, r;

		if (is_there(store, making->part, making->key))
			return 0;
		fd = store_try_lock_file(store->part[STORE_TMP], lock);
		if (fd >= 0) {
			making->lock = fd;
			break;
		}
		if (fd != -EWOULDBLOCK)
			return store_error(store, -fd, err, "cannot begin %s",
					   making->name);
		r = store_wait_turn(turn, waiting, user, making->name, err);
		if (r < 0)
			return r;
	}
	/* Who had it before may have finished between the look and the lock. */
	if (is_there(store, making->part, making->key))
		store_temp_drop(store, making->name, &making->lock);
	return 0;
}

static int begin(const struct store *store, enum store_part part, const struct digest *id,
		 int (*waiting)(void *user), void *user, struct store_making **ret,
		 struct husk_error *err)
{
	struct store_making *making;
	int r = store_check_writable(store, err);

	if (r < 0)
		return r;
	making = calloc(1, sizeof(*making));
	if (!making)
		return error_oom(err, store->where);
	making->store = store;
	making->part = part;
	making->lock = making->dir = making->tree = -1;
	store_key(id, making->key);
	(void)snprintf(making->name, sizeof(making->name), "%s-%s",
		       part == STORE_LAYERS ? "layer" : "root", making->key);
	r = take_lock(making, waiting, user, err);
	if (r < 0 || making->lock < 0) {
		(void)store_making_free(making);
		*ret = NULL;
		return r;
	}
	r = make_dir(making);
	if (r < 0) {
		r = store_error(store, -r, err, "cannot make %s", making->name);
		(void)store_making_free(making);
		return r;
	}
	*ret = making;
	return 0;
}

int store_layer_begin(struct store *store, const struct digest *diff_id,
		      int (*waiting)(void *user), void *user, struct store_making **ret,
		      int *ret_dir, struct husk_error *err)
{
	struct store_making *making = NULL;
	int r = begin(store, STORE_LAYERS, diff_id, waiting, user, &making, err);

	if (r < 0)
		return r;
	*ret_dir = making ? making->dir : -1;
	*ret = making;
	return 0;
}

/* A root is a directory with a lease, whose lock is what holds it, and with a tree. */
static int fill_root(const struct store_making *making, int *ret_tree)
{
	CLEANUP_FD int lease =
	    store_open_file_at(making->dir, "lease", O_WRONLY | O_CREAT | O_EXCL);
	int tree;

	if (lease < 0)
		return lease;
	if (fchmod(lease, 0644) < 0 || mkdirat(making->dir, "tree", 0755) < 0)
		return -errno;
	tree = store_open_dir_at(making->dir, "tree");
	if (tree >= 0 && fchmod(tree, 0755) < 0) {
		int r = -errno;

		fd_close(&tree);
		return r;
	}
	*ret_tree = tree;
	return tree < 0 ? tree : 0;
}

int store_root_begin(struct store *store, const struct digest *chain,
		     int (*waiting)(void *user), void *user, struct store_making **ret,
		     int *ret_dir, struct husk_error *err)
{
	struct store_making *making = NULL;
	int tree = -1;
	int r = begin(store, STORE_ROOTS, chain, waiting, user, &making, err);

	if (r < 0)
		return r;
	if (making) {
		r = fill_root(making, &tree);
		if (r < 0) {
			r = store_error(store, -r, err, "cannot make %s", making->name);
			(void)store_making_free(making);
			return r;
		}
		making->tree = tree;
	}
	*ret_dir = tree;
	*ret = making;
	return 0;
}

int store_root_is_layer(struct store_making *making, const struct digest *diff_id,
			struct husk_error *err)
{
	char text[DIGEST_TEXT];
	CLEANUP_FD int fd = -1;
	int r;

	digest_text(diff_id, text);
	if (unlinkat(making->dir, "tree", AT_REMOVEDIR) < 0)
		return store_error(making->store, errno, err, "cannot make %s",
				   making->name);
	fd = store_open_file_at(making->dir, "layer", O_WRONLY | O_CREAT | O_EXCL);
	r = fd < 0 ? fd : fd_write_all(fd, text, strlen(text));
	if (r == 0 && fchmod(fd, 0644) < 0)
		r = -errno;
	return r < 0 ? store_error(making->store, -r, err, "cannot make %s", making->name)
		     : 0;
}

int store_making_commit(struct store_making *making, struct husk_error *err)
{
	const struct store *store = making->store;
	int dir = store->part[making->part];

	/* The whole file system: there is no call for one tree. */
	if (syncfs(making->dir) < 0 ||
	    renameat(store->part[STORE_TMP], making->name, dir, making->key) < 0 ||
	    fsync(dir) < 0)
		return store_error(store, errno, err, "cannot keep %s", making->name);
	return 0;
}

struct store_making *store_making_free(struct store_making *making)
{
	if (!making)
		return NULL;
	fd_close(&making->tree);
	fd_close(&making->dir);
	store_temp_drop(making->store, making->name, &making->lock);
	free(making);
	return NULL;
}
