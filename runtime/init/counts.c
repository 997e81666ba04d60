/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel counts for a user rather than for a process is counted for the caller
 * too, whose user namespace is above the box's: without a bound of the box's own, one box
 * could use all of it up, and nobody with the caller's id could have any. Each user
 * namespace has its own bounds, user_namespaces(7), which are written here; the counts
 * that are resource limits are in runtime/rlimits.c, and that of user namespaces in
 * lockdown.c.
 */
#include "runtime/init/init.h"

#include <errno.h>
#include <fcntl.h>

/* Sorted by name. */
static const struct {
	const char *path, *most;
} counts[] = {
    {"proc/sys/user/max_inotify_instances", "32"}, /* a user has 128 */
    {"proc/sys/user/max_inotify_watches", "32768"},
};

/* A kernel without the count, or a host whose /proc/sys is read-only, has no bound that
 * could be set: then the user's own is the only one. */
static long set_count(const char *path, const char *most)
{
	long fd = raw4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
	long r;

	if (fd < 0)
		return fd == -ENOENT || fd == -EROFS || fd == -EACCES ? 0 : fd;
	r = raw3(SYS_write, fd, most, strlen(most));
	(void)raw1(SYS_close, fd);
	return r < 0 ? r : 0;
}

void lock_counts(struct init *init)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		(void)STEP(init, STEP_RLIMITS, counts[i].path,
			   set_count(counts[i].path, counts[i].most));
}
