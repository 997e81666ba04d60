/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree removed without recursion and without paths. The walk is a stack of directories,
 * of which the lowest are open. Where it goes deeper, the upper ones are closed, and
 * found again by ".." on the way back: what ".." leads to must be the directory that was
 * left. As what is gone is not read again, a directory that was closed can be read anew.
 */
#include "oci/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fd.h"

enum { OPEN_MAX_LEVELS = 16, STACK_MAX = 256 << 20 };

struct level {
	dev_t device;
	ino_t inode;
	DIR *stream;   /* NULL: closed for now */
	size_t name;   /* in its parent: where in remover.names */
	bool progress; /* something was removed since it was opened */
};

struct remover {
	int dir; /* where the tree is */
	struct buffer levels, names;
	size_t depth, first_open;
};

static struct level *level_at(const struct remover *r, size_t number)
{
	return (struct level *)(void *)r->levels.data + number;
}

static void close_level(struct level *level)
{
	if (level->stream)
		(void)closedir(level->stream);
	level->stream = NULL;
}

/* The directory in which the level's name is; it is open. */
static int parent_fd(const struct remover *r, size_t number)
{
	return number ? dirfd(level_at(r, number - 1)->stream) : r->dir;
}

static int open_once(int dir, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
	int fd = fd_open_beneath(dir, name, (uint64_t)flags, 0,
				 RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);

	if (fd != -ENOSYS)
		return fd;
	fd = openat(dir, name, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A directory that may not be read is made so: it is about to go. */
static int open_directory(int dir, const char *name)
{
	struct stat st;
	int fd = open_once(dir, name);

	if (fd != -EACCES)
		return fd;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
	    fchmodat(dir, name, 0700, 0) < 0)
		return -EACCES;
	return open_once(dir, name);
}

/* Where openat2 is missing this is what keeps the walk on one file system. */
static int check_device(const struct remover *r, const struct stat *st)
{
	struct stat above;

	if (fstatat(parent_fd(r, r->depth), "", &above, AT_EMPTY_PATH) < 0)
		return -errno;
	return above.st_dev == st->st_dev ? 0 : -EXDEV;
}

static int push(struct remover *r, const char *name, int fd, const struct stat *st)
{
	struct level level = {.device = st->st_dev, .inode = st->st_ino};
	int rc;

	level.name = r->names.size;
	rc = buffer_add(&r->names, name, strlen(name) + 1);
	if (rc == 0)
		rc = buffer_add(&r->levels, &level, sizeof(level));
	if (rc < 0)
		return rc;
	level_at(r, r->depth)->stream = fdopendir(fd);
	if (!level_at(r, r->depth)->stream) {
		rc = -errno;
		r->levels.size -= sizeof(level);
		return rc;
	}
	r->depth++;
	if (r->depth - r->first_open > OPEN_MAX_LEVELS)
		close_level(level_at(r, r->first_open++));
	return 0;
}

static int enter(struct remover *r, const char *name)
{
	CLEANUP_FD int fd = open_directory(parent_fd(r, r->depth), name);
	struct stat st;
	int rc;

	/* Few descriptors: do with fewer levels. */
	while (fd == -EMFILE && r->depth - r->first_open > 1) {
		close_level(level_at(r, r->first_open++));
		fd = open_directory(parent_fd(r, r->depth), name);
	}
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	rc = check_device(r, &st);
	if (rc < 0)
		return rc;
	if ((st.st_mode & 0700) != 0700)
		(void)fchmod(fd, 0700);
	rc = push(r, name, fd, &st);
	if (rc == 0)
		(void)fd_take(&fd);
	return rc;
}

/* Open the level above the lowest again. */
static int reopen_above(struct remover *r)
{
	struct level *above = level_at(r, r->depth - 2);
	CLEANUP_FD int fd = -1;
	struct stat st;

	if (above->stream)
		return 0;
	fd = openat(dirfd(level_at(r, r->depth - 1)->stream), "..",
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	/* Somebody moved it while we were below. */
	if (st.st_dev != above->device || st.st_ino != above->inode)
		return -ESTALE;
	above->stream = fdopendir(fd);
	if (!above->stream)
		return -errno;
	(void)fd_take(&fd);
	above->progress = false;
	r->first_open = r->depth - 2;
	return 0;
}

/* The lowest level has been read to its end: remove it. */
static int leave(struct remover *r)
{
	struct level *level = level_at(r, r->depth - 1);
	char name[NAME_MAX + 1];
	bool progress = level->progress;
	int rc = r->depth > 1 ? reopen_above(r) : 0;

	if (rc < 0)
		return rc;
	(void)snprintf(name, sizeof(name), "%s", r->names.data + level->name);
	close_level(level);
	r->depth--;
	r->levels.size -= sizeof(*level);
	r->names.size = level->name;
	if (r->first_open > r->depth)
		r->first_open = r->depth;
	if (unlinkat(parent_fd(r, r->depth), name, AT_REMOVEDIR) == 0 ||
	    errno == ENOENT) {
		if (r->depth)
			level_at(r, r->depth - 1)->progress = true;
		return 0;
	}
	/* Reading a directory while it shrinks may miss some. */
	if ((errno == ENOTEMPTY || errno == EEXIST) && progress)
		return enter(r, name);
	return -errno;
}

static int remove_entry(struct remover *r, const struct dirent *entry)
{
	struct level *level = level_at(r, r->depth - 1);

	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return 0;
	if (entry->d_type == DT_DIR)
		return enter(r, entry->d_name);
	if (unlinkat(dirfd(level->stream), entry->d_name, 0) == 0 || errno == ENOENT) {
		level->progress = true;
		return 0;
	}
	return errno == EISDIR ? enter(r, entry->d_name) : -errno;
}

static int walk(struct remover *r)
{
	int rc = 0;

	while (rc == 0 && r->depth > 0) {
		const struct dirent *entry;

		errno = 0;
		entry = readdir(level_at(r, r->depth - 1)->stream);
		if (entry)
			rc = remove_entry(r, entry);
		else
			rc = errno ? -errno : leave(r);
	}
	return rc;
}

int tree_remove(int dir, const char *name)
{
	struct remover r = {.dir = dir,
			    .levels = BUFFER_INIT(STACK_MAX),
			    .names = BUFFER_INIT(STACK_MAX)};
	int rc;

	if (unlinkat(dir, name, 0) == 0)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	rc = enter(&r, name);
	if (rc == 0)
		rc = walk(&r);
	while (r.depth > 0)
		close_level(level_at(&r, --r.depth));
	buffer_deinit(&r.levels);
	buffer_deinit(&r.names);
	return rc;
}
