/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/knob.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	PERIOD_US = 100000,	 /* the kernel's own default */
	PERIOD_MAX_US = 1000000, /* kernel/sched: max_cfs_quota_period */
	QUOTA_MIN_US = 1000,	 /* kernel/sched: min_cfs_quota_period */
};

/* More than any machine has; far below what overflows in the kernel. */
#define CPU_MILLI_MAX 1000000000u

/* include/linux/threads.h: PID_MAX_LIMIT; pids.max takes no more. */
#define PIDS_LIMIT 4194304u

uint64_t cgroup_memory_value(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	/* include/linux/page_counter.h: PAGE_COUNTER_MAX, in bytes. */
	uint64_t most = (uint64_t)LONG_MAX / page * page;

	return bytes > most ? most : bytes / page * page;
}

uint64_t cgroup_pids_value(uint64_t pids)
{
	return pids > PIDS_LIMIT ? PIDS_LIMIT : pids;
}

struct cgroup_quota cgroup_cpu_quota(uint64_t milli)
{
	struct cgroup_quota quota = {.period_us = PERIOD_US};

	if (milli > CPU_MILLI_MAX)
		milli = CPU_MILLI_MAX;
	quota.quota_us = milli * (PERIOD_US / 1000);
	/* A small share of the usual period is less than the least quota: a longer
	 * period. */
	if (quota.quota_us < QUOTA_MIN_US) {
		quota.quota_us = QUOTA_MIN_US;
		quota.period_us = PERIOD_MAX_US / milli;
	}
	return quota;
}

struct cgroup_knob cgroup_knob_number(enum cgroup_controller controller, const char *file,
				      enum cgroup_absence absent, uint64_t value)
{
	struct cgroup_knob knob = {
	    .controller = controller, .file = file, .absent = absent};

	(void)snprintf(knob.value, sizeof(knob.value), "%llu", (unsigned long long)value);
	return knob;
}

/* The same value, in the kernel's spelling: a newline at the end, and "max" for the most
 * memory that can be expressed. */
static bool same_value(const struct cgroup_knob *knob, const char *seen)
{
	unsigned long long asked, got;

	if (strcmp(knob->reads_as ? knob->reads_as : knob->value, seen) == 0)
		return true;
	return cgroup_number(knob->value, &asked) && cgroup_number(seen, &got) &&
	       got == ULLONG_MAX && asked == cgroup_memory_value(UINT64_MAX);
}

static int open_in(int dir, const char *name, const char *file, int flags)
{
	char path[128];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", name, file) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = openat(dir, path, flags | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* Setting a memory cap gives up when a signal waits for this thread, which in a program
 * with a fast timer one always does: it is tried again, and not for ever. */
static int put(int fd, const char *text)
{
	enum { TRIES = 1000 };
	ssize_t n = -1;

	for (int i = 0; i < TRIES && n < 0; i++) {
		n = write(fd, text, strlen(text));
		if (n < 0 && errno != EINTR)
			break;
	}
	return n < 0 ? -errno : 0;
}

int cgroup_knob_apply(int dir, const char *name, const struct cgroup_knob *knob,
		      char seen[64])
{
	CLEANUP_FD int fd = open_in(dir, name, knob->file, O_RDWR);
	ssize_t n;
	int r;

	seen[0] = '\0';
	if (fd < 0)
		return fd;
	r = put(fd, knob->value);
	if (r < 0)
		return r;
	n = pread(fd, seen, 63, 0);
	if (n < 0)
		return -errno;
	seen[n] = '\0';
	seen[strcspn(seen, "\n")] = '\0';
	return same_value(knob, seen) ? 0 : 1;
}

int cgroup_write(int dir, const char *name, const char *file, const char *text)
{
	CLEANUP_FD int fd = open_in(dir, name, file, O_WRONLY);

	if (fd < 0)
		return fd;
	return put(fd, text);
}

ssize_t cgroup_read(int dir, const char *name, const char *file, char *text, size_t size)
{
	CLEANUP_FD int fd = open_in(dir, name, file, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	/* One read: the kernel hands out these files whole. */
	n = read(fd, text, size - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return n;
}

/* Other threads' calls end every few milliseconds, and give some back. */
ssize_t cgroup_read_patiently(int dir, const char *name, const char *file, char *text,
			      size_t size)
{
	enum { TRIES = 100 };
	static const struct timespec nap = {.tv_nsec = 2000000};
	ssize_t n = cgroup_read(dir, name, file, text, size);

	for (int i = 0; i < TRIES && (n == -EMFILE || n == -ENFILE); i++) {
		(void)nanosleep(&nap, NULL);
		n = cgroup_read(dir, name, file, text, size);
	}
	return n;
}
