/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a file that the caller names. Where it lies in the workspace, a box may have
 * put a link in its place or on the way: the caller would read a file of the host for it,
 * and hand the content to the next box.
 */
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY = O_PATH | O_DIRECTORY, DEPTH_MAX = 4096 };

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the directory the workspace, or below it? dir is closed. */
static bool is_inside(int dir, const struct stat *workspace)
{
	struct stat here, above;
	bool inside = false, top = dir < 0 || fstat(dir, &here) < 0;

	for (int depth = 0; !top && !inside && depth < DEPTH_MAX; depth++) {
		int next;

		inside = same(&here, workspace);
		next = inside ? -1 : openat(dir, "..", DIRECTORY | O_CLOEXEC);
		top = next < 0 || fstat(next, &above) < 0 || same(&here, &above);
		here = above;
		(void)close(dir);
		dir = next;
	}
	if (dir >= 0)
		(void)close(dir);
	return inside;
}

static bool is_link(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* One name of dir: a directory on the way, or the file itself, which must be a regular
 * one: -ENOTSUP. ".." may lead out again, and is a link as well. A descriptor or -errno.
 */
static int open_name(int dir, const char *name, bool last)
{
	const int file = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	struct stat st;
	int fd;

	if (strcmp(name, "..") == 0)
		return -ELOOP;
	fd = openat(dir, name, (last ? file : DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR && is_link(dir, name) ? -ELOOP : -errno;
	if (!last || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	(void)close(fd);
	return -ENOTSUP;
}

/* Below dir, which is closed. */
static int open_without_links(int dir, const char *path)
{
	bool last = dir < 0;
	int r = dir < 0 ? -errno : dir;

	while (!last && r >= 0) {
		size_t size = strcspn(path, "/"), next = size + strspn(path + size, "/");
		char name[NAME_MAX + 1];
		int from = r;

		last = path[next] == '\0';
		r = -ENAMETOOLONG;
		if (size < sizeof(name)) {
			memcpy(name, path, size);
			name[size] = '\0';
			r = open_name(from, name, last);
		}
		(void)close(from);
		path += next;
	}
	return r;
}

int cli_input_open(const char *path, const char *workspace)
{
	char start[PATH_MAX];
	struct stat st;
	size_t at = 0;
	int fd;

	if (workspace && stat(workspace, &st) == 0 && strlen(path) < sizeof(start)) {
		/* Every beginning of the path that ends at a slash, the shortest first;
		 * "." before the first name of a relative one. */
		do {
			memcpy(start, path, at);
			memcpy(start + at, at ? "" : ".", at ? 1 : 2);
			if ((at > 0 || path[0] != '/') &&
			    is_inside(open(start, DIRECTORY | O_CLOEXEC), &st))
				return open_without_links(
				    open(start, DIRECTORY | O_CLOEXEC),
				    path + at + strspn(path + at, "/"));
			at += strspn(path + at, "/");
			at += strcspn(path + at, "/");
		} while (path[at]);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}
