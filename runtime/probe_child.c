/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/probe_child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/rawsys.h"

enum { KILL_MS = 2000 }; /* for its end: only the kernel can be in the way of that */

struct probe_child *probe_child_new(void)
{
	struct probe_child *child = aligned_alloc(64, sizeof(*child));

	if (!child)
		return NULL;
	memset(child, 0, offsetof(struct probe_child, stack));
	child->fd = child->fd2 = -1;
	child->limit_ms = PROBE_CHILD_MS;
	return child;
}

static long start(struct probe_child *child, int *pidfd)
{
	struct clone_args args = {
	    .flags = CLONE_VM | CLONE_PIDFD | child->spaces,
	    .pidfd = (uint64_t)(uintptr_t)pidfd,
	    .stack = (uint64_t)(uintptr_t)child->stack,
	    .stack_size = PROBE_CHILD_STACK,
	};
	sigset_t all, before;
	long pid;

	/* No handler of the caller may run in the child, which shares this memory. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid = raw_clone3(&args, sizeof(args), probe_child_main, child, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int write_maps(const struct probe_child *child, long pid)
{
	static const char *const names[] = {"setgroups", "uid_map", "gid_map"};
	const char *const texts[] = {"deny", child->uid_map, child->gid_map};
	char path[64];
	int r = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && r == 0; i++) {
		(void)snprintf(path, sizeof(path), "/proc/%ld/%s", pid, names[i]);
		r = fd_write_text(AT_FDCWD, path, texts[i]);
	}
	return r;
}

/* True where the child has ended. */
static bool wait_end(int pidfd, int limit_ms)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};
	int64_t until = clock_ms() + limit_ms;

	for (;;) {
		int64_t left = until - clock_ms();
		int r = poll(&end, 1, left > 0 ? (int)left : 0);

		if (r > 0)
			return true;
		if (left <= 0)
			return false;
	}
}

static void fails(struct probe_answer *answer, uint32_t step, int error)
{
	answer->state = PROBE_FAILS;
	answer->step = step;
	answer->error = error;
}

/* What the child left in memory, and how it ended. */
static void judge(const struct probe_child *child, const siginfo_t *end,
		  struct probe_answer *ret)
{
	if (child->done) {
		if (child->value < 0) {
			fails(ret, child->step, (int)-child->value);
			return;
		}
		ret->state = PROBE_WORKS;
		ret->value = child->value;
		return;
	}
	fails(ret, child->step, ECANCELED);
	if (end->si_code != CLD_EXITED)
		ret->signal = end->si_status;
}

/* Returns false where the child is stuck in the kernel: its memory must stay. */
static bool see_through(struct probe_child *child, int pidfd, int map_error,
			struct probe_answer *ret)
{
	siginfo_t end = {0};
	bool late = !wait_end(pidfd, child->limit_ms);

	if (late) {
		(void)raw4(SYS_pidfd_send_signal, pidfd, SIGKILL, 0, 0);
		if (!wait_end(pidfd, KILL_MS)) {
			fails(ret, child->step, ETIMEDOUT);
			return false;
		}
	}
	(void)raw5(SYS_waitid, P_PIDFD, pidfd, &end, WEXITED | __WALL, NULL);
	if (map_error < 0)
		fails(ret, STEP_ID_MAP, -map_error);
	else if (late)
		fails(ret, child->step, ETIMEDOUT);
	else
		judge(child, &end, ret);
	return true;
}

void probe_child_run(struct probe_child *child, struct probe_answer *ret)
{
	CLEANUP_FD int caller_fd = -1;
	int pidfd = -1, r = 0;
	long pid;

	*ret = (struct probe_answer){0};
	(void)snprintf(child->uid_map, sizeof(child->uid_map), "0 %u 1", child->ids.uid);
	(void)snprintf(child->gid_map, sizeof(child->gid_map), "0 %u 1", child->ids.gid);
	caller_fd = (int)raw2(SYS_pidfd_open, getpid(), 0);
	child->caller_fd =
	    caller_fd; /* without one, the parent-death signal alone guards */
	pid = start(child, &pidfd);
	if (pid < 0) {
		fails(ret, STEP_CLONE, (int)-pid);
		free(child);
		return;
	}
	if (child->ids.foreign && (child->spaces & CLONE_NEWUSER)) {
		r = write_maps(child, pid);
		child->go = r < 0 ? PROBE_STOP : PROBE_GO;
		(void)raw3(SYS_futex, &child->go, FUTEX_WAKE, 1);
	}
	if (see_through(child, pidfd, r, ret))
		free(child);
	fd_close(&pidfd);
}
