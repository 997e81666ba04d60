/* SPDX-License-Identifier: Apache-2.0 */
#include "session/files.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/memory.h"
#include "session/beneath.h"
#include "session/files_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 64 << 10 }; /* asked for at least, so that growth is noticed */

/* Open what `pin` (O_PATH) is, for reading. Through its own descriptor, so that what was
 * checked is what is opened: opening a pipe or a device is an act of its own. */
static int open_pinned(int dir, const char *path, int pin, const struct stat *st)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	CLEANUP_FD int fd = -1;
	char name[64];
	struct stat now;

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", pin);
	fd = openat(AT_FDCWD, name, flags);
	if (fd < 0 && errno == ENOENT) /* no /proc here */
		fd = beneath_open(dir, path, flags, 0);
	else if (fd < 0)
		return -errno;
	if (fd < 0)
		return fd;
	if (fstat(fd, &now) < 0)
		return -errno;
	if (now.st_dev != st->st_dev || now.st_ino != st->st_ino)
		return -ESTALE;
	return fd_take(&fd);
}

/* Open a regular file for reading; its size as it is now. */
static int open_regular(int dir, const char *path, uint64_t *ret_size)
{
	CLEANUP_FD int pin = beneath_open(dir, path, O_PATH, 0);
	struct stat st;

	if (pin < 0)
		return pin;
	if (fstat(pin, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -ENXIO;
	*ret_size = (uint64_t)st.st_size;
	return open_pinned(dir, path, pin, &st);
}

/* Read to the end of the file, wherever that is by then. -EFBIG past max. */
static int read_all(int fd, uint64_t expected, uint64_t max, struct buffer *out)
{
	size_t want = expected < max ? (size_t)expected + 1 : (size_t)max + 1;

	for (;;) {
		char *at;
		ssize_t n;

		/* One byte over max is room enough to see that there is more. */
		if (want > out->max - out->size)
			want = out->max - out->size;
		at = buffer_reserve(out, want);
		if (!at)
			return -ENOMEM;
		n = fd_read_full(fd, at, want);
		if (n < 0)
			return (int)n;
		out->size += (size_t)n;
		if (out->size > max)
			return -EFBIG;
		if ((size_t)n < want)
			return 0;
		want = out->size < READ_STEP ? READ_STEP : out->size;
	}
}

static int too_big(struct husk_error *err, const char *path, uint64_t max)
{
	(void)files_path_error(err, EFBIG, path, "read");
	if (err) {
		err->code = HUSK_E_TOO_BIG;
		(void)snprintf(err->message, sizeof(err->message),
			       "cannot be read: it is larger than %llu bytes",
			       (unsigned long long)max);
	}
	error_hint(err, "raise the bound, or read it in parts with a program in the box");
	return HUSK_E_TOO_BIG;
}

int files_read(const struct workspace *workspace, const char *path, uint64_t max_bytes,
	       void **ret_data, size_t *ret_size, struct husk_error *err)
{
	uint64_t max = max_bytes ? max_bytes : FILES_READ_MAX_DEFAULT;
	CLEANUP_FREE char *name = NULL;
	CLEANUP_FD int fd = -1;
	uint64_t size = 0;
	int r = files_path_parse(workspace, path, false, &name, err);

	if (r < 0)
		return r;
	if (max > SSIZE_MAX / 2)
		max = SSIZE_MAX / 2;
	fd = open_regular(workspace->fd, name, &size);
	if (fd < 0)
		return files_path_error(err, -fd, name, "read");
	if (size > max)
		return too_big(err, name, max);

	CLEANUP_BUFFER struct buffer data = BUFFER_INIT((size_t)max + 1);

	r = read_all(fd, size, max, &data);
	if (r == -EFBIG)
		return too_big(err, name, max);
	if (r < 0)
		return files_path_error(err, -r, name, "read");
	data.data[data.size] = '\0';
	*ret_data = data.data;
	*ret_size = data.size;
	data.data = NULL;
	return 0;
}
