/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

enum {
	LINKS_MAX = 40, /* as the kernel follows, path_resolution(7) */
	PENDING_MAX = 8192,
};

/* Drop the last component of a relative path. */
static void go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
	else
		path[0] = '\0';
}

static int append(char *path, size_t capacity, const char *part, size_t size)
{
	size_t used = strlen(path);

	if (used + size + 2 > capacity)
		return -ENAMETOOLONG;
	if (used > 0)
		path[used++] = '/';
	memcpy(path + used, part, size);
	path[used + size] = '\0';
	return 0;
}

/* Put a link's text before what is still to be walked. */
static int push(char *pending, size_t capacity, const char *text, const char *rest)
{
	char joined[PENDING_MAX];
	size_t a = strlen(text), b = strlen(rest);

	if (a + b + 2 > sizeof(joined) || a + b + 2 > capacity)
		return -ENAMETOOLONG;
	memcpy(joined, text, a);
	joined[a] = '/';
	memcpy(joined + a + 1, rest, b + 1);
	memcpy(pending, joined, a + b + 2);
	return 0;
}

/* 1 and the text where path is a link; 0 where it is something else or not there. */
static int read_link(int root, const char *path, char *text, size_t capacity)
{
	struct stat st;
	ssize_t n;
	CLEANUP_FD int fd = fd_open_beneath(root, path, O_PATH | O_NOFOLLOW, 0, 0);

	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return 0;
	n = readlinkat(fd, "", text, capacity - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 1;
}

int path_resolve_in_root(int root, const char *path, char *ret, size_t capacity)
{
	char pending[PENDING_MAX], text[4096];
	int links = 0, r = push(pending, sizeof(pending), path, "");
	char *at = pending;

	ret[0] = '\0';
	while (r >= 0 && *at != '\0') {
		size_t n = strcspn(at, "/");
		char *rest = at + n + strspn(at + n, "/");

		if (n == 2 && at[0] == '.' && at[1] == '.') {
			go_up(ret);
		} else if (n > 0 && !(n == 1 && at[0] == '.')) {
			r = append(ret, capacity, at, n);
			if (r == 0)
				r = read_link(root, ret, text, sizeof(text));
			if (r > 0) {
				if (++links > LINKS_MAX)
					return -ELOOP;
				go_up(ret);
				if (text[0] == '/')
					ret[0] = '\0';
				r = push(pending, sizeof(pending), text, rest);
				at = pending;
				continue;
			}
		}
		at = rest;
	}
	return r < 0 ? r : 0;
}
