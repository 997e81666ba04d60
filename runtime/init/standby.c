/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the process that will execute a program waits for its call, in a parked box: with
 * its filter installed, stopped, and without a system call.
 */
#include "runtime/init/init.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

enum {
	KERNEL_SIGSET = 8,
	TURNS_MAX = 1 << 26, /* seconds */
	STOP_NS = 300000,    /* about what a filter takes */
	CLOCK_MONOTONIC_ID = 1,
};

/* In memory that init and its child share. */
static struct {
	uint32_t timed;	   /* a timer will stop the child */
	uint32_t filtered; /* its filter is installed */
	uint32_t called;   /* and the call is there */
} standby;

/* -- the child ------------------------------------------------------------------------
 */

static inline void pause_processor(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* A timer that stops us once: while the filter is being installed or soon after, however
 * busy the processor is. It has run out when the box is parked, and does not outlive the
 * exec, timer_create(2). */
void standby_arm(void)
{
	struct {
		uint64_t value;
		int signal, notify;
		uint64_t rest[6];
	} event;
	struct {
		int64_t every_s, every_ns, s, ns;
	} once = {0, 0, 0, STOP_NS};
	int timer = 0;

	memset(&event, 0, sizeof(event));
	event.signal = SIGSTOP;
	event.notify = SIGEV_SIGNAL;
	if (raw3(SYS_timer_create, CLOCK_MONOTONIC_ID, &event, &timer) == 0 &&
	    raw4(SYS_timer_settime, timer, 0, &once, NULL) == 0)
		__atomic_store_n(&standby.timed, 1, __ATOMIC_RELEASE);
}

/* Under the filter no call can be made to wait by: the process is stopped here, by its
 * timer or by init. Whoever else lets it go on ends it, and the spare with it. */
void standby_wait(void)
{
	__atomic_store_n(&standby.filtered, 1, __ATOMIC_RELEASE);
	for (uint32_t turns = 0; __atomic_load_n(&standby.called, __ATOMIC_ACQUIRE) == 0;
	     turns++) {
		if (turns == TURNS_MAX)
			__builtin_trap();
		pause_processor();
	}
}

/* -- init -----------------------------------------------------------------------------
 */

/* Init is told of no stop, neither of this child's nor of the program's later. The
 * disposition that the child has of it is made anew by its exec. */
long standby_prepare(void)
{
	return workload_default_signal(SIGCHLD, SA_NOCLDSTOP);
}

/* 1: the child has stopped; 0: not yet; -1: it has ended. */
static int has_stopped(const struct init *init, long options)
{
	int status = 0;
	long r;

	do {
		r = raw4(SYS_wait4, init->main_pid, &status, WUNTRACED | options, NULL);
	} while (r == -EINTR);
	if (r < 0 || (r > 0 && !WIFSTOPPED(status)))
		return -1;
	return r > 0;
}

/* Our child, reaped or not: it cannot fail. The step that is noted is the child's. */
static void signal_child(const struct init *init, int number)
{
	(void)raw2(SYS_kill, init->main_pid, number);
}

/* Its timer may have run out before its filter was installed: then it goes on. */
int standby_await(const struct init *init)
{
	int stopped = 0, over = 0, r;

	while (__atomic_load_n(&standby.filtered, __ATOMIC_ACQUIRE) == 0) {
		struct {
			int64_t s, ns;
		} nap = {0, 100000};

		r = has_stopped(init, WNOHANG);
		if (r < 0)
			return r;
		if (r > 0) {
			over = 1;
			stopped =
			    __atomic_load_n(&standby.filtered, __ATOMIC_ACQUIRE) != 0;
			if (!stopped)
				signal_child(init, SIGCONT);
		}
		(void)raw5(SYS_ppoll, NULL, 0, &nap, NULL, KERNEL_SIGSET);
	}
	if (stopped)
		return 0;
	if (over || __atomic_load_n(&standby.timed, __ATOMIC_ACQUIRE) == 0)
		signal_child(init, SIGSTOP);
	return has_stopped(init, 0) > 0 ? 0 : -1;
}

void standby_end(const struct init *init)
{
	__atomic_store_n(&standby.called, 1, __ATOMIC_RELEASE);
	signal_child(init, SIGCONT);
}
