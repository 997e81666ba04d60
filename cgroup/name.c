/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/name.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 16 };

/* prefix, the digits, and end; nothing else. */
static bool reads(const char *name, const char *prefix, const char *end)
{
	size_t size = strlen(prefix);

	if (strncmp(name, prefix, size) != 0)
		return false;
	name += size;
	return strspn(name, "0123456789abcdef") == CGROUP_NAME_DIGITS &&
	       strcmp(name + CGROUP_NAME_DIGITS, end) == 0;
}

enum cgroup_name_kind cgroup_name_kind(const char *name)
{
	if (reads(name, CGROUP_BOX_PREFIX, ""))
		return CGROUP_NAME_BOX;
	if (reads(name, CGROUP_LEAF_PREFIX, ""))
		return CGROUP_NAME_LEAF;
	if (reads(name, CGROUP_BOX_PREFIX, CGROUP_SCOPE_SUFFIX))
		return CGROUP_NAME_SCOPE;
	return CGROUP_NAME_FOREIGN;
}

int cgroup_name_random(const char *prefix, char ret[CGROUP_NAME_SIZE])
{
	uint64_t number;
	ssize_t n;

	do
		n = getrandom(&number, sizeof(number), 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(number))
		return n < 0 ? -errno : -EIO;
	(void)snprintf(ret, CGROUP_NAME_SIZE, "%s%016llx", prefix,
		       (unsigned long long)number);
	return 0;
}

int cgroup_name_lock(int dir, const char *name, const char *lock_file, int flags)
{
	CLEANUP_FD int fd = -1;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s%s%s", name, lock_file[0] ? "/" : "",
		       lock_file);
	fd = openat(dir, path, flags | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	return fd_take(&fd);
}

int cgroup_name_claim(int dir, const char *name, const char *lock_file, int flags)
{
	CLEANUP_FD int fd = -1;

	if (mkdirat(dir, name, 0755) < 0)
		return -errno;
	fd = cgroup_name_lock(dir, name, lock_file, flags);
	/* A sweeper that has the lock removes the directory; for any other failure we do.
	 */
	if (fd < 0) {
		if (fd != -EWOULDBLOCK && fd != -ENOENT)
			(void)unlinkat(dir, name, AT_REMOVEDIR);
		return fd_take(&fd);
	}
	/* We may have opened it before, and locked it after, a sweeper was through with
	 * it. */
	if (faccessat(dir, name, F_OK, 0) < 0) {
		int r = -errno;

		if (r != -ENOENT)
			(void)unlinkat(dir, name, AT_REMOVEDIR);
		return r;
	}
	return fd_take(&fd);
}

int cgroup_name_make(int dir, const char *prefix, const char *lock_file, int flags,
		     char ret[CGROUP_NAME_SIZE])
{
	int r = -EEXIST;

	for (int i = 0; i < TRIES; i++) {
		r = cgroup_name_random(prefix, ret);
		if (r < 0)
			return r;
		r = cgroup_name_claim(dir, ret, lock_file, flags);
		if (r != -EEXIST && r != -EWOULDBLOCK && r != -ENOENT)
			return r;
	}
	return r;
}
