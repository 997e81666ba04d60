/* SPDX-License-Identifier: Apache-2.0 */
#include "session/walk.h"

#include "base/fd.h"
#include "base/memory.h"
#include "session/beneath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_MAX = 1 << 30, LEVELS_FIRST = 32 };

int walk_init(struct walk *walk, int root, bool repair)
{
	CLEANUP_FD int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	*walk = (struct walk){.names = BUFFER_INIT(NAMES_MAX), .repair = repair};
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	walk->levels = calloc(LEVELS_FIRST, sizeof(*walk->levels));
	if (!walk->levels)
		return -ENOMEM;
	walk->capacity = LEVELS_FIRST;
	walk->levels[0] =
	    (struct walk_level){.dev = st.st_dev, .ino = st.st_ino, .fd = fd_take(&fd)};
	walk->entries = malloc(WALK_READ_SIZE);
	if (!walk->entries || buffer_add(&walk->names, "", 1) < 0) {
		walk_deinit(walk);
		return -ENOMEM;
	}
	return 0;
}

void walk_deinit(struct walk *walk)
{
	for (size_t i = 0; walk->levels && i <= walk->depth; i++)
		fd_close(&walk->levels[i].fd);
	free(walk->levels);
	free(walk->entries);
	buffer_deinit(&walk->names);
	*walk = WALK_INIT;
}

void walk_rewind(struct walk *walk)
{
	(void)lseek(walk_fd(walk), 0, SEEK_SET);
	walk->at = walk->end = 0;
}

int walk_next(struct walk *walk, struct walk_entry *ret)
{
	for (;;) {
		const struct dirent64 *entry;

		if (walk->at >= walk->end) {
			ssize_t n =
			    getdents64(walk_fd(walk), walk->entries, WALK_READ_SIZE);

			if (n < 0 && errno != ENOENT) /* ENOENT: it was removed */
				return -errno;
			if (n <= 0)
				return 0;
			walk->at = 0;
			walk->end = (size_t)n;
		}
		entry = (const struct dirent64 *)(const void *)(walk->entries + walk->at);
		walk->at += entry->d_reclen;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		ret->name = entry->d_name;
		ret->type = entry->d_type;
		return 1;
	}
}

bool walk_error_is_local(int r)
{
	return r != -ENOMEM && r != -EMFILE && r != -ENFILE;
}

/* Open a directory of ours whose mode shuts us out, giving it a mode that does not. It is
 * held by O_PATH first: a link swapped in for it is neither followed nor changed. */
static int open_repaired(int dir, const char *name)
{
	CLEANUP_FD int pin = beneath_open_dir(dir, name, O_PATH);
	char self[64];
	struct stat st;
	int fd;

	if (pin < 0)
		return pin;
	if (fstat(pin, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid())
		return -EACCES;
	/* fchmod refuses O_PATH; through /proc the inode is reached all the same. */
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", pin);
	if (fchmodat(AT_FDCWD, self, 0700, 0) < 0)
		return -errno;
	fd = openat(pin, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

static int open_child(const struct walk *walk, int dir, const char *name, struct stat *st)
{
	CLEANUP_FD int fd = beneath_open_dir(dir, name, O_RDONLY);

	if (fd == -EACCES && walk->repair)
		fd = open_repaired(dir, name);
	if (fd < 0)
		return fd;
	if (fstat(fd, st) < 0)
		return -errno;
	if (walk->repair && (st->st_mode & 0700) != 0700 && st->st_uid == geteuid())
		(void)fchmod(fd,
			     0700); /* where it fails, so will the removal, and say so */
	return fd_take(&fd);
}

static int reserve_level(struct walk *walk)
{
	struct walk_level *levels;

	if (walk->depth + 1 < walk->capacity)
		return 0;
	levels = reallocarray(walk->levels, walk->capacity * 2, sizeof(*levels));
	if (!levels)
		return -ENOMEM;
	walk->levels = levels;
	walk->capacity *= 2;
	return 0;
}

int walk_enter(struct walk *walk, const char *name, struct stat *ret_st)
{
	CLEANUP_FD int fd = open_child(walk, walk_fd(walk), name, ret_st);
	size_t at = walk->names.size;

	if (fd < 0)
		return fd;
	if (reserve_level(walk) < 0 ||
	    buffer_add(&walk->names, name, strlen(name) + 1) < 0)
		return -ENOMEM;
	walk->depth++;
	walk->levels[walk->depth] = (struct walk_level){
	    .dev = ret_st->st_dev, .ino = ret_st->st_ino, .name = at, .fd = fd_take(&fd)};
	if (walk->depth > WALK_OPEN_MAX) /* the root stays open */
		fd_close(&walk->levels[walk->depth - WALK_OPEN_MAX].fd);
	walk->at = walk->end = 0;
	return 0;
}

/* Forget the innermost level. */
static void drop(struct walk *walk)
{
	struct walk_level *level = &walk->levels[walk->depth];

	fd_close(&level->fd);
	walk->names.size = level->name;
	walk->depth--;
	walk->at = walk->end = 0;
}

static bool is_level(const struct walk_level *level, const struct stat *st)
{
	return st->st_dev == level->dev && st->st_ino == level->ino;
}

/* Open the parent by "..", if it still is the one that was come from. */
static int open_above(int child, const struct walk_level *parent)
{
	CLEANUP_FD int fd =
	    openat(child, "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return is_level(parent, &st) ? fd_take(&fd) : -ESTALE;
}

/* Find the way from the root to levels[depth] again. Returns how many levels could not be
 * reached; they are dropped, and the walk stands in the last one that could. */
static int find_again(struct walk *walk)
{
	size_t wanted = walk->depth, reached = 0;
	CLEANUP_FD int fd = -1;
	int r = 0;

	while (reached < wanted) {
		const struct walk_level *next = &walk->levels[reached + 1];
		int from = reached ? fd : walk->levels[0].fd;
		struct stat st;

		r = open_child(walk, from, walk->names.data + next->name, &st);
		if (r < 0)
			break;
		if (!is_level(next, &st)) {
			fd_close(&r);
			break;
		}
		fd_close(&fd);
		fd = r;
		reached++;
	}
	if (r < 0 && !walk_error_is_local(r))
		return r;
	while (walk->depth > reached)
		drop(walk);
	if (reached > 0) {
		fd_close(&walk->levels[reached].fd);
		walk->levels[reached].fd = fd_take(&fd);
	}
	return (int)(wanted - reached);
}

int walk_leave(struct walk *walk)
{
	struct walk_level *parent = &walk->levels[walk->depth - 1];

	if (parent->fd < 0) {
		int fd = open_above(walk_fd(walk), parent);

		if (fd < 0 && !walk_error_is_local(fd))
			return fd;
		parent->fd = fd < 0 ? -1 : fd;
	}
	drop(walk);
	return parent->fd >= 0 ? 0 : find_again(walk);
}
