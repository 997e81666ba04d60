/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: the owning attribute, and calls that survive EINTR. Every function here
 * returns 0 or a count on success and -errno on failure. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Close *fd if it is not negative, keep errno, set it to -1. */
void fd_close(int *fd);

/* Owns a descriptor until the scope ends: CLEANUP_FD int fd = -1; */
#define CLEANUP_FD __attribute__((cleanup(fd_close)))

/* Hand over: returns *fd and disarms the owner. */
static inline int fd_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Write all of data; short writes are continued. */
int fd_write_all(int fd, const void *data, size_t size);

/* May this process write a file of that size? Past RLIMIT_FSIZE a write would send it
 * SIGXFSZ, which ends it. 0 or -EFBIG. */
int fd_may_write(size_t size);

/* Read up to size bytes until end-of-file; returns how many there were. */
ssize_t fd_read_full(int fd, void *data, size_t size);

/* openat2(2) beneath dir: no link of any kind is followed out, no magic link at all.
 * `resolve` adds RESOLVE_* bits (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS are always set).
 * Returns the descriptor (close-on-exec) or -errno; -ENOSYS before Linux 5.6. */
int fd_open_beneath(int dir, const char *path, uint64_t flags, uint64_t mode,
		    uint64_t resolve);

/* Read a small text file (as in /proc or a cgroup) whole and end it with NUL.
 * Returns the length without the NUL; -EFBIG where it does not fit. */
ssize_t fd_read_text(int dir, const char *path, char *text, size_t capacity);

/* Write a short text to an existing file with one write(2), as kernel files want it. */
int fd_write_text(int dir, const char *path, const char *text);

#endif
