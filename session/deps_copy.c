/* SPDX-License-Identifier: Apache-2.0 */
/* Copying a tree of packages: blocks are shared where the file system can, and else
 * copied inside the kernel. */
#include "session/deps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "session/beneath.h"
#include "session/tree.h"

enum {
	MODE_BITS = 0777, /* never set-id */
	PIECE = 1 << 20,
	COPY_SIZE = 1 << 30,
};

struct copier {
	int to[TREE_DEPTH_MAX +
	       2]; /* the directories on the way down; [0] stays the caller's */
	unsigned depth;
};

static int copy_by_reading(int from, int to, off_t at, off_t end)
{
	char *piece = malloc(PIECE);
	int r = piece ? 0 : -ENOMEM;

	if (r == 0 && (lseek(from, at, SEEK_SET) < 0 || lseek(to, at, SEEK_SET) < 0))
		r = -errno;
	while (r == 0 && at < end) {
		size_t want = end - at < PIECE ? (size_t)(end - at) : PIECE;
		ssize_t n = fd_read_full(from, piece, want);

		if (n == 0)
			break;
		r = n < 0 ? (int)n : fd_write_all(to, piece, (size_t)n);
		at += n;
	}
	free(piece);
	return r;
}

/* Some file systems, and some pairs of them, know no copying: that shows at the first
 * call, before anything was written. */
static int copy_part(int from, int to, off_t at, off_t end)
{
	const off_t first = at;

	while (at < end) {
		off_t in = at, out = at;
		size_t want = end - at < COPY_SIZE ? (size_t)(end - at) : COPY_SIZE;
		ssize_t n = copy_file_range(from, &in, to, &out, want, 0);

		if (n <= 0 && at == first)
			return copy_by_reading(from, to, at, end);
		if (n <= 0)
			return n < 0 ? -errno : 0;
		at += n;
	}
	return 0;
}

/* Holes stay holes: a command may have made a file far larger than the disk. */
static int copy_content(int from, int to)
{
	struct stat st;
	off_t at = 0;
	int r = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	if (fstat(from, &st) < 0)
		return -errno;
	r = fd_may_write((uint64_t)st.st_size);
	while (r == 0 && at < st.st_size) {
		off_t data = lseek(from, at, SEEK_DATA), end;

		if (data < 0 && errno == ENXIO)
			break; /* a hole up to the end */
		if (data < 0)
			data = at; /* the file system does not say */
		end = lseek(from, data, SEEK_HOLE);
		if (end < 0)
			end = st.st_size;
		r = copy_part(from, to, data, end);
		at = end;
	}
	if (r == 0 && ftruncate(to, st.st_size) < 0)
		r = -errno;
	return r;
}

/* Whatever has the name goes; a directory only where it is empty. */
static int make_room(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR)
		return -errno;
	return unlinkat(dir, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
}

static int copy_file(const struct tree_entry *entry, int to)
{
	const struct timespec times[2] = {entry->st->st_atim, entry->st->st_mtim};
	CLEANUP_FD int in =
	    beneath_open(entry->dir, entry->name, O_RDONLY | O_NONBLOCK, 0);
	CLEANUP_FD int out = -1;
	int r = in < 0 ? in : make_room(to, entry->name);

	if (r < 0)
		return r;
	out = openat(to, entry->name,
		     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	r = copy_content(in, out);
	if (r == 0)
		r = beneath_give(
		    to, out); /* before the mode, which a change of owner may cut */
	if (r == 0 &&
	    (fchmod(out, entry->st->st_mode & MODE_BITS) < 0 || futimens(out, times) < 0))
		r = -errno;
	return r;
}

static int copy_link(const struct tree_entry *entry, int to)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(entry->dir, entry->name, target, sizeof(target) - 1);
	int r;

	if (n < 0)
		return -errno;
	target[n] = '\0';
	r = make_room(to, entry->name);
	if (r == 0 && symlinkat(target, to, entry->name) < 0)
		r = -errno;
	if (r == 0) {
		CLEANUP_FD int made = beneath_open(to, entry->name, O_PATH, 0);

		r = made < 0 ? made : beneath_give(to, made);
	}
	return r;
}

static int enter(struct copier *copier, const struct tree_entry *entry)
{
	int to = copier->to[copier->depth], fd;

	if (mkdirat(to, entry->name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = beneath_open_dir(to, entry->name, O_RDONLY);
	if (fd == -ELOOP || fd == -ENOTDIR) { /* something else has the name */
		if (unlinkat(to, entry->name, 0) < 0 ||
		    mkdirat(to, entry->name, 0755) < 0)
			return -errno;
		fd = beneath_open_dir(to, entry->name, O_RDONLY);
	}
	if (fd < 0)
		return fd;
	copier->to[++copier->depth] = fd;
	return beneath_give(to, fd);
}

static int copy_entry(void *user, enum tree_step step, const struct tree_entry *entry)
{
	struct copier *copier = user;
	int to = copier->to[copier->depth];

	switch (step) {
	case TREE_ENTER:
		return enter(copier, entry);
	case TREE_LEAVE:
		(void)fchmod(to, (entry->st->st_mode & MODE_BITS) | S_IRWXU);
		fd_close(&copier->to[copier->depth--]);
		return 0;
	case TREE_FILE:
		return copy_file(entry, to);
	case TREE_LINK:
		return copy_link(entry, to);
	default:
		return 0;
	}
}

int deps_copy(int from, int to)
{
	struct copier copier = {.to = {to}};
	int r = tree_each(from, NULL, copy_entry, &copier);

	while (copier.depth > 0)
		fd_close(&copier.to[copier.depth--]);
	return r;
}
