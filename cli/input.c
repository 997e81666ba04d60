/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/input.h"

#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the size is not known beforehand. */
enum { FIRST_CAPACITY = 64 << 10 };

/* Room for one byte more than the file says it has: one read then sees its end. */
static size_t first_capacity(int fd, size_t max)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 0)
		return FIRST_CAPACITY;
	return (size_t)st.st_size < max ? (size_t)st.st_size + 1 : max + 1;
}

/* Up to capacity bytes; waits where fd does not. A count, 0 at the end, or -errno. */
static ssize_t read_some(int fd, char *data, size_t capacity)
{
	for (;;) {
		ssize_t n = read(fd, data, capacity);

		if (n >= 0)
			return n;
		if (errno == EAGAIN) {
			struct pollfd wait = {.fd = fd, .events = POLLIN};

			(void)poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
}

/* The whole of fd on the heap: 0 or -errno, -EFBIG past max. */
static int read_fd(int fd, size_t max, char **ret_text, size_t *ret_size)
{
	size_t capacity = first_capacity(fd, max), used = 0;
	char *text = NULL;
	ssize_t n;

	do {
		char *larger = used > max ? NULL : realloc(text, capacity + 1);

		if (!larger) {
			free(text);
			return used > max ? -EFBIG : -ENOMEM;
		}
		text = larger;
		do {
			n = read_some(fd, text + used, capacity - used);
			used += n > 0 ? (size_t)n : 0;
		} while (n > 0 && used < capacity);
		capacity = capacity > max / 2 ? max + 1 : capacity * 2;
	} while (n > 0);
	if (n < 0) {
		free(text);
		return (int)n;
	}
	text[used] = '\0';
	*ret_text = text;
	*ret_size = used;
	return 0;
}

int cli_input_strayed(const char *what, const char *path, const char *thing,
		      struct husk_error *err)
{
	(void)cli_error(err, what,
			"%s: in the workspace or a volume, where a box may have made it, "
			"there is a link on the way",
			path);
	cli_error_hint(err, "name the %s itself, without .. and without links", thing);
	return HUSK_E_INVALID;
}

static int failed(const char *what, const char *name, int r, struct husk_error *err)
{
	if (r == -EXDEV)
		return cli_input_strayed(what, name, "file", err);
	if (r == -ENOTSUP) {
		(void)cli_error(err, what, "%s: not a regular file", name);
		cli_error_hint(err, "nothing else is read where a box may have made it");
		return HUSK_E_INVALID;
	}
	return cli_error(err, what, "%s: %s", name, strerror(-r));
}

int cli_input_read(const char *what, const char *path, const char *const *places,
		   size_t max, char **ret_text, size_t *ret_size, bool *ret_inside,
		   struct husk_error *err)
{
	int fd = path ? cli_input_open(path, places, ret_inside) : STDIN_FILENO;
	const char *name = path ? path : "stdin";
	int r;

	if (!path && ret_inside)
		*ret_inside = false;
	r = fd < 0 ? fd : read_fd(fd, max, ret_text, ret_size);
	if (fd >= 0 && path)
		(void)close(fd);
	if (r == -EFBIG)
		return cli_error(err, what, "%s: larger than %zu MiB", name, max >> 20);
	if (r == -ENOMEM)
		return cli_error_memory(err, what);
	return r < 0 ? failed(what, name, r, err) : 0;
}
