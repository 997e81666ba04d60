/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a file of the workspace.
 *
 * The content goes to a file without a name (O_TMPFILE), so a process that is killed in
 * the middle leaves nothing. It is then linked under its name or, where that name is
 * taken, under one of ours and renamed over it: linkat cannot replace. File systems
 * without O_TMPFILE get a named file from the start. One of ours that a killed writer
 * left is removed by the next look for changes (session/snapshot_take.c). */
#include "session/files.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/temp_file.h"
#include "session/beneath.h"
#include "session/files_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	FILE_MODE = 0644,
	NAME_TRIES = 16, /* for a name that nobody has */
	/* For other writers to go: a second in all, since on a busy machine a process
	 * that was just forked has to wait for its turn. */
	WRITERS_TRIES = 150,
	WRITERS_QUICK = 50, /* of a millisecond, the others of ten */
};

/* 1 where the name is free, 0 where it may be replaced, else why not. */
static int check_target(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 1 : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) ? 0 : -ENXIO;
}

/* Some file systems report a failed write only now. */
static int close_written(int *fd)
{
	int taken = fd_take(fd);

	return close(taken) < 0 && errno != EINTR ? -errno : 0;
}

/* A file that is open for writing anywhere cannot be executed (ETXTBSY), and a process
 * that another thread forks just now holds a copy of our descriptor until its exec. A
 * lease for reading is granted only when no such copy is left. The file has no name yet,
 * so nobody can open it and break the lease, which would send a signal. A copy in a
 * process that forked and goes on without exec is not waited for. */
static void wait_for_writers(int readable)
{
	static const struct timespec quick = {.tv_nsec = 1000 * 1000},
				     slow = {.tv_nsec = 10 * 1000 * 1000};

	for (int i = 0; i < WRITERS_TRIES; i++) {
		if (fcntl(readable, F_SETLEASE, F_RDLCK) == 0) {
			(void)fcntl(readable, F_SETLEASE, F_UNLCK);
			return;
		}
		if (errno != EAGAIN)
			return;
		(void)nanosleep(i < WRITERS_QUICK ? &quick : &slow, NULL);
	}
}

/* Trade the descriptor of an unnamed file that was written for one that can only read. */
static int finish_unnamed(int *fd)
{
	char self[64];
	int readable, r;

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", *fd);
	readable = openat(AT_FDCWD, self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (readable < 0)
		return -errno;
	r = close_written(fd);
	*fd = readable;
	if (r == 0)
		wait_for_writers(readable);
	return r;
}

static int link_fd(int fd, int dir, const char *name)
{
	char self[64];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Give the unnamed file its name, over whatever has it. */
static int install_unnamed(int fd, int dir, const char *name, bool name_is_free)
{
	char temp[TEMP_FILE_NAME];
	int r = name_is_free ? link_fd(fd, dir, name) : -EEXIST;

	if (r == -EEXIST)
		temp_file_hold(fd);
	for (int i = 0; r == -EEXIST && i < NAME_TRIES; i++) {
		r = temp_file_name(TEMP_FILE_WORKSPACE, temp);
		if (r < 0)
			return r;
		r = link_fd(fd, dir, temp);
		if (r < 0)
			continue;
		if (renameat(dir, temp, dir, name) == 0)
			return 0;
		r = -errno;
		(void)unlinkat(dir, temp, 0);
		return r;
	}
	return r;
}

static int write_unnamed(int dir, const char *name, bool name_is_free, const void *data,
			 size_t size)
{
	CLEANUP_FD int fd =
	    openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, (mode_t)FILE_MODE);
	int r;

	if (fd < 0)
		return errno == EISDIR || errno == EINVAL ? -EOPNOTSUPP : -errno;
	r = fd_write_all(fd, data, size);
	if (r == 0)
		r = beneath_give(dir, fd);
	if (r < 0)
		return r;
	r = finish_unnamed(&fd);
	if (r == -ENOENT)
		return -EOPNOTSUPP; /* no /proc, so no way to name it */
	return r < 0 ? r : install_unnamed(fd, dir, name, name_is_free);
}

static int open_temp(int dir, char temp[TEMP_FILE_NAME])
{
	for (int i = 0; i < NAME_TRIES; i++) {
		int fd, r = temp_file_name(TEMP_FILE_WORKSPACE, temp);

		if (r < 0)
			return r;
		fd = openat(dir, temp,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    (mode_t)FILE_MODE);
		if (fd >= 0 || errno != EEXIST)
			return fd >= 0 ? fd : -errno;
	}
	return -EEXIST;
}

static int write_named(int dir, const char *name, const void *data, size_t size)
{
	char temp[TEMP_FILE_NAME];
	CLEANUP_FD int fd = open_temp(dir, temp);
	CLEANUP_FD int hold = -1; /* past the end of fd */
	int r;

	if (fd < 0)
		return fd;
	hold = openat(dir, temp, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	temp_file_hold(hold);
	r = fd_write_all(fd, data, size);
	if (r == 0)
		r = beneath_give(dir, fd);
	if (r == 0)
		r = close_written(&fd);
	if (r == 0 && renameat(dir, temp, dir, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, temp, 0);
	return r;
}

static int write_in(int dir, const char *name, const void *data, size_t size)
{
	int r = check_target(dir, name), is_free = r;

	if (r >= 0)
		r = fd_may_write(size);
	if (r < 0)
		return r;
	r = write_unnamed(dir, name, is_free == 1, data, size);
	return r == -EOPNOTSUPP ? write_named(dir, name, data, size) : r;
}

int files_write(const struct workspace *workspace, const char *path, const void *data,
		size_t size, struct husk_error *err)
{
	CLEANUP_FREE char *name = NULL;
	CLEANUP_FD int dir = -1;
	size_t made = 0;
	const char *last;
	int r;

	if (!data && size > 0)
		return error_set(err, HUSK_E_INVALID, "data",
				 "it is NULL, and size is not 0");
	r = files_path_parse(workspace, path, false, &name, err);
	if (r < 0)
		return r;
	dir = beneath_open_parent(workspace->fd, name, &made);
	if (dir < 0)
		return files_path_error(err, -dir, name, "written");
	last = strrchr(name, '/');
	r = write_in(dir, last ? last + 1 : name, data, size);
	if (r == 0)
		return 0;
	beneath_unmake(workspace->fd, name, made);
	return files_path_error(err, -r, name, "written");
}
