/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Life as PID 1: reap whatever ends, answer the filter's notifications by ending the task
 * that asked, and leave when the main process has ended or the caller is gone.
 */
#include "runtime/init/init.h"

#include <errno.h>
#include <linux/ioctl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
	KERNEL_SIGSET = 8,
	CLOCK_MONOTONIC_ID = 1, /* CLOCK_MONOTONIC */
	WHILE_S = 3600,		/* without a deadline: any time will do */
	STOPS_AT_ONCE = 64,
};

struct span {
	int64_t s, ns;
};

/* One denied system call: note the first, end the task. Its process must not be able to
 * handle, block or ignore this, so it is SIGKILL; the library reports it as SIGSYS. */
static void answer(struct init *init)
{
	struct wire_progress *progress = &init->plan->progress;
	struct seccomp_notif request;

	memset(&request, 0, sizeof(request));
	if (raw3(SYS_ioctl, init->listener_fd, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return;
	if (progress->denied == 0) {
		progress->denied_nr = (uint32_t)request.data.nr;
		progress->denied_arch = request.data.arch;
	}
	progress->denied++;
	/* A thread of the main process is found under its group. */
	if (init->main_pid > 0 && raw3(SYS_tgkill, init->main_pid, request.pid, 0) == 0) {
		if (!progress->denied_main) {
			progress->denied_nr = (uint32_t)request.data.nr;
			progress->denied_arch = request.data.arch;
		}
		progress->denied_main = 1;
	}
	(void)raw2(SYS_kill, request.pid, SIGKILL);
}

/* A child's use holds that of its own children, as far as it waited for them. */
static void count(struct init *init, const struct rusage *usage)
{
	uint64_t largest = (uint64_t)usage->ru_maxrss;

	init->reaped_us +=
	    (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
	    (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
	if (largest > init->largest_kib)
		init->largest_kib = largest;
}

/* Returns the main process's wait status, or -1 while it lives. Where nothing is left to
 * reap, *left is 0. With WNOHANG tasks that stop for their tracer go on from here, and no
 * more than a few at a time: a box that stops without end must not keep the clock from
 * being looked at. */
static int reap(struct init *init, long options, int *left)
{
	int status = 0, main_status = -1;
	struct rusage usage;

	memset(&usage, 0, sizeof(usage));
	init->more = 0;
	for (int stops = 0; stops < STOPS_AT_ONCE;) {
		long pid = raw4(SYS_wait4, -1, &status, options | __WALL, &usage);

		if (pid == -EINTR)
			continue;
		if (pid <= 0) {
			*left = pid == 0;
			return main_status;
		}
		if (!WIFSTOPPED(status)) {
			/* A tracer is told of every end, and who is the parent again. */
			if (pid == init->main_pid || !trace_wanted(init))
				count(init, &usage);
			if (pid == init->main_pid)
				main_status = status;
		} else if (options & WNOHANG) {
			trace_stop(init, (int)pid, status);
			stops++;
		}
	}
	init->more = 1;
	*left = 1;
	return main_status;
}

/* left: 0 where init has no child any more. Then the box has no process any more, since
 * orphans are init's, and the kernel need not look through all of the host's for one. */
static _Noreturn void finish(struct init *init, uint32_t message, int status, int left)
{
	struct wire_report report;

	if (left)
		(void)raw2(SYS_kill, -1, SIGKILL);
	while (left)
		(void)reap(init, 0, &left);
	memset(&report, 0, sizeof(report));
	report.message = message;
	report.status = status;
	report.filter_kills = init->filter_kills;
	report.cpu_us =
	    init->reaped_us > init->used_us ? init->reaped_us - init->used_us : 0;
	report.largest_kib = init->largest_kib;
	report_send(init, &report);
	park_linger(init);
	init_exit(0);
}

/* What is left until the box's own last deadline. The caller keeps a nearer one; this is
 * for a caller that is stopped, or that lost the thread that made the call. */
static long time_left(const struct init *init, struct span *ret)
{
	struct span now = {0, 0};
	uint64_t now_us;

	(void)raw2(SYS_clock_gettime, CLOCK_MONOTONIC_ID, &now);
	now_us = (uint64_t)now.s * 1000000 + (uint64_t)now.ns / 1000;
	if (init->deadline_us == UINT64_MAX) {
		ret->s = WHILE_S;
		ret->ns = 0;
		return 1;
	}
	if (now_us >= init->deadline_us)
		return 0;
	now_us = init->deadline_us - now_us;
	ret->s = (int64_t)(now_us / 1000000);
	ret->ns = (int64_t)(now_us % 1000000 * 1000);
	return 1;
}

void watch_until_end(struct init *init)
{
	struct pollfd fds[4];
	uint64_t drained[16];
	int left, status, leaving = 0;

	memset(fds, 0, sizeof(fds));
	fds[0].fd = init->signal_fd;
	fds[1].fd = init->plan->caller_fd;
	fds[3].fd = init->plan->channel_fd;
	fds[0].events = fds[1].events = fds[2].events = fds[3].events = POLLIN;
	for (;;) {
		struct span span;
		long r;

		if (!time_left(init, &span))
			finish(init, WIRE_LATE, SIGKILL, 1);
		if (init->more)
			span = (struct span){0, 0};
		fds[2].fd = init->listener_fd;
		r = raw5(SYS_ppoll, fds, 4, &span, NULL, KERNEL_SIGSET);
		if (r == -EINTR || (r == 0 && !init->more))
			continue;
		/* Who cannot see what happens must not go on: the box ends with us. */
		if (r < 0)
			init_exit(1);
		/* The caller is gone: so is the box. */
		if (fds[1].revents)
			init_exit(1);
		/* Ended from here, its processes are reaped by us and their CPU time is
		 * counted. */
		if (fds[3].revents && park_obey(init))
			finish(init, WIRE_ENDED, SIGKILL, 1);
		if (fds[2].revents & POLLIN)
			answer(init);
		else if (fds[2].revents) {
			/* Nobody is left under the filter: all are on their way out of
			 * the kernel, and there is nothing to do but wait for that. */
			init->listener_fd = -1;
			leaving = !trace_wanted(init);
		}
		if (!fds[0].revents && !init->more && !leaving)
			continue;
		if (!leaving)
			(void)raw3(SYS_read, init->signal_fd, drained, sizeof(drained));
		status = reap(init, leaving ? 0 : WNOHANG, &left);
		if (status < 0)
			continue;
		workload_ended(init);
		finish(init, WIRE_ENDED, status, left);
	}
}
