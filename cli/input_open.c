/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a file that the caller names. Below a place that boxes can write to, a box may
 * have put a link in its place or on the way: the caller would read a file of the host
 * for it, and hand the content to the next box. So the path is walked here, name by name:
 * links are followed as the kernel would, until a place is entered. From there on none
 * is.
 */
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	DIRECTORY = O_PATH | O_DIRECTORY,
	FILE_FLAGS = O_RDONLY | O_NOCTTY,
	DEPTH_MAX = 4096,
	LINKS_MAX = 40 /* the kernel's own bound */
};

struct walk {
	const char *const *places;
	char rest[2 * PATH_MAX]; /* what is still to be walked */
	int dir, links;
	bool inside, deep; /* in a place; and has been below its top */
	bool look;	   /* what the path names is not opened */
};

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_place(const struct walk *walk, const struct stat *st)
{
	for (size_t i = 0; walk->places && walk->places[i]; i++) {
		struct stat place;

		if (stat(walk->places[i], &place) == 0 && is_same(st, &place))
			return true;
	}
	return false;
}

/* Is the directory a place, or below one? dir is closed. */
static bool is_below(const struct walk *walk, int dir)
{
	struct stat here, above;
	bool inside = false, top = dir < 0 || fstat(dir, &here) < 0;

	for (int depth = 0; !top && !inside && depth < DEPTH_MAX; depth++) {
		int next;

		inside = is_place(walk, &here);
		next = inside ? -1 : openat(dir, "..", DIRECTORY | O_CLOEXEC);
		top = next < 0 || fstat(next, &above) < 0 || is_same(&here, &above);
		here = above;
		(void)close(dir);
		dir = next;
	}
	if (dir >= 0)
		(void)close(dir);
	return inside;
}

/* Go on from there. */
static void enter(struct walk *walk, int dir)
{
	if (walk->dir >= 0)
		(void)close(walk->dir);
	walk->dir = dir;
}

/* The same, from a directory that was not come to by its name from one outside. */
static void enter_anywhere(struct walk *walk, int dir)
{
	struct stat st;

	enter(walk, dir);
	walk->inside = is_below(walk, openat(dir, ".", DIRECTORY | O_CLOEXEC));
	walk->deep = walk->inside && (fstat(dir, &st) < 0 || !is_place(walk, &st));
}

