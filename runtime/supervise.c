/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host side of a running box: one thread, one poll loop. It ends with init's report,
 * with init's death, at the deadline, or when the caller says so; never because of what a
 * stream does or does not do, and whoever still holds a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "runtime/run.h"
#include "runtime/streams.h"
#include "runtime/timing.h"

enum watched {
	WATCH_CHANNEL,
	WATCH_SHIM,
	WATCH_OUT,
	WATCH_ERR,
	WATCH_IN,
	WATCH_STDIN,
	WATCH_CANCEL,
	WATCH_CANCEL2,
	WATCH_RESIZE,
	WATCH_COUNT
};

enum {
	ROUNDS = 4,	    /* reads of one stream before the others get their turn */
	DRAIN = 1 << 20,    /* reads at the end: all that the pipe holds */
	ASK_MS = 300,	    /* how long init may take to end the box by itself */
	KILL_RETRY_MS = 50, /* between two attempts to end a box that does not die */
	SHIM_MS = 10000,    /* how long the shim may take to end when init has */
	LOOK_US = 50000,    /* between two calls of on_wait */
};

static void kill_init(const struct run *run)
{
	if (run->stub.init_pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, run->stub.init_pidfd, SIGKILL, NULL,
			      0);
}

void run_kill(struct run *run)
{
	/* By the cgroup first: it reaches what a stopped or slow init would not. */
	if (run->cgroup)
		(void)cgroup_box_kill(run->cgroup);
	kill_init(run);
}

/* Init ends the box itself when asked, and then the CPU time of all its processes is
 * known. While it is still setting up it does not listen, and reap() goes on to kill it.
 */
