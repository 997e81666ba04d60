/* SPDX-License-Identifier: Apache-2.0 */
#include "base/temp_file.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ending[] = ".tmp";

enum { DIGITS = 16 };

int temp_file_name(const char *prefix, char ret[TEMP_FILE_NAME])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return -errno;
	(void)snprintf(ret, TEMP_FILE_NAME, "%s%016llx%s", prefix,
		       (unsigned long long)number, ending);
	return 0;
}

bool temp_file_is(const char *prefix, const char *name)
{
	size_t size = strlen(prefix);

	return strncmp(name, prefix, size) == 0 &&
	       strspn(name + size, "0123456789abcdef") == DIGITS &&
	       strcmp(name + size + DIGITS, ending) == 0;
}

void temp_file_hold(int fd)
{
	(void)flock(fd, LOCK_SH | LOCK_NB);
}

bool temp_file_sweep(int dir, const char *name)
{
	CLEANUP_FD int fd =
	    openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat by_name, by_fd;

	if (fd < 0 || fstat(fd, &by_fd) < 0 || !S_ISREG(by_fd.st_mode) ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	/* Its maker may have given it its own name meanwhile. */
	return fstatat(dir, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       by_name.st_dev == by_fd.st_dev && by_name.st_ino == by_fd.st_ino &&
	       unlinkat(dir, name, 0) == 0;
}

void temp_file_sweep_all(int dir, const char *prefix)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!stream) {
		fd_close(&fd);
		return;
	}
	while ((entry = readdir(stream)))
		if (temp_file_is(prefix, entry->d_name))
			(void)temp_file_sweep(dir, entry->d_name);
	(void)closedir(stream);
}