/* Begin at / or where the command was started, on the way to path. */
static int begin(struct walk *walk, const char *path)
{
	int dir = open(*path == '/' ? "/" : ".", DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	if (*path == '/')
		enter(walk, dir);
	else
		enter_anywhere(walk, dir);
	return 0;
}

/* The next name of the rest, which is cut off it. */
static int next_name(struct walk *walk, char name[NAME_MAX + 1], bool *ret_last)
{
	size_t size = strcspn(walk->rest, "/");
	size_t next = size + strspn(walk->rest + size, "/");

	if (size > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, walk->rest, size);
	name[size] = '\0';
	/* "file/" is a directory to the kernel, and so no file to be read. */
	*ret_last = next == size && walk->rest[next] == '\0';
	memmove(walk->rest, walk->rest + next, strlen(walk->rest + next) + 1);
	if (walk->rest[0] == '\0' && !*ret_last)
		memcpy(walk->rest, ".", 2);
	return 0;
}

static bool is_link(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* Is its text not where it leads to, as with the links to open files? */
static bool is_magic(int dir)
{
	struct statfs fs;

	return fstatfs(dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Put the text of a link before what is left of the path. */
static int follow(struct walk *walk, const char *name, bool last)
{
	size_t used = strlen(walk->rest), skip;
	char text[PATH_MAX];
	ssize_t size;
	/* May it be followed? fs.protected_symlinks is about the last name of a path. */
	int fd = last ? openat(walk->dir, name, O_PATH | O_CLOEXEC) : -1;

	if (last && fd < 0)
		return -errno;
	if (fd >= 0)
		(void)close(fd);
	size = readlinkat(walk->dir, name, text, sizeof(text));
	if (size < 0)
		return -errno;
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	if (size == 0 || (size_t)size + used + 2 > sizeof(walk->rest))
		return size == 0 ? -ENOENT : -ENAMETOOLONG;
	memmove(walk->rest + size + !last, walk->rest, used + 1);
	memcpy(walk->rest, text, (size_t)size);
	if (!last)
		walk->rest[size] = '/';
	if (text[0] != '/')
		return 0;
	skip = strspn(walk->rest, "/");
	memmove(walk->rest, walk->rest + skip, strlen(walk->rest + skip) + 1);
	if (walk->rest[0] == '\0')
		memcpy(walk->rest, ".", 2);
	return begin(walk, "/");
}

/* Into the directory of that name. */
static int step_down(struct walk *walk, const char *name, bool magic)
{
	int dir =
	    openat(walk->dir, name, DIRECTORY | O_CLOEXEC | (magic ? 0 : O_NOFOLLOW));
	struct stat st;

	if (dir < 0)
		return walk->inside && errno == ENOTDIR && is_link(walk->dir, name)
			   ? -EXDEV
			   : -errno;
	if (magic) {
		enter_anywhere(walk, dir);
		return 0;
	}
	walk->deep = walk->inside;
	walk->inside = walk->inside || (fstat(dir, &st) == 0 && is_place(walk, &st));
	enter(walk, dir);
	return 0;
}

/* Within a place, or out of it where it was only just entered: a box can move what is in
 * it to another depth, and with that what "../.." means. */
static int step_up(struct walk *walk)
{
	struct stat st;
	bool top = fstat(walk->dir, &st) < 0 || is_place(walk, &st);
	int dir = top && walk->deep ? -1 : openat(walk->dir, "..", DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return top && walk->deep ? -EXDEV : -errno;
	if (top)
		enter_anywhere(walk, dir);
	else
		enter(walk, dir);
	return 0;
}

/* The file itself: a descriptor. Outside it may also be a pipe, and is waited for. */
static int open_file(struct walk *walk, const char *name, bool magic)
{
	int flags = FILE_FLAGS | (walk->inside ? O_NONBLOCK : 0);
	int fd = openat(walk->dir, name, flags | O_CLOEXEC | (magic ? 0 : O_NOFOLLOW));
	struct stat st;

	if (fd < 0)
		return walk->inside && errno == ELOOP ? -EXDEV : -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		/* A volume may be a single file. */
		walk->inside = walk->inside || is_place(walk, &st);
		return fd;
	}
	if (!walk->inside)
		return fd;
	(void)close(fd);
	return -ENOTSUP;
}

/* One name on. Where it was the last a descriptor (1 for a look), else 0 or -errno. */
static int step(struct walk *walk, const char *name, bool last)
{
	bool magic = false;

	if (walk->inside && strcmp(name, "..") == 0)
		return step_up(walk);
	if (!walk->inside && is_link(walk->dir, name)) {
		magic = is_magic(walk->dir);
		if (!magic)
			return follow(walk, name, last);
	}
	if (!last)
		return step_down(walk, name, magic);
	if (!walk->look)
		return open_file(walk, name, magic);
	return walk->inside && is_link(walk->dir, name) ? -EXDEV : 1;
}

/* A descriptor, or -errno; -EXDEV where a link would have had to be followed. */
static int go(struct walk *walk, const char *path)
{
	size_t skip = strspn(path, "/");
	char name[NAME_MAX + 1];
	bool last = false;
	int r;

	if (path[0] == '\0')
		return -ENOENT;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	r = begin(walk, path);
	memcpy(walk->rest, path[skip] ? path + skip : ".",
	       path[skip] ? strlen(path + skip) + 1 : 2);
	/* Descriptor 0 is never free: see fill_standard_fds(). */
	while (r == 0) {
		r = next_name(walk, name, &last);
		if (r == 0)
			r = step(walk, name, last);
	}
	return r;
}

int cli_input_open(const char *path, const char *const *places, bool *ret_inside)
{
	struct walk walk = {.places = places, .dir = -1};
	int fd = go(&walk, path);

	if (walk.dir >= 0)
		(void)close(walk.dir);
	if (ret_inside)
		*ret_inside = walk.inside;
	return fd;
}

bool cli_input_strays(const char *path, const char *const *places)
{
	struct walk walk = {.places = places, .dir = -1, .look = true};
	int r = go(&walk, path);

	if (walk.dir >= 0)
		(void)close(walk.dir);
	return r == -EXDEV;
}
