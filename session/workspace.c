/* SPDX-License-Identifier: Apache-2.0 */
#include "session/workspace.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/printable.h"
#include "session/remove.h"
#include "session/workspace_temp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHERE_SIZE sizeof(((struct husk_error *)NULL)->where)

enum { REMOVE_TRIES = 3 };

static int fail(struct husk_error *err, int sys_errno, const char *path, const char *what)
{
	char where[WHERE_SIZE];

	return error_sys(err, sys_errno, printable(where, sizeof(where), path), "%s",
			 what);
}

/* The real path of a directory, by the kernel's own account of it. */
static int path_of(int fd, char **ret)
{
	char self[64], path[PATH_MAX];
	struct stat by_fd, by_path;
	ssize_t n;

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlinkat(AT_FDCWD, self, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = '\0';
	/* Removed, moved out of sight or too long: then the text is not its path. */
	if (fstat(fd, &by_fd) < 0 || fstatat(AT_FDCWD, path, &by_path, 0) < 0)
		return -errno;
	if (by_fd.st_dev != by_path.st_dev || by_fd.st_ino != by_path.st_ino)
		return -ENOENT;
	*ret = strdup(path);
	return *ret ? 0 : -ENOMEM;
}

/* Copy the next component of *path to name and step over it. Returns its size; 0 at the
 * end. */
static size_t next_component(const char **path, char name[NAME_MAX + 1])
{
	size_t size;

	*path += strspn(*path, "/");
	size = strcspn(*path, "/");
	if (size <= NAME_MAX) {
		memcpy(name, *path, size);
		name[size] = '\0';
		*path += size;
	}
	return size;
}

/* Go down path as far as it exists, following links. *ret_rest is what does not. */
static int open_existing(const char *path, int *ret_fd, const char **ret_rest)
{
	CLEANUP_FD int fd =
	    openat(AT_FDCWD, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[NAME_MAX + 1];

	if (fd < 0)
		return -errno;
	for (;;) {
		const char *here = path;
		size_t size = next_component(&path, name);
		int next;

		if (size > NAME_MAX)
			return -ENAMETOOLONG;
		next = size ? openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
		if (size && next < 0 && errno != ENOENT)
			return -errno;
		if (next < 0) {
			*ret_rest = here;
			*ret_fd = fd_take(&fd);
			return 0;
		}
		fd_close(&fd);
		fd = next;
	}
}

/* Make the rest of a path below *fd, and put its last directory in place of *fd. */
static int make_rest(int *fd, const char *rest)
{
	char name[NAME_MAX + 1];
	size_t size;

	while ((size = next_component(&rest, name)) > 0) {
		int next;

		if (size > NAME_MAX)
			return -ENAMETOOLONG;
		if (mkdirat(*fd, name, 0755) < 0 && errno != EEXIST)
			return -errno;
		next = openat(*fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return -errno;
		fd_close(fd);
		*fd = next;
	}
	return 0;
}

/* What does not exist yet cannot be gone up from. */
static bool has_dot_dot(const char *rest)
{
	char name[NAME_MAX + 1];
	size_t size;

	while ((size = next_component(&rest, name)) > 0 && size <= NAME_MAX)
		if (strcmp(name, "..") == 0)
			return true;
	return false;
}

static int find_given(const char *given, int *ret_fd, const char **ret_rest,
		      struct husk_error *err)
{
	int r;

	if (*given == '\0')
		return error_set(err, HUSK_E_INVALID, "workspace", "the path is empty");
	if (strlen(given) >= PATH_MAX)
		return error_set(err, HUSK_E_INVALID, "workspace",
				 "the path is longer than 4095 bytes");
	r = open_existing(given, ret_fd, ret_rest);
	if (r == 0 && has_dot_dot(*ret_rest)) {
		fd_close(ret_fd);
		r = -ENOENT;
	}
	if (r == -ENOTDIR) {
		(void)fail(err, ENOTDIR, given, "cannot be the workspace");
		if (err)
			err->code = HUSK_E_INVALID;
		error_hint(err, "give a directory, or a path where one can be made");
		return HUSK_E_INVALID;
	}
	return r < 0 ? fail(err, -r, given, "cannot open the workspace") : 0;
}

int workspace_resolve(const char *given, char **ret_path, struct husk_error *err)
{
	CLEANUP_FREE char *base = NULL, *path = NULL;
	CLEANUP_FD int fd = -1;
	char name[NAME_MAX + 1];
	const char *rest;
	size_t used;
	int r = find_given(given, &fd, &rest, err);

	if (r < 0)
		return r;
	r = path_of(fd, &base);
	if (r < 0)
		return fail(err, -r, given, "cannot tell the path of the workspace");
	used = strcmp(base, "/") == 0 ? 0 : strlen(base);
	path = malloc(strlen(base) + strlen(rest) + 2);
	if (!path)
		return error_oom(err, "workspace");
	memcpy(path, base, strlen(base) + 1);
	for (size_t n; (n = next_component(&rest, name)) > 0 && n <= NAME_MAX;) {
		if (strcmp(name, ".") == 0)
			continue;
		path[used] = '/';
		memcpy(path + used + 1, name, n + 1);
		used += n + 1;
	}
	*ret_path = TAKE_PTR(path);
	return 0;
}

static int open_given(const char *given, struct workspace *ws, struct husk_error *err)
{
	CLEANUP_FD int found = -1;
	const char *rest;
	int r = find_given(given, &found, &rest, err);

	if (r < 0)
		return r;
	r = make_rest(&found, rest);
	if (r < 0)
		return fail(err, -r, given, "cannot make the workspace");
	ws->fd = openat(found, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ws->fd < 0) {
		(void)fail(err, errno, given, "cannot read the workspace");
		error_hint(err, "its owner must be this user, with mode u+rwx");
		return HUSK_E_SYSTEM;
	}
	return 0;
}

static int open_temporary(const char *temp_dir, struct workspace *ws,
			  struct husk_error *err)
{
	int r = workspace_temp_dir(temp_dir, &ws->parent);

	if (!temp_dir)
		temp_dir = "/tmp";
	if (r == -EPERM) {
		(void)fail(err, EPERM, temp_dir, "is no place for a private directory");
		if (err)
			err->code = HUSK_E_INVALID;
		error_hint(err,
			   "other users can rename what is in it: give it the sticky bit "
			   "(chmod +t), or use another temp_dir");
		return HUSK_E_INVALID;
	}
	if (r == 0)
		r = workspace_temp_make(ws->parent, ws->name, &ws->fd);
	if (r < 0) {
		(void)fail(err, -r, temp_dir, "cannot make a private directory there");
		error_hint(err,
			   "set temp_dir to a directory that this user can write to");
		return r == -ENOMEM ? HUSK_E_MEMORY : HUSK_E_SYSTEM;
	}
	ws->temporary = true;
	ws->creator = getpid();
	return 0;
}

int workspace_open(const char *given, const char *temp_dir, struct workspace *ret,
		   struct husk_error *err)
{
	struct workspace ws = WORKSPACE_INIT;
	struct stat st;
	int r = given ? open_given(given, &ws, err) : open_temporary(temp_dir, &ws, err);

	if (r == 0) {
		int result = path_of(ws.fd, &ws.path);

		if (result == 0 && fstat(ws.fd, &st) < 0)
			result = -errno;
		if (result < 0)
			r = fail(err, -result, given ? given : ws.name,
				 "cannot tell the path of the workspace");
	}
	if (r < 0) {
		(void)workspace_deinit(&ws, NULL);
		return r;
	}
	ws.dev = st.st_dev;
	ws.ino = st.st_ino;
	*ret = ws;
	return 0;
}

int workspace_check(const struct workspace *ws, struct husk_error *err)
{
	struct stat by_fd, by_path;
	char where[WHERE_SIZE];
	const char *what;
	bool removed;

	if (fstat(ws->fd, &by_fd) < 0)
		return 0;
	removed = by_fd.st_nlink == 0;
	if (fstatat(AT_FDCWD, ws->path, &by_path, 0) < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			return 0;
		what = removed ? "was removed" : "was moved away";
	} else {
		if (by_fd.st_dev == by_path.st_dev && by_fd.st_ino == by_path.st_ino)
			return 0;
		what = removed ? "was removed and made anew" : "was replaced";
	}
	error_set(err, HUSK_E_SYSTEM, printable(where, sizeof(where), ws->path),
		  "the workspace %s after the session was opened", what);
	error_hint(err, removed ? "open a new session"
				: "put the directory back, or open a new session");
	return HUSK_E_SYSTEM;
}

/* Remove the directory and what is in it; more than once where somebody adds entries. */
static int remove_temporary(const struct workspace *ws, struct remove_report *report)
{
	int r = 0;

	for (int i = 0; i < REMOVE_TRIES; i++) {
		r = workspace_temp_remove(ws->parent, ws->name, ws->fd, report);
		if (r != -ENOTEMPTY)
			break;
	}
	return r;
}

int workspace_deinit(struct workspace *ws, struct husk_error *err)
{
	const char *path = ws->path ? ws->path : ws->name;
	struct remove_report report = {.removed = 0};
	int r = 0;

	if (ws->temporary && ws->creator == getpid())
		r = remove_temporary(ws, &report);
	if (r < 0) {
		r = fail(err, -r, path, "cannot be removed whole");
		error_hint(err, "remove it by hand");
	}
	if (r < 0 && report.first[0])
		error_hint(err, "remove it by hand; %llu entries stay, the first is %s",
			   (unsigned long long)report.failed, report.first);
	free(ws->path);
	fd_close(&ws->fd);
	fd_close(&ws->parent);
	*ws = WORKSPACE_INIT;
	return r < 0 ? HUSK_E_SYSTEM : 0;
}
