/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts that are refused even when asked for. Paths are compared by identity (device
 * and inode), never as text: a link, a bind alias or another spelling of a refused
 * directory is that directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "runtime/source.h"

struct refused {
	const char *path;
	bool below; /* everything below it is refused as well */
	const char *reason;
};

/* Sorted by path. */
static const struct refused refused_sources[] = {
    {"/", false, "it is the host's whole file system"},
    {"/boot", true, "it holds the kernel and its secrets"},
    {"/dev", false, "devices reach the host's hardware and kernel"},
    {"/etc", false, "it holds the host's accounts and secrets"},
    {"/proc", true, "it shows and steers every process of the host"},
    {"/root", false, "it is the administrator's home"},
    {"/run", false, "it holds the sockets of the host's services"},
    {"/run/containerd/containerd.sock", false, "it gives control over the host"},
    {"/run/crio/crio.sock", false, "it gives control over the host"},
    {"/run/docker.sock", false, "it gives control over the host"},
    {"/run/podman/podman.sock", false, "it gives control over the host"},
    {"/run/user", false, "it holds the sockets of users' services"},
    {"/sys", true, "it steers the host's kernel"},
    {"/var/run", false, "it holds the sockets of the host's services"},
    {"/var/run/docker.sock", false, "it gives control over the host"},
};

/* Sorted. The essential parts of a box; nothing may cover them. */
static const char *const reserved_targets[] = {"dev", "proc", "sys"};

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_root(int fd)
{
	struct stat here, above;

	return fstat(fd, &here) == 0 && fstatat(fd, "..", &above, 0) == 0 &&
	       same(&here, &above);
}

/* Is `wanted` the directory fd or one above it? Walks up by "..", so mounts and links
 * cannot mislead it. fd is consumed. */
static bool on_the_way_up(int fd, const struct stat *wanted)
{
	enum { LEVELS = 4096 };
	CLEANUP_FD int at = fd;
	struct stat st;

	for (int i = 0; i < LEVELS; i++) {
		int up;

		if (fstat(at, &st) < 0)
			return true; /* unknown: refuse */
		if (same(&st, wanted))
			return true;
		if (is_root(at))
			return false;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return true;
		fd_close(&at);
		at = up;
	}
	return true;
}

/* The directory that holds what path leads to: from where to walk up. Not path itself,
 * which may be closed to this user (another one's home), and then has no ".." for it. */
