/* SPDX-License-Identifier: Apache-2.0 */
#include "session/beneath.h"

#include "base/fd.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* openat(2) calls a link that should be a directory ENOTDIR, openat2(2) calls it ELOOP.
 */
static int open_errno(int dir, const char *name)
{
	int saved = errno;
	struct stat st;

	if (saved == ENOTDIR && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		return -ELOOP;
	return -saved;
}

static int open_one(int dir, const char *name, int flags, mode_t mode)
{
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd >= 0 ? fd : open_errno(dir, name);
}

/* Copy the component at path into name; returns what follows it (at a slash or the end),
 * NULL where it is too long. */
static const char *component(const char *path, char name[NAME_MAX + 1])
{
	size_t size = strcspn(path, "/");

	if (size > NAME_MAX)
		return NULL;
	memcpy(name, path, size);
	name[size] = '\0';
	return path + size;
}

static int open_by_component(int dir, const char *path, int flags, mode_t mode)
{
	CLEANUP_FD int held = -1;
	char name[NAME_MAX + 1];

	for (;;) {
		const char *rest = component(path, name);
		int from = held >= 0 ? held : dir;
		int fd;

		if (!rest)
			return -ENAMETOOLONG;
		if (*rest == '\0')
			return open_one(from, name, flags, mode);
		fd = open_one(from, name, O_PATH | O_DIRECTORY, 0);
		if (fd < 0)
			return fd;
		fd_close(&held);
		held = fd;
		path = rest + 1;
	}
}

/* -EPERM is what some container filters answer to system calls that they do not know. The
 * slower way gives the true answer then. */
static bool openat2_missing(int r)
{
	return r == -ENOSYS || r == -EPERM;
}

/* RESOLVE_NO_SYMLINKS is enough, and gives ELOOP; with O_NOFOLLOW as well, a link at the
 * end would be ENOTDIR for O_DIRECTORY. It is what opens the link itself for O_PATH,
 * though. */
static int open_with_openat2(int dir, const char *path, int flags, mode_t mode,
			     uint64_t resolve)
{
	if ((flags & O_PATH) && !(flags & O_DIRECTORY))
		flags |= O_NOFOLLOW;
	return fd_open_beneath(dir, path, (uint64_t)flags, mode,
			       resolve | RESOLVE_NO_SYMLINKS);
}

int beneath_open(int dir, const char *path, int flags, mode_t mode)
{
	int fd;

	if (*path == '\0')
		return open_one(dir, ".", flags, mode);
	fd = open_with_openat2(dir, path, flags, mode, 0);
	return openat2_missing(fd) ? open_by_component(dir, path, flags, mode) : fd;
}

/* Whether two descriptors lie on one mount; by file system where the kernel tells no
 * more. */
static bool same_mount(int a, int b)
{
	struct statx x, y;

	if (statx(a, "", AT_EMPTY_PATH, STATX_MNT_ID, &x) < 0 ||
	    statx(b, "", AT_EMPTY_PATH, STATX_MNT_ID, &y) < 0)
		return false;
	if (x.stx_mask & y.stx_mask & STATX_MNT_ID)
		return x.stx_mnt_id == y.stx_mnt_id;
	return x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor;
}

int beneath_open_dir(int dir, const char *name, int flags)
{
	int fd;

	flags |= O_DIRECTORY;
	fd = open_with_openat2(dir, name, flags, 0, RESOLVE_NO_XDEV);
	if (!openat2_missing(fd))
		return fd;
	fd = open_one(dir, name, flags, 0);
	if (fd >= 0 && !same_mount(dir, fd)) {
		fd_close(&fd);
		return -EXDEV;
	}
	return fd;
}

int beneath_give(int dir, int fd)
{
	struct stat above, st;

	if (geteuid() != 0)
		return 0;
	if (fstat(dir, &above) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != 0 || above.st_uid == 0)
		return 0;
	return fchownat(fd, "", above.st_uid, above.st_gid, AT_EMPTY_PATH) < 0 ? -errno
									       : 0;
}

/* Open one component as a directory, making it if it is not there. */
static int open_or_make(int dir, const char *name, size_t *made)
{
	int fd = open_one(dir, name, O_PATH | O_DIRECTORY, 0), r;

	if (fd != -ENOENT)
		return fd;
	if (mkdirat(dir, name, 0755) == 0)
		(*made)++;
	else if (errno != EEXIST)
		return -errno;
	fd = open_one(dir, name, O_PATH | O_DIRECTORY, 0);
	r = fd < 0 ? 0 : beneath_give(dir, fd);
	if (r < 0) {
		fd_close(&fd);
		return r;
	}
	return fd;
}

static int make_parents(int dir, const char *path, size_t *made)
{
	CLEANUP_FD int held = -1;
	char name[NAME_MAX + 1];

	for (;;) {
		const char *rest = component(path, name);
		int fd;

		if (!rest)
			return -ENAMETOOLONG;
		if (*rest == '\0')
			return fd_take(&held);
		fd = open_or_make(held >= 0 ? held : dir, name, made);
		if (fd < 0)
			return fd;
		fd_close(&held);
		held = fd;
		path = rest + 1;
	}
}

int beneath_open_parent(int dir, const char *path, size_t *ret_made)
{
	const char *last = strrchr(path, '/');
	CLEANUP_FREE char *parent = strndup(path, last ? (size_t)(last - path) : 0);
	size_t made = 0;
	int fd;

	if (!parent)
		return -ENOMEM;
	fd = beneath_open(dir, parent, O_PATH | O_DIRECTORY, 0);
	if (fd == -ENOENT) {
		fd = make_parents(dir, path, &made);
		if (fd < 0)
			beneath_unmake(dir, path, made);
	}
	if (fd >= 0)
		*ret_made = made;
	return fd;
}

void beneath_unmake(int dir, const char *path, size_t made)
{
	CLEANUP_FREE char *left = strdup(path);
	char *name;

	/* Below the deepest one that was made there may be parts that never came to be:
	 * they are not there to be removed, and do not count. */
	while (left && made > 0 && (name = strrchr(left, '/')) != NULL) {
		CLEANUP_FD int parent = -1;
		int r;

		*name = '\0';
		name = strrchr(left, '/');
		if (name)
			*name = '\0';
		parent = beneath_open(dir, name ? left : "", O_PATH | O_DIRECTORY, 0);
		r = parent < 0 ? -1
			       : unlinkat(parent, name ? name + 1 : left, AT_REMOVEDIR);
		if (name)
			*name = '/';
		if (r == 0)
			made--;
		else if (parent >= 0 && errno != ENOENT)
			return;
	}
}
