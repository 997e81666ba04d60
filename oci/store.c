/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "base/printable.h"
#include "oci/store_own.h"

int store_error(const struct store *store, int sys_errno, struct husk_error *err,
		const char *fmt, ...)
{
	char what[256];
	va_list ap;
	int r;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	r = error_sys(err, sys_errno, store->where, "%s", what);
	if (sys_errno == ENOSPC || sys_errno == EDQUOT)
		error_hint(err, "make room on its file system, for instance with husk "
				"image prune");
	else if (sys_errno == EACCES || sys_errno == EPERM || sys_errno == EROFS)
		error_hint(err, "name a store that this user may write to");
	else if (sys_errno == EFBIG)
		error_hint(err, "raise the limit on the size of files (ulimit -f)");
	return r;
}

int store_check_writable(const struct store *store, struct husk_error *err)
{
	if (store->mode == STORE_WRITE)
		return 0;
	return error_set(err, HUSK_E_INVALID, store->where,
			 "the store is open for reading only");
}

void store_key(const struct digest *digest, char key[STORE_KEY])
{
	if (digest->algorithm == DIGEST_NONE)
		(void)snprintf(key, STORE_KEY, "none");
	else
		(void)snprintf(key, STORE_KEY, "%s-%s",
			       digest_algorithm_name(digest->algorithm), digest->hex);
}

int store_key_parse(const char *key, struct digest *ret)
{
	char text[DIGEST_TEXT];
	char *dash;

	if (strlen(key) >= sizeof(text))
		return -EINVAL;
	(void)snprintf(text, sizeof(text), "%s", key);
	dash = strchr(text, '-');
	if (!dash)
		return -EINVAL;
	*dash = ':';
	return digest_parse(text, ret);
}

enum store_part store_blob_part(const struct digest *digest)
{
	return digest->algorithm == DIGEST_SHA512 ? STORE_SHA512 : STORE_SHA256;
}

/* -- the directory -- */

/* Make and open the directories above the store, as mkdir -p does: links among them are
 * the owner's own. */
static int make_parents(char *path)
{
	CLEANUP_FD int at = openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *rest = NULL;

	for (char *name = strtok_r(path, "/", &rest); at >= 0 && name;
	     name = strtok_r(NULL, "/", &rest)) {
		int next;

		if (mkdirat(at, name, 0755) < 0 && errno != EEXIST && errno != EROFS &&
		    errno != EACCES)
			return -errno;
		next = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		fd_close(&at);
		at = next;
	}
	return at < 0 ? -errno : fd_take(&at);
}

static int open_parent(char *parent, bool make)
{
	int fd =
	    openat(AT_FDCWD, *parent ? parent : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == ENOENT && make ? make_parents(parent) : -errno;
}

/* The store's directory itself is no link: who may change the link could put another
 * store in its place. */
static int refuse_place(const struct store *store, int r, struct husk_error *err)
{
	if (r == -ENOENT && store->mode == STORE_READ) {
		r = error_set(err, HUSK_E_IMAGE, store->where, "there is no image store");
		error_hint(err, "pull or import an image first");
		return r;
	}
	if (r != -ELOOP && r != -ENOTDIR)
		return store_error(store, -r, err, "cannot open the image store");
	r = error_set(err, HUSK_E_INVALID, store->where,
		      r == -ELOOP ? "the image store is a link"
				  : "the image store is not a directory");
	error_hint(err, "name the directory itself");
	return r;
}

static int open_top(struct store *store, struct husk_error *err)
{
	const bool make = store->mode == STORE_WRITE;
	CLEANUP_FREE char *parent = strdup(store->path);
	CLEANUP_FD int dir = -1;
	char *last;
	int fd;

	if (!parent)
		return error_oom(err, store->where);
	last = strrchr(parent, '/');
	*last++ = '\0';
	dir = open_parent(parent, make);
	if (dir < 0)
		return refuse_place(store, dir, err);
	if (make && mkdirat(dir, last, 0700) == 0) {
		fd = store_open_dir_at(dir, last);
		/* Root's is for everybody to read; whatever the umask is. */
		if (fd >= 0)
			(void)fchmod(fd, geteuid() == 0 ? 0755 : 0700);
	} else {
		fd = store_open_dir_at(dir, last);
	}
	if (fd < 0)
		return refuse_place(store, fd, err);
	store->part[STORE_TOP] = fd;
	return 0;
}

/* An absolute path of a directory that has a name. */
static int take_path(struct store *store, const char *path, struct husk_error *err)
{
	char shown[120];
	const char *last;
	size_t size = path ? strlen(path) : 0;

	(void)printable(shown, sizeof(shown), path ? path : "");
	while (size > 1 && path[size - 1] == '/')
		size--;
	if (size < 2 || path[0] != '/' || size >= PATH_MAX)
		return error_set(err, HUSK_E_INVALID, "image store",
				 "its path must be an absolute one: \"%s\"", shown);
	store->path = strndup(path, size);
	store->where = strdup(shown);
	if (!store->path || !store->where)
		return error_oom(err, "image store");
	last = strrchr(store->path, '/') + 1;
	if (strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
		return error_set(err, HUSK_E_INVALID, "image store",
				 "its path must end in a name: \"%s\"", shown);
	return 0;
}

int store_open(const char *path, enum store_mode mode, struct store **ret,
	       struct husk_error *err)
{
	struct store *store = calloc(1, sizeof(*store));
	int r;

	if (!store)
		return error_oom(err, "image store");
	store->mode = mode;
	store->lock = -1;
	for (int i = 0; i < STORE_PARTS; i++)
		store->part[i] = -1;
	r = take_path(store, path, err);
	if (r == 0)
		r = open_top(store, err);
	if (r == 0)
		r = store_open_parts(store, mode == STORE_WRITE, err);
	if (r < 0) {
		(void)store_close(store);
		return r;
	}
	if (mode == STORE_WRITE)
		store->swept = store_sweep(store);
	*ret = store;
	return 0;
}

struct store *store_close(struct store *store)
{
	if (!store)
		return NULL;
	for (int i = 0; i < STORE_PARTS; i++)
		fd_close(&store->part[i]);
	fd_close(&store->lock);
	free(store->path);
	free(store->where);
	free(store);
	return NULL;
}

unsigned store_swept(const struct store *store)
{
	return store->swept;
}

const char *store_path(const struct store *store)
{
	return store->path;
}
