/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"

enum { PIECE = 1 << 20, LIST = 64 * 1024 };

/* By reading and writing: the last resort. */
static int copy_by_hand(int from, int to)
{
	CLEANUP_FREE char *piece = malloc(PIECE);
	ssize_t n;

	if (!piece)
		return -ENOMEM;
	if (lseek(from, 0, SEEK_SET) < 0 || lseek(to, 0, SEEK_SET) < 0)
		return -errno;
	while ((n = fd_read_full(from, piece, PIECE)) > 0) {
		int rc = fd_write_all(to, piece, (size_t)n);

		if (rc < 0)
			return rc;
	}
	return (int)n;
}

static int copy_content(int from, int to, off_t size)
{
	int rc = fd_may_write((size_t)size);

	if (rc < 0)
		return rc;
	if (size == 0 || ioctl(to, FICLONE, from) == 0)
		return 0;
	while (size > 0) {
		ssize_t n = copy_file_range(from, NULL, to, NULL, (size_t)size, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
			return -errno;
		if (n <= 0)
			return copy_by_hand(from, to);
		size -= n;
	}
	return 0;
}

static void copy_attributes(int from, int to)
{
	CLEANUP_FREE char *names = malloc(LIST);
	CLEANUP_FREE char *value = malloc(LIST);
	ssize_t size = names && value ? flistxattr(from, names, LIST) : 0;

	for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1) {
		ssize_t n;

		if (strncmp(names + at, "user.", 5) != 0)
			continue;
		n = fgetxattr(from, names + at, value, LIST);
		if (n >= 0)
			(void)fsetxattr(to, names + at, value, (size_t)n, 0);
	}
}

/* A file that its owner may not read: opened by way of its descriptor once it was made
 * readable is no choice, the source must not change. As root it opens anyway. */
static int copy_file(int from_dir, const char *from_name, int to_dir, const char *to_name,
		     const struct stat *st)
{
	const struct timespec times[2] = {st->st_mtim, st->st_mtim};
	CLEANUP_FD int from =
	    openat(from_dir, from_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	CLEANUP_FD int to = -1;
	int rc;

	if (from < 0)
		return -errno;
	to = openat(to_dir, to_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (to < 0)
		return -errno;
	rc = copy_content(from, to, st->st_size);
	copy_attributes(from, to);
	if (rc == 0 && (fchmod(to, st->st_mode & 01777) < 0 || futimens(to, times) < 0))
		rc = -errno;
	if (rc < 0)
		(void)unlinkat(to_dir, to_name, 0);
	return rc;
}

static int copy_link(int from_dir, const char *from_name, int to_dir, const char *to_name)
{
	char target[PATH_MAX];
	ssize_t size = readlinkat(from_dir, from_name, target, sizeof(target) - 1);

	if (size < 0)
		return -errno;
	target[size] = '\0';
	return symlinkat(target, to_dir, to_name) < 0 ? -errno : 0;
}

int copy_entry(int from, const char *from_name, int to, const char *to_name)
{
	struct timespec times[2];
	struct stat st;
	int rc = 0;

	if (fstatat(from, from_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return copy_file(from, from_name, to, to_name, &st);
	if (S_ISLNK(st.st_mode))
		rc = copy_link(from, from_name, to, to_name);
	else if (S_ISFIFO(st.st_mode))
		rc = mkfifoat(to, to_name, st.st_mode & 0777) < 0 ? -errno : 0;
	else
		rc = -EINVAL;
	times[0] = times[1] = st.st_mtim;
	if (rc == 0 && utimensat(to, to_name, times, AT_SYMLINK_NOFOLLOW) < 0)
		rc = -errno;
	return rc;
}
