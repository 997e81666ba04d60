/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/kill.h"

#include "base/fd.h"
#include "base/memory.h"
#include "cgroup/knob.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* The listing is read in one piece. What does not fit comes in the next round. */
enum { LIST_SIZE = 64 << 10, BATCH = 64 };

enum { FIRST_PAUSE_US = 100, LAST_PAUSE_US = 5000, GIVE_UP_US = 2000000 };

/* The next process id in a listing; 0 at its end. Zeros in it are processes outside of
 * our PID namespace, of which a box has none. */
static pid_t next_pid(const char **at)
{
	while (**at) {
		char *end;
		long pid = strtol(*at, &end, 10);

		if (end == *at)
			return 0;
		*at = *end == '\n' ? end + 1 : end;
		if (pid > 0)
			return (pid_t)pid;
	}
	return 0;
}

static bool listed(const char *list, pid_t wanted)
{
	pid_t pid;

	while ((pid = next_pid(&list)) > 0)
		if (pid == wanted)
			return true;
	return false;
}

/*
 * A process id may be given to somebody else's process between the reading of the list
 * and the signal. So: take hold of each by a pidfd, read the list again, and signal those
 * that are still on it. If the id has changed hands before the pidfd was opened, then
 * either the new process is in the group as well, or the id is no longer listed; if
 * after, the signal goes nowhere.
 */
static int kill_batch(int dir, const char *name, char *list, const char **rest)
{
	int fds[BATCH], r = 0;
	pid_t pids[BATCH];
	size_t count = 0;
	ssize_t n;

	while (count < BATCH && (pids[count] = next_pid(rest)) > 0) {
		fds[count] = (int)syscall(SYS_pidfd_open, pids[count], 0);
		if (fds[count] < 0 && errno == ESRCH)
			continue;
		if (fds[count] < 0)
			r = -errno;
		count++;
	}
	n = cgroup_read(dir, name, "cgroup.procs", list, LIST_SIZE);
	for (size_t i = 0; i < count; i++) {
		if (n >= 0 && listed(list, pids[i])) {
			if (fds[i] >= 0)
				(void)syscall(SYS_pidfd_send_signal, fds[i], SIGKILL,
					      NULL, 0);
			else /* Linux before 5.3, or no descriptors left */
				(void)kill(pids[i], SIGKILL);
		}
		fd_close(&fds[i]);
	}
	return n < 0 ? (int)n : r == -ENOSYS || r == -EPERM || r == -EMFILE ? 0 : r;
}

static int kill_until_empty(int dir, const char *name)
{
	CLEANUP_FREE char *list = malloc(LIST_SIZE);
	CLEANUP_FREE char *again = malloc(LIST_SIZE);
	long pause = FIRST_PAUSE_US;

	if (!list || !again)
		return -ENOMEM;
	for (long waited = 0; waited < GIVE_UP_US; waited += pause) {
		ssize_t n = cgroup_read(dir, name, "cgroup.procs", list, LIST_SIZE);
		const char *rest = list;
		int r = 0;

		if (n <= 0)
			return (int)n;
		while (*rest && r == 0)
			r = kill_batch(dir, name, again, &rest);
		if (r < 0)
			return r;
		nanosleep(&(struct timespec){.tv_nsec = pause * 1000}, NULL);
		pause = pause * 2 > LAST_PAUSE_US ? LAST_PAUSE_US : pause * 2;
	}
	return -ETIMEDOUT;
}

int cgroup_kill_listed(int dir, const char *name)
{
	/* Either stops a fork bomb; each is there only in some groups. A frozen process
	 * of v2 still dies of SIGKILL. */
	(void)cgroup_write(dir, name, "pids.max", "0");
	(void)cgroup_write(dir, name, "cgroup.freeze", "1");
	return kill_until_empty(dir, name);
}

int cgroup_kill_group(int dir, const char *name)
{
	int r = cgroup_write(dir, name, "cgroup.kill", "1");

	return r == -ENOENT ? cgroup_kill_listed(dir, name) : r;
}
