/* SPDX-License-Identifier: Apache-2.0 */
/* Roots and layers, for those who use them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/store_own.h"

int store_open_layer(struct store *store, const struct digest *diff_id, int *ret_fd,
		     struct husk_error *err)
{
	char key[STORE_KEY];
	int fd, r;

	store_key(diff_id, key);
	fd = store_open_dir_at(store->part[STORE_LAYERS], key);
	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	if (fd != -ENOENT)
		return store_error(store, -fd, err, "cannot open layer %s", key);
	r = error_set(err, HUSK_E_IMAGE, store->where, "it does not have layer %s", key);
	error_hint(err, "pull or import the image again");
	return r;
}

int store_root_layer(int root, struct digest *ret)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(0);
	int r = store_read_file_at(root, "layer", DIGEST_TEXT, &text);

	return r < 0 ? r : digest_parse(text.data, ret);
}

/* The tree may be closed to this user, who may use it as a root all the same: it is only
 * opened as a place. */
static int open_tree_at(int dir)
{
	int fd = openat(dir, "tree", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_root_tree(const struct store *store, int root)
{
	CLEANUP_FD int layer = -1;
	char key[STORE_KEY];
	struct digest diff_id;
	int r = store_root_layer(root, &diff_id);

	if (r == -ENOENT)
		return open_tree_at(root);
	if (r < 0)
		return r;
	store_key(&diff_id, key);
	layer = store_open_dir_at(store->part[STORE_LAYERS], key);
	return layer < 0 ? layer : open_tree_at(layer);
}

/* Who removes a root has its lease exclusively, and then it is as good as gone. */
static int take_lease(int roots, const char *key, int root, int *ret_lease)
{
	CLEANUP_FD int lease = store_open_file_at(root, "lease", O_RDONLY);

	if (lease < 0)
		return lease;
	if (flock(lease, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -ENOENT : -errno;
	if (!store_is_here(roots, key, root))
		return -ENOENT;
	*ret_lease = fd_take(&lease);
	return 0;
}

int store_root_lease(struct store *store, const struct digest *chain, int *ret_tree,
		     int *ret_lease, struct husk_error *err)
{
	CLEANUP_FD int root = -1, tree = -1, lease = -1;
	char key[STORE_KEY];
	int r;

	store_key(chain, key);
	root = store_open_dir_at(store->part[STORE_ROOTS], key);
	r = root < 0 ? root : take_lease(store->part[STORE_ROOTS], key, root, &lease);
	if (r == 0)
		r = tree = open_root_tree(store, root);
	if (r == -ENOENT || r == -EBADF) {
		r = error_set(err, HUSK_E_IMAGE, store->where, "it does not have root %s",
			      key);
		error_hint(err, "pull or import the image again");
		return r;
	}
	if (r < 0)
		return store_error(store, -r, err, "cannot open root %s", key);
	*ret_tree = fd_take(&tree);
	*ret_lease = fd_take(&lease);
	return 0;
}