static int open_directory_of(const char *path)
{
	CLEANUP_FREE char *real = realpath(path, NULL);
	char *slash;
	int fd;

	if (!real)
		return -errno;
	slash = strrchr(real, '/');
	slash[slash == real ? 1 : 0] = '\0';
	fd = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

/* Does the directory source hold path, as a name (a link in it would lead the box's own
 * files there) or by what path leads to? */
static bool contains(const struct stat *source, const char *path)
{
	char parent[256];
	int fd = open_directory_of(path);

	if (fd >= 0 && on_the_way_up(fd, source))
		return true;
	(void)snprintf(parent, sizeof(parent), "%s", path);
	*(strrchr(parent, '/') + 1) = '\0';
	fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && on_the_way_up(fd, source);
}

/* Does the directory hold the socket of a container or service manager, wherever it is
 * (each user may have one of their own)? Returns its name, or NULL. */
static const char *holds_manager(const struct source *source)
{
	/* Sorted. */
	static const char *const sockets[] = {
	    "bus",
	    "containerd.sock",
	    "containerd/containerd.sock",
	    "crio.sock",
	    "crio/crio.sock",
	    "docker.sock",
	    "podman.sock",
	    "podman/podman.sock",
	    "private",
	    "systemd/private",
	};

	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
		struct stat st;

		if (fstatat(source->fd, sockets[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISSOCK(st.st_mode))
			return sockets[i];
	}
	return NULL;
}

/* how: what the source has to do with path; NULL where it is path. */
static int refuse(const struct source *source, const char *path, const char *reason,
		  const char *how, struct husk_error *err)
{
	char where[160];

	(void)snprintf(where, sizeof(where), "mount of %.120s", source->path);
	if (how)
		error_set(err, HUSK_E_MOUNT_REFUSED, where, "refused: it %s %s (%s)", how,
			  path, reason);
	else
		error_set(err, HUSK_E_MOUNT_REFUSED, where, "refused: %s", reason);
	error_hint(err,
		   "copy what the box needs into a directory of its own and mount that");
	return HUSK_E_MOUNT_REFUSED;
}

/* inside: look also at what the source holds. */
static int check_against(const struct source *source, const struct refused *row,
			 bool inside, struct husk_error *err)
{
	struct stat mine, theirs;
	int fd;

	if (fstat(source->fd, &mine) < 0)
		return error_sys(err, errno, source->path, "cannot look at it");
	if (stat(row->path, &theirs) < 0)
		return 0; /* not on this host */
	if (same(&mine, &theirs))
		return refuse(source, row->path, row->reason, NULL, err);
	if (inside && source->directory && contains(&mine, row->path))
		return refuse(source, row->path, row->reason, "contains", err);
	if (row->below) {
		fd = open_directory_of(source->path);
		if (fd >= 0 && on_the_way_up(fd, &theirs))
			return refuse(source, row->path, row->reason, "lies below", err);
	}
	return 0;
}

int source_check(const struct source *source, const char *home, const char *const *extra,
		 struct husk_error *err)
{
	const struct refused caller = {home, false, "it is the caller's home"};
	const char *socket = source->directory ? holds_manager(source) : NULL;
	int r = 0;

	if (socket)
		return refuse(source, socket, "it gives control over the host", "holds",
			      err);

	for (size_t i = 0; i < sizeof(refused_sources) / sizeof(refused_sources[0]);
	     i++) {
		r = check_against(source, &refused_sources[i], true, err);
		if (r < 0)
			return r;
	}
	if (home && home[0] == '/' && home[1] != '\0')
		r = check_against(source, &caller, true, err);
	for (size_t i = 0; r == 0 && extra && extra[i]; i++) {
		const struct refused own = {extra[i], true, "it belongs to husk itself"};

		r = check_against(source, &own, true, err);
	}
	return r;
}

/* The deepest directory on the way to path that is there. */
static int open_existing(const char *path)
{
	CLEANUP_FREE char *copy = strdup(path);
	char *slash;
	int fd;

	if (!copy)
		return -ENOMEM;
	for (;;) {
		fd = open(copy, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		slash = strrchr(copy, '/');
		if (!slash || (errno != ENOENT && errno != ENOTDIR))
			return -errno;
		slash[slash == copy ? 1 : 0] = '\0';
	}
}

int source_check_new(const char *path, struct husk_error *err)
{
	struct source parent = SOURCE_INIT;
	CLEANUP_FD int fd = -1;
	int r = 0;

	if (path[0] != '/' || access(path, F_OK) == 0)
		return 0;
	fd = open_existing(path);
	if (fd < 0)
		return 0; /* making it will say why not */
	r = source_pin_fd(fd, path, &parent, err);
	for (size_t i = 0;
	     r == 0 && i < sizeof(refused_sources) / sizeof(refused_sources[0]); i++) {
		if (refused_sources[i].below)
			r = check_against(&parent, &refused_sources[i], false, err);
	}
	source_deinit(&parent);
	return r;
}

/* Append one component to a target under construction. */
static int add_component(char *to, size_t capacity, const char *part, size_t size)
{
	size_t used = strlen(to);

	if (used + size + 2 > capacity)
		return -ENAMETOOLONG;
	if (used > 0)
		to[used++] = '/';
	memcpy(to + used, part, size);
	to[used + size] = '\0';
	return 0;
}

static int target_error(const char *target, const char *why, struct husk_error *err)
{
	char where[160];

	(void)snprintf(where, sizeof(where), "mount target %.120s", target);
	return error_set(err, HUSK_E_MOUNT_REFUSED, where, "%s", why);
}

int source_check_target(const char *target, char **ret, struct husk_error *err)
{
	char clean[4096] = "";
	size_t first;

	if (target[0] != '/')
		return target_error(target, "it must be an absolute path in the box",
				    err);
	for (const char *at = target; *at != '\0';) {
		size_t n = strcspn(at, "/");

		if (n == 2 && at[0] == '.' && at[1] == '.')
			return target_error(target, "it must not contain \"..\"", err);
		if (n > 255)
			return target_error(target,
					    "a part of it is longer than 255 bytes", err);
		if (n > 0 && !(n == 1 && at[0] == '.') &&
		    add_component(clean, sizeof(clean), at, n) < 0)
			return target_error(target, "it is longer than 4,095 bytes", err);
		at += n;
		at += strspn(at, "/");
	}
	if (clean[0] == '\0')
		return target_error(target, "it would cover the box's root", err);
	first = strcspn(clean, "/");
	for (size_t i = 0; i < sizeof(reserved_targets) / sizeof(reserved_targets[0]);
	     i++) {
		if (strlen(reserved_targets[i]) == first &&
		    memcmp(clean, reserved_targets[i], first) == 0)
			return target_error(
			    target, "it would cover an essential part of the box", err);
	}
	if (strcmp(clean, "workspace") == 0)
		return target_error(target, "it would cover the workspace", err);
	*ret = strdup(clean);
	return *ret ? 0 : error_oom(err, "mount target");
}
