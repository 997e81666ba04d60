/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = saved;
}

int fd_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int fd_may_write(size_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    size > limit.rlim_cur)
		return -EFBIG;
	return 0;
}

ssize_t fd_read_full(int fd, void *data, size_t size)
{
	char *at = data;
	size_t got = 0;

	while (got < size) {
		ssize_t n = read(fd, at + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

int fd_open_beneath(int dir, const char *path, uint64_t flags, uint64_t mode,
		    uint64_t resolve)
{
	struct open_how how = {
	    .flags = flags | O_CLOEXEC,
	    .mode = mode,
	    .resolve = resolve | RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	/* EAGAIN: a rename or mount elsewhere made the walk uncertain, openat2(2). */
	for (int tries = 0; tries < 64; tries++) {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	return -errno;
}

ssize_t fd_read_text(int dir, const char *path, char *text, size_t capacity)
{
	CLEANUP_FD int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = fd_read_full(fd, text, capacity);
	if (n < 0)
		return n;
	if ((size_t)n == capacity)
		return -EFBIG;
	text[n] = '\0';
	return n;
}

int fd_write_text(int dir, const char *path, const char *text)
{
	CLEANUP_FD int fd = openat(dir, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	size_t size = strlen(text);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, size);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EIO;
}
