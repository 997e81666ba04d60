/* SPDX-License-Identifier: Apache-2.0 */
#include "session/files_path.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/printable.h"
#include "session/workspace.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define WHERE_SIZE sizeof(((struct husk_error *)NULL)->where)

static int refuse(struct husk_error *err, const char *path, const char *why,
		  const char *hint)
{
	char where[WHERE_SIZE];

	printable(where, sizeof(where), *path ? path : "path");
	(void)error_set(err, HUSK_E_PATH, where, "%s", why);
	if (hint)
		error_hint(err, "%s", hint);
	return HUSK_E_PATH;
}

/* The part of an absolute path below the workspace's host path, or NULL. Compared by
 * whole components: /tmp/ws-evil is not in /tmp/ws. */
static const char *below_workspace(const struct workspace *workspace, const char *path)
{
	size_t size = strlen(workspace->path);

	if (strncmp(path, workspace->path, size) != 0)
		return NULL;
	if (path[size] != '/' && path[size] != '\0' && size > 1)
		return NULL;
	return path + size;
}

/* Whether path, by its letters, can only be a directory. */
static bool ends_as_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;

	return *last == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

/* Write the normal form of path to out, which is as large as path. -EXDEV where it
 * leaves, -ENAMETOOLONG for a name over 255 bytes. */
static int normalise(const char *path, char *out)
{
	size_t used = 0;

	out[0] = '\0';
	while (*path) {
		size_t size = strcspn(path, "/");

		if (size > NAME_MAX)
			return -ENAMETOOLONG;
		if (size == 2 && memcmp(path, "..", 2) == 0) {
			char *slash = strrchr(out, '/');

			if (used == 0)
				return -EXDEV;
			used = slash ? (size_t)(slash - out) : 0;
		} else if (size > 0 && !(size == 1 && *path == '.')) {
			if (used > 0)
				out[used++] = '/';
			memcpy(out + used, path, size);
			used += size;
		}
		out[used] = '\0';
		path += size;
		path += *path == '/';
	}
	return 0;
}

int files_path_parse(const struct workspace *workspace, const char *path, bool directory,
		     char **ret_path, struct husk_error *err)
{
	static const char relative[] =
	    "give the path relative to the workspace: NAME, not /workspace/NAME";
	CLEANUP_FREE char *out = NULL;
	const char *at = path;
	int r;

	if (!path && !directory)
		return error_set(err, HUSK_E_INVALID, "path", "it is NULL");
	if (!path)
		at = path = "";
	if (strlen(path) > FILES_PATH_MAX)
		return refuse(err, path, "the path is longer than 4095 bytes", NULL);
	if (*path == '/')
		at = below_workspace(workspace, path);
	if (!at)
		return refuse(err, path, "it is an absolute path outside the workspace",
			      relative);
	out = malloc(strlen(at) + 2);
	if (!out)
		return error_oom(err, "path");
	r = normalise(at, out);
	if (r == -EXDEV)
		return refuse(err, path, "the path leaves the workspace", relative);
	if (r < 0)
		return refuse(err, path, "a name in it is longer than 255 bytes", NULL);
	if (!directory && *path == '\0')
		return refuse(err, path, "the path is empty", "name a file");
	if (!directory && (*out == '\0' || ends_as_directory(at)))
		return refuse(err, path, "the path names a directory",
			      "name a file in it");
	*ret_path = TAKE_PTR(out);
	return 0;
}

/* What an errno means for a path in the workspace. */
static const struct path_errno {
	int sys_errno;
	int code;
	const char *why;
	const char *hint;
} path_errnos[] = {
    {ENOENT, HUSK_E_PATH, "there is no such file in the workspace", NULL},
    {ENOTDIR, HUSK_E_PATH, "a part of the path is not a directory", NULL},
    {ELOOP, HUSK_E_PATH, "it is, or passes through, a symbolic link",
     "links in the workspace are never followed from outside the box; use the path that "
     "the link leads to"},
    {EISDIR, HUSK_E_PATH, "it is a directory", "name a file in it"},
    {ENXIO, HUSK_E_PATH, "it is a pipe, a socket or a device, not a regular file",
     "remove it in the box first, or use another name"},
    {EXDEV, HUSK_E_PATH, "the path leaves the workspace", NULL},
    {ENAMETOOLONG, HUSK_E_PATH, "the path, or a name in it, is too long", NULL},
    {EACCES, HUSK_E_SYSTEM, "its mode, or that of a directory above it, forbids it",
     "chmod u+rwX it in the box, or on the host by its owner"},
    {ENOSPC, HUSK_E_SYSTEM, "there is no space left on the workspace's file system",
     "remove files, or use a workspace on a larger file system"},
    {EDQUOT, HUSK_E_SYSTEM, "the disk quota is used up",
     "remove files, or use a workspace on another file system"},
    {EFBIG, HUSK_E_SYSTEM, "it is larger than this process or file system allows",
     "raise the file size limit (ulimit -f) of the calling process"},
    {EROFS, HUSK_E_SYSTEM, "the workspace's file system is read-only",
     "use a workspace that can be written to"},
    {EMFILE, HUSK_E_SYSTEM, "this process has no descriptor left",
     "close descriptors, or raise the limit (ulimit -n)"},
};

int files_path_error(struct husk_error *err, int sys_errno, const char *path,
		     const char *verb)
{
	char where[WHERE_SIZE];

	printable(where, sizeof(where), *path ? path : ".");
	for (size_t i = 0; i < sizeof(path_errnos) / sizeof(path_errnos[0]); i++) {
		const struct path_errno *row = &path_errnos[i];

		if (row->sys_errno != sys_errno)
			continue;
		(void)error_set(err, row->code, where, "cannot be %s: %s", verb,
				row->why);
		if (row->hint)
			error_hint(err, "%s", row->hint);
		if (err)
			err->sys_errno = sys_errno;
		return row->code;
	}
	return error_sys(err, sys_errno, where, "cannot be %s", verb);
}
