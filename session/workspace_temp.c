/* SPDX-License-Identifier: Apache-2.0 */
#include "session/workspace_temp.h"

#include "base/fd.h"
#include "base/sample.h"
#include "session/remove.h"
#include "runtime/box.h"
#include "session/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "husk-ws-";
static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345"; /* 32: no bias */

enum { MAKE_TRIES = 64 };

static int new_name(char name[WORKSPACE_NAME_SIZE])
{
	const size_t size = sizeof(prefix) - 1;
	unsigned char random[WORKSPACE_NAME_SIZE - sizeof(prefix)];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -errno;
	memcpy(name, prefix, size);
	for (size_t i = 0; i < sizeof(random); i++)
		name[size + i] = letters[random[i] % (sizeof(letters) - 1)];
	name[WORKSPACE_NAME_SIZE - 1] = '\0';
	return 0;
}

static bool is_our_name(const char *name)
{
	const size_t size = sizeof(prefix) - 1;

	return strlen(name) == WORKSPACE_NAME_SIZE - 1 &&
	       strncmp(name, prefix, size) == 0 &&
	       strspn(name + size, letters) == WORKSPACE_NAME_SIZE - 1 - size;
}

int workspace_temp_dir(const char *temp_dir, int *ret_fd)
{
	CLEANUP_FD int fd = openat(AT_FDCWD, temp_dir ? temp_dir : "/tmp",
				   O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
		return -EPERM;
	*ret_fd = fd_take(&fd);
	return 0;
}

/* Whether `name` still is the directory open as fd. */
static bool is_in_place(int parent, const char *name, int fd)
{
	struct stat by_name, by_fd;

	return fstatat(parent, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstat(fd, &by_fd) == 0 && by_name.st_dev == by_fd.st_dev &&
	       by_name.st_ino == by_fd.st_ino;
}

/* Take the lock. Where the file system has none, nobody can take it, and a sweep leaves
 * the directory alone. */
static int lock(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	return -EWOULDBLOCK;
}

/* Open and lock what was just made. -EEXIST: it was lost to a sweep before it was locked,
 * or to somebody who may write to parent; another name will do. */
static int claim(int parent, const char *name, int *ret_fd)
{
	CLEANUP_FD int fd =
	    openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? -EEXIST
									     : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 0777) != 0700)
		return -EEXIST;
	if (lock(fd) < 0 || !is_in_place(parent, name, fd))
		return -EEXIST;
	*ret_fd = fd_take(&fd);
	return 0;
}

int workspace_temp_make(int parent, char ret_name[WORKSPACE_NAME_SIZE], int *ret_fd)
{
	int r = -EEXIST;

	for (int i = 0; i < MAKE_TRIES && r == -EEXIST; i++) {
		r = new_name(ret_name);
		if (r < 0)
			return r;
		if (mkdirat(parent, ret_name, 0700) < 0) {
			r = -errno;
			continue;
		}
		r = claim(parent, ret_name, ret_fd);
		if (r < 0 && r != -EEXIST)
			(void)unlinkat(parent, ret_name, AT_REMOVEDIR);
	}
	return r;
}

static int remove_empty(int parent, const char *name, int fd)
{
	if (!is_in_place(parent, name, fd))
		return -ESTALE;
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int workspace_temp_remove(int parent, const char *name, int fd,
			  struct remove_report *report)
{
	int r;

	*report = (struct remove_report){0};
	if (remove_empty(parent, name, fd) == 0) /* as most are */
		return 0;
	(void)fchmod(fd, 0700); /* the box may have changed it */
	r = remove_tree(fd, report);
	return r < 0 ? r : remove_empty(parent, name, fd);
}

static bool is_our_own(const struct stat *st)
{
	uid_t user = geteuid();

	return st->st_uid == user || (user == 0 && ids_is_box(st->st_uid));
}

/* Open one that a box has shut. What it is is checked before its mode is changed, on the
 * descriptor that it is changed through. */
static int open_shut(int parent, const char *name, mode_t *ret_before)
{
	CLEANUP_FD int pin =
	    openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char self[64];
	struct stat st;
	int fd;

	if (pin < 0 || fstat(pin, &st) < 0)
		return -errno;
	if (!is_our_own(&st))
		return -EPERM;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", pin);
	if (fchmodat(AT_FDCWD, self, 0700, 0) < 0)
		return -errno;
	*ret_before = st.st_mode & 07777;
	fd = openat(pin, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_leftover(int parent, const char *name, mode_t *ret_before)
{
	CLEANUP_FD int fd =
	    openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == EACCES ? open_shut(parent, name, ret_before) : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	return is_our_own(&st) ? fd_take(&fd) : -EPERM;
}

/* Open and lock a directory of parent if it is a leftover; else -1. */
static int take_leftover(int parent, const char *name)
{
	const mode_t unchanged = (mode_t)-1;
	mode_t before = unchanged;
	CLEANUP_FD int fd = open_leftover(parent, name, &before);

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) { /* in use, by us or another process */
		if (before != unchanged)
			(void)fchmod(fd, before);
		return -1;
	}
	return is_in_place(parent, name, fd) ? fd_take(&fd) : -1;
}

static bool sweep_one(int parent, const char *name)
{
	struct remove_report report;
	CLEANUP_FD int fd = take_leftover(parent, name);

	return fd >= 0 && workspace_temp_remove(parent, name, fd, &report) == 0;
}

int workspace_sweep(const char *temp_dir)
{
	CLEANUP_WALK struct walk walk = WALK_INIT;
	CLEANUP_FD int parent = -1;
	struct walk_entry entry;
	int swept = 0;
	int r = workspace_temp_dir(temp_dir, &parent);

	if (r == 0)
		r = walk_init(&walk, parent, false);
	if (r < 0)
		return r;
	while ((r = walk_next(&walk, &entry)) > 0)
		if (is_our_name(entry.name))
			swept += sweep_one(parent, entry.name);
	return r < 0 ? r : swept;
}

/* Keep of a sample the names of leftovers. */
static void keep_dead(int parent, struct sample *sample)
{
	size_t kept = 0;

	for (size_t i = 0; i < sample->count; i++) {
		CLEANUP_FD int fd = take_leftover(parent, sample->names[i].text);

		if (fd >= 0)
			sample->names[kept++] = sample->names[i];
	}
	sample->count = kept;
}

bool workspace_look(const char *temp_dir, struct sample *ret)
{
	CLEANUP_FD int parent = -1;

	ret->count = 0;
	if (workspace_temp_dir(temp_dir, &parent) < 0 || sample_init(ret) < 0 ||
	    sample_take(ret, parent, 0, is_our_name) < 0)
		return false;
	keep_dead(parent, ret);
	return ret->count > 0;
}

void workspace_remove_found(const char *temp_dir, struct sample *found)
{
	CLEANUP_FD int parent = -1;
	bool again = true;

	if (workspace_temp_dir(temp_dir, &parent) < 0)
		return;
	while (again) {
		again = false;
		for (size_t i = 0; i < found->count; i++)
			again |= sweep_one(parent, found->names[i].text);
		/* Where some of a few were dead, there may be more. */
		again = again && !found->whole && workspace_look(temp_dir, found);
	}
}