static void ask_end(const struct run *run)
{
	if (run->channel < 0 ||
	    send(run->channel, "e", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		kill_init(run);
}

static void set_watch(struct pollfd *fds, const struct run *run,
		      const struct streams *streams)
{
	const struct box_call *call = run->call;

	memset(fds, 0, WATCH_COUNT * sizeof(*fds));
	for (int i = 0; i < WATCH_COUNT; i++)
		fds[i].events = POLLIN;
	fds[WATCH_CHANNEL].fd = run->channel;
	fds[WATCH_SHIM].fd = run->shim_fd;
	fds[WATCH_OUT].fd = run->out;
	fds[WATCH_ERR].fd = run->err;
	/* Also without anything to write: the other end may close. */
	fds[WATCH_IN].fd = run->in;
	fds[WATCH_IN].events = streams_want_write(streams) ? POLLOUT : 0;
	fds[WATCH_STDIN].fd = streams_want_read(streams) ? call->stdin_fd : -1;
	fds[WATCH_CANCEL].fd = call->cancel_fd;
	fds[WATCH_CANCEL2].fd = call->cancel_fd2;
	fds[WATCH_RESIZE].fd = call->terminal ? call->resize_fd : -1;
}

/* For a box that is not waited for to its very end; wait(2) tells the rest more. */
static void note_usage(const struct run *run, const struct wire_report *report)
{
	struct rusage *usage = &run->outcome->rusage;

	if (!run->warm)
		return;
	usage->ru_utime.tv_sec = (time_t)(report->cpu_us / 1000000);
	usage->ru_utime.tv_usec = (suseconds_t)(report->cpu_us % 1000000);
	usage->ru_maxrss = (long)report->largest_kib;
}

static void note_report(struct run *run, const struct wire_report *report)
{
	struct box_outcome *outcome = run->outcome;
	char subject[sizeof(report->subject)];

	run->reported = true;
	note_usage(run, report);
	switch (report->message) {
	case WIRE_FAILED:
		memcpy(subject, report->subject, sizeof(subject));
		subject[sizeof(subject) - 1] = '\0';
		run_failed(run, report->step, report->error, subject);
		break;
	case WIRE_NO_PROGRAM:
		outcome->end = BOX_NO_PROGRAM;
		outcome->error = report->error;
		outcome->found = report->found != 0;
		break;
	case WIRE_LATE:
		outcome->end = BOX_TIMED_OUT;
		break;
	default:
		outcome->end = BOX_ENDED;
		outcome->started = true;
		outcome->status = report->status;
		outcome->filter_kills = report->filter_kills != 0;
		break;
	}
}

/* The terminal's other side is what is shown and, once more, what is typed. 0, or -1
 * where it cannot be held: the box is of no use then. */
static int take_terminal(struct run *run, int fd)
{
	run->out = fd;
	if (fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -1;
	run->in = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return run->in < 0 ? -1 : 0;
}

static void resize(struct run *run)
{
	struct box_size size;
	struct winsize window;

	if (read(run->call->resize_fd, &size, sizeof(size)) != (ssize_t)sizeof(size))
		return;
	window = (struct winsize){.ws_row = size.rows, .ws_col = size.columns};
	if (run->out >= 0)
		(void)ioctl(run->out, TIOCSWINSZ, &window);
}

/* 1: the report has come. 0: not yet. -1: it will not come any more. */
static int read_report(struct run *run)
{
	struct wire_report report;
	CLEANUP_FD int fd = -1;
	ssize_t n = run_receive(run->channel, &report, &fd, 1);

	if (n == (ssize_t)sizeof(report) && report.message == WIRE_TERMINAL)
		return take_terminal(run, fd_take(&fd));
	if (n == (ssize_t)sizeof(report)) {
		timing_reported(run);
		note_report(run, &report);
		return 1;
	}
	/* The kernel may be short of memory: the report is still there the next time. */
	if (n < 0 &&
	    (errno == EAGAIN || errno == EINTR || errno == ENOMEM || errno == ENOBUFS))
		return 0;
	return -1;
}

struct wire_progress run_progress(const struct run *run)
{
	struct wire_progress progress = {0};

	if (pread(run->block_fd, &progress, sizeof(progress),
		  offsetof(struct wire_header, progress)) != (ssize_t)sizeof(progress))
		progress = (struct wire_progress){0};
	return progress;
}

/* Init is dead without a word. How far it came it wrote into the plan; the stub left its
 * failure in our own memory. */
static void note_lost(struct run *run)
{
	struct box_outcome *outcome = run->outcome;
	struct wire_progress progress = run_progress(run);

	if (run->stub.step != 0) {
		run_failed(run, run->stub.step, run->stub.error, NULL);
		return;
	}
	run->lost = true;
	if (progress.started) {
		outcome->end = BOX_LOST;
		outcome->started = true;
		return;
	}
	run_failed(run, progress.step ? progress.step : STEP_EXEC_INIT, ECANCELED,
		   "init was killed");
}

static int timeout_left(const struct run *run, struct timespec *ret)
{
	uint64_t now = clock_us(), end = run->begin_us + run->call->timeout_us;
	uint64_t left = now < end ? end - now : 0;

	ret->tv_sec = (time_t)(left / 1000000);
	ret->tv_nsec = (long)(left % 1000000) * 1000;
	return left > 0;
}

/* Not longer than until on_wait is due. */
static void shorten_to_look(const struct run *run, uint64_t look_at,
			    struct timespec *left)
{
	uint64_t now = clock_us(), wait = look_at > now ? look_at - now : 0;

	if (!run->call->on_wait ||
	    (uint64_t)left->tv_sec * 1000000 + (uint64_t)left->tv_nsec / 1000 <= wait)
		return;
	left->tv_sec = 0;
	left->tv_nsec = (long)wait * 1000;
}

/* The caller's own look at what happened meanwhile. A signal that comes between the last
 * look and the wait interrupts nothing: hence the clock. */
static bool caller_stops(const struct run *run, bool interrupted, uint64_t *look_at)
{
	uint64_t now;

	if (!run->call->on_wait)
		return false;
	now = clock_us();
	if (!interrupted && now < *look_at)
		return false;
	*look_at = now + LOOK_US;
	return run->call->on_wait(run->call->user) != 0;
}

static void serve_streams(struct streams *streams, const struct pollfd *fds)
{
	struct run *run = streams->run;

	if (fds[WATCH_OUT].revents)
		streams_take(streams, 1, ROUNDS);
	if (fds[WATCH_ERR].revents)
		streams_take(streams, 2, ROUNDS);
	if (fds[WATCH_IN].revents & POLLOUT)
		streams_feed(streams);
	else if (fds[WATCH_IN].revents)
		fd_close(&run->in); /* nobody reads it any more */
	if (fds[WATCH_STDIN].revents && streams_want_read(streams))
		streams_refill(streams);
}

/* The report comes behind the last byte of the last program, and the streams were looked
 * at after the channel: what had nothing then will have nothing. */
static void note_quiet(struct streams *streams, const struct pollfd *fds)
{
	streams->quiet[0] = !fds[WATCH_OUT].revents;
	streams->quiet[1] = !fds[WATCH_ERR].revents;
}

/* Until one of the four ends. Returns true where the box must be killed. */
static bool watch(struct run *run, struct streams *streams)
{
	struct pollfd fds[WATCH_COUNT];
	uint64_t look_at = run->begin_us + LOOK_US;
	struct timespec left;

	for (;;) {
		int r;

		if (!timeout_left(run, &left)) {
			/* A report that is there already wins: the program was in time.
			 */
			if (read_report(run) > 0)
				return false;
			run->outcome->end = BOX_TIMED_OUT;
			return true;
		}
		streams_retype(streams);
		streams_shorten(streams, &left);
		shorten_to_look(run, look_at, &left);
		set_watch(fds, run, streams);
		r = ppoll(fds, WATCH_COUNT, &left, NULL);
		if (caller_stops(run, r < 0, &look_at)) {
			run->outcome->end = BOX_CANCELLED;
			return true;
		}
		if (r <= 0)
			continue;
		if (fds[WATCH_CHANNEL].revents) {
			r = read_report(run);
			if (r > 0) {
				note_quiet(streams, fds);
				return false;
			}
			if (r < 0)
				fd_close(&run->channel);
		}
		if (fds[WATCH_SHIM].revents) {
			if (run->channel < 0 || read_report(run) <= 0)
				note_lost(run);
			return false;
		}
		serve_streams(streams, fds);
		if (fds[WATCH_RESIZE].revents)
			resize(run);
		if (fds[WATCH_CANCEL].revents || fds[WATCH_CANCEL2].revents ||
		    streams->refused) {
			run->outcome->end = BOX_CANCELLED;
			return true;
		}
	}
}

/* The shim ends after init, unless somebody killed it: then init is nobody's child and
 * must not be left. */
static void end_orphan(struct run *run)
{
	struct pollfd init = {.fd = run->stub.init_pidfd, .events = POLLIN};

	while (init.fd >= 0 && poll(&init, 1, 0) == 0) {
		run_kill(run);
		(void)poll(&init, 1, KILL_RETRY_MS);
	}
}

/* Init has ended and the shim, which waits for it, follows at once, unless somebody has
 * stopped it, or all processors are busy. It is killed late, since it shares the caller's
 * descriptors: one that it has just opened to map the ids would stay open. */
static void end_shim(struct run *run)
{
	struct pollfd shim = {.fd = run->shim_fd, .events = POLLIN};
	bool is_late;

	if (poll(&shim, 1, KILL_RETRY_MS) != 0)
		return;
	if (run->shim_end_us == 0)
		run->shim_end_us = clock_us() + SHIM_MS * 1000;
	is_late = clock_us() >= run->shim_end_us;
	(void)syscall(SYS_pidfd_send_signal, run->shim_fd, is_late ? SIGKILL : SIGCONT,
		      NULL, 0);
}

/* Wait for the shim, which waits for init; with init the kernel has ended everything in
 * the box. The streams are served meanwhile, so that nothing waits for us. */
static void reap(struct run *run, struct streams *streams, bool killed)
{
	struct pollfd fds[WATCH_COUNT];
	siginfo_t info = {0};
	struct pollfd *init = &fds[WATCH_IN]; /* input is over: its place is free */
	uint64_t kill_at = killed ? clock_us() + ASK_MS * 1000 : UINT64_MAX;

	for (;;) {
		uint64_t now = clock_us();

		if (now >= kill_at) {
			run_kill(run);
			kill_at = now + KILL_RETRY_MS * 1000;
		}
		set_watch(fds, run, streams);
		fds[WATCH_CHANNEL].fd = fds[WATCH_CANCEL].fd = fds[WATCH_CANCEL2].fd = -1;
		fds[WATCH_STDIN].fd = fds[WATCH_RESIZE].fd = -1;
		*init = (struct pollfd){.fd = run->stub.init_pidfd, .events = POLLIN};
		/* A stream that never rests must not keep the clock from being looked at.
		 */
		if (poll(fds, WATCH_COUNT,
			 killed ? (int)((kill_at - now) / 1000) + 1 : -1) <= 0)
			continue;
		if (fds[WATCH_SHIM].revents)
			break;
		if (init->revents) {
			end_shim(run);
			continue;
		}
		serve_streams(streams, fds);
	}
	/* The raw call gives the resource usage as well, waitid(2). */
	(void)syscall(SYS_waitid, P_PIDFD, run->shim_fd, &info, WEXITED | __WALL,
		      &run->outcome->rusage);
	end_orphan(run);
	streams_take(streams, 1, DRAIN);
	streams_take(streams, 2, DRAIN);
}

void run_abandon(struct run *run)
{
	struct pollfd shim = {.fd = run->shim_fd, .events = POLLIN};
	struct pollfd init = {.fd = run->stub.init_pidfd, .events = POLLIN};
	siginfo_t info = {0};

	for (;;) {
		run_kill(run);
		if (poll(&shim, 1, KILL_RETRY_MS) > 0)
			break;
		if (init.fd < 0 || poll(&init, 1, 0) > 0)
			end_shim(run);
	}
	(void)syscall(SYS_waitid, P_PIDFD, run->shim_fd, &info, WEXITED | __WALL, NULL);
	end_orphan(run);
}

/* What init wrote down while it lived, also where it was killed before it could report.
 */
static void note_progress(struct run *run)
{
	struct box_outcome *outcome = run->outcome;
	struct wire_progress progress = run_progress(run);

	if (outcome->end == BOX_TIMED_OUT || outcome->end == BOX_CANCELLED)
		outcome->started = progress.started != 0;
	outcome->denied = progress.denied;
	outcome->denied_main = progress.denied_main != 0;
	if (progress.denied > 0)
		(void)seccomp_syscall_name(progress.denied_arch, progress.denied_nr,
					   outcome->denied_call,
					   sizeof(outcome->denied_call));
}

/* A box that was ended has reported while nobody listened. */
static void take_late_usage(struct run *run)
{
	struct wire_report report;
	CLEANUP_FD int fd = -1;

	if (run->warm && run->channel >= 0 &&
	    run_receive(run->channel, &report, &fd, 1) == (ssize_t)sizeof(report))
		note_usage(run, &report);
}

void run_supervise(struct run *run)
{
	struct streams streams;
	bool kill_it;

	streams_init(&streams, run);
	kill_it = watch(run, &streams);
	if (kill_it)
		ask_end(run);
	else if (run->outcome->end == BOX_ENDED && run->outcome->started)
		run_count(run); /* while the kernel takes init's mounts down */
	if (run->warm && run->reported) {
		/* Who could still write is dead: what is in the pipes is all. */
		for (int stream = 1; stream <= 2; stream++) {
			if (!streams.quiet[stream - 1])
				streams_take(&streams, stream, DRAIN);
		}
	} else {
		reap(run, &streams, kill_it);
		take_late_usage(run);
	}
	note_progress(run);
	streams_deinit(&streams);
}

void run_bury(struct run *run)
{
	struct pollfd shim = {.fd = run->shim_fd, .events = POLLIN};
	siginfo_t info = {0};
	uint64_t kill_at = clock_us() + ASK_MS * 1000;

	if (run->shim_fd < 0)
		return;
	while (poll(&shim, 1, KILL_RETRY_MS) <= 0) {
		struct pollfd init = {.fd = run->stub.init_pidfd, .events = POLLIN};

		if (init.fd >= 0 && poll(&init, 1, 0) > 0)
			end_shim(run);
		else if (clock_us() >= kill_at)
			run_kill(run);
	}
	(void)waitid(P_PIDFD, (id_t)run->shim_fd, &info, WEXITED | __WALL);
	end_orphan(run);
}
