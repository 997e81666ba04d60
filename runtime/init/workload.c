/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From init to the program.
 *
 * The child shares init's memory and its descriptor table until it executes, and init
 * waits for that, as with vfork(2). So the seccomp listener that it opens is init's at
 * once, a failure is written where init reads it, and every descriptor but 0, 1 and 2 is
 * close-on-exec. Its filter comes last: what runs after it is execve alone. Before that
 * it waits until init is under a filter of its own, which it must not inherit.
 */
#include "runtime/init/init.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>

enum {
	STDIN_RIGHT = 0,
	STDERR_RIGHT = 2,
	SOURCE_RIGHT = 3, /* of an interpreter that is held */
	KERNEL_SIGSET = 8,
	SIGNALS = 64,
	PATH_LIMIT = 4096,
};

/* What the child left behind in the shared memory. */
struct outcome {
	uint32_t step; /* 0: executed */
	long error;
	uint32_t guarded; /* futex: init is under its filter */
	uint32_t
	    busy; /* futex: the kernel clears it when the child has left our memory */
};

static struct outcome outcome;

void workload_place_stdio(struct init *init)
{
	struct wire_header *plan = init->plan;
	int *mine[] = {&plan->channel_fd, &plan->caller_fd, &init->signal_fd,
		       &plan->stdin_fd,	  &plan->stdout_fd, &plan->stderr_fd,
		       &plan->source_fd};
	long fd;

	/* Whatever sits where the workload's are to be makes room first. */
	for (size_t i = 0; i < sizeof(mine) / sizeof(mine[0]); i++) {
		if (*mine[i] < 0 || *mine[i] > SOURCE_RIGHT)
			continue;
		*mine[i] = (int)STEP(
		    init, STEP_STDIO, NULL,
		    raw3(SYS_fcntl, *mine[i], F_DUPFD_CLOEXEC, SOURCE_RIGHT + 1));
	}
	if (plan->stdin_fd < 0) {
		fd = STEP(
		    init, STEP_STDIO, "/dev/null",
		    raw4(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0));
		if (fd <= STDERR_RIGHT)
			fd = STEP(init, STEP_STDIO, NULL,
				  raw3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, SOURCE_RIGHT + 1));
		plan->stdin_fd = (int)fd;
	}
	(void)STEP(init, STEP_STDIO, NULL, raw3(SYS_dup3, plan->stdin_fd, 0, 0));
	(void)STEP(init, STEP_STDIO, NULL, raw3(SYS_dup3, plan->stdout_fd, 1, 0));
	(void)STEP(init, STEP_STDIO, NULL, raw3(SYS_dup3, plan->stderr_fd, 2, 0));
	(void)raw1(SYS_close, plan->stdin_fd);
	(void)raw1(SYS_close, plan->stdout_fd);
	(void)raw1(SYS_close, plan->stderr_fd);
	if (plan->source_fd >= 0) {
		(void)STEP(init, STEP_STDIO, NULL,
			   raw3(SYS_dup3, plan->source_fd, SOURCE_RIGHT, 0));
		(void)raw1(SYS_close, plan->source_fd);
	}
}

long workload_default_signal(int number, unsigned long flags)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} action;

	memset(&action, 0, sizeof(action));
	action.flags = flags;
	return raw4(SYS_rt_sigaction, number, &action, NULL, KERNEL_SIGSET);
}

void workload_default_signals(void)
{
	for (int sig = 1; sig <= SIGNALS; sig++)
		(void)workload_default_signal(sig, 0);
}

/* Magic links are refused: /proc/self/fd/N must not lead anywhere. */
static long enter_workdir(const char *path)
{
	struct open_how how;
	long fd, r;

	memset(&how, 0, sizeof(how));
	how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	how.resolve = RESOLVE_NO_MAGICLINKS;
	fd = raw4(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (fd < 0)
		return fd;
	r = raw1(SYS_fchdir, fd);
	(void)raw1(SYS_close, fd);
	return r;
}

static long install_filter(struct init *init)
{
	struct wire_header *plan = init->plan;
	struct sock_fprog program;
	long fd;

	if (plan->filter_count == 0)
		return 0;
	program.len = (unsigned short)plan->filter_count;
	program.filter = (struct sock_filter *)((char *)plan + plan->filter);
	fd = raw3(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		  &program);
	if (fd >= 0) {
		init->listener_fd = (int)fd;
		return 0;
	}
	/* No notifications here: the same filter, which then kills by itself. */
	if (fd != -EINVAL && fd != -EBUSY)
		return fd;
	init->filter_kills = 1;
	program.filter = (struct sock_filter *)((char *)plan + plan->filter_plain);
	return raw3(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* The next candidate of a search through PATH, into path; an empty element is the working
 * directory. Returns what is left of the search, or NULL after the last. */
static const char *next_candidate(const char *search, const char *name,
				  char path[PATH_LIMIT])
{
	size_t n = 0, size = strlen(name);

	while (search[n] != '\0' && search[n] != ':')
		n++;
	path[0] = '\0'; /* too long: nothing is there */
	if (n + 1 + size + 1 <= PATH_LIMIT) {
		memcpy(path, search, n);
		if (n > 0)
			path[n] = '/';
		memcpy(path + n + (n > 0), name, size + 1);
	}
	return search[n] == '\0' ? NULL : search + n + 1;
}

/* As execvp(3) searches, but without its fall-back to a shell: a candidate that may not
 * be executed is passed over and remembered. It makes no call but execve: the filter of a
 * user's profile may forbid whatever else one would like to know. */
static long execute(const char *search, char **argv, char **envp)
{
	static char path[PATH_LIMIT];
	long r, result = -ENOENT;

	if (!search)
		return raw3(SYS_execve, argv[0], argv, envp);
	while (search) {
		search = next_candidate(search, argv[0], path);
		r = raw3(SYS_execve, path, argv, envp);
		if (r == -EACCES)
			result = r;
		else if (r != -ENOENT && r != -ENOTDIR)
			return r;
	}
	return result;
}

/* Is there such a file, for all that it could not be executed (its interpreter may be
 * missing)? Asked by init itself, which is under no filter. */
static uint32_t exists(const char *search, const char *name)
{
	static char path[PATH_LIMIT];

	if (!search)
		return raw3(SYS_faccessat, AT_FDCWD, name, 0) == 0;
	while (search) {
		search = next_candidate(search, name, path);
		if (path[0] != '\0' && raw3(SYS_faccessat, AT_FDCWD, path, 0) == 0)
			return 1;
	}
	return 0;
}

static const char *search_of(const struct init *init)
{
	return init->call->search ? call_text(init, init->call->search) : NULL;
}

/* It counts as started before it can have done anything: were init killed between the
 * two, a call would seem not to have run, and be made again. */
static long execute_once(struct init *init)
{
	char **argv = (char **)((char *)init->call_block + init->call->argv);
	char **envp = (char **)((char *)init->call_block + init->call->envp);
	uint32_t *started = &init->plan->progress.started;
	long r;

	__atomic_store_n(started, 1, __ATOMIC_SEQ_CST);
	r = execute(search_of(init), argv, envp);
	__atomic_store_n(started, 0, __ATOMIC_SEQ_CST);
	return r;
}

static void await_guard(void)
{
	while (__atomic_load_n(&outcome.guarded, __ATOMIC_ACQUIRE) == 0)
		(void)raw4(SYS_futex, &outcome.guarded, FUTEX_WAIT, 0, NULL);
}

static _Noreturn void child(struct init *init, void *unused)
{
	struct wire_header *plan = init->plan;
	bool parked = !init->call;
	uint64_t none = 0;
	long r;

	(void)unused;
	(void)raw0(SYS_setsid);
	if (plan->terminal)
		(void)raw3(SYS_ioctl, STDIN_RIGHT, TIOCSCTTY, 0);
	(void)raw4(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGSET);
	if (parked)
		standby_arm();
	else
		await_guard();
	r = step_begin(init, STEP_SECCOMP);
	if (r == 0)
		r = install_filter(init);
	if (r == 0 && parked)
		standby_wait();
	if (r == 0) {
		r = step_begin(init, STEP_EXEC);
		if (r == 0)
			r = execute_once(init);
	}
	outcome.error = -r;
	outcome.step = plan->progress.step;
	init_exit(127);
}

/* Offsets become pointers: the block is mapped now. */
static void bind_pointers(struct init *init, uint32_t offset, uint32_t count)
{
	uint64_t *at = (uint64_t *)((char *)init->call_block + offset);

	for (uint32_t i = 0; i < count; i++)
		at[i] = (uint64_t)(uintptr_t)call_text(init, (uint32_t)at[i]);
}

/* A child in our memory, on a stack of its own, that tells when it has left it. That of a
 * parked box works where we do, so that we can enter the call's directory for it. */
static long make_child(struct init *init)
{
	static char stack[32768] __attribute__((aligned(16)));
	struct clone_args args;

	memset(&args, 0, sizeof(args));
	args.flags = CLONE_VM | CLONE_FILES | CLONE_CHILD_CLEARTID;
	if (!init->call)
		args.flags |= CLONE_FS;
	args.child_tid = (uint64_t)(uintptr_t)&outcome.busy;
	args.exit_signal = SIGCHLD;
	args.stack = (uint64_t)(uintptr_t)stack;
	args.stack_size = sizeof(stack);
	outcome.busy = 1;
	return raw_clone3(&args, sizeof(args), (raw_child_fn)child, init, NULL);
}

/* The filter of init first; then the child may go on. */
static void let_go(struct init *init)
{
	long r;

	if (trace_wanted(init)) {
		r = step_injected(init, STEP_TRACER);
		if (r == 0)
			r = trace_begin(init, init->main_pid);
		if (r < 0)
			step_fail(init, STEP_TRACER, -r, NULL);
	}
	r = guard_install(init);
	if (r < 0)
		step_fail(init, STEP_GUARD, -r, NULL);
	__atomic_store_n(&outcome.guarded, 1, __ATOMIC_RELEASE);
	(void)raw3(SYS_futex, &outcome.guarded, FUTEX_WAKE, 1);
	while (__atomic_load_n(&outcome.busy, __ATOMIC_ACQUIRE) != 0)
		(void)raw4(SYS_futex, &outcome.busy, FUTEX_WAIT, 1, NULL);
}

static _Noreturn void refuse(struct init *init)
{
	struct wire_report report;

	if (outcome.step != STEP_EXEC)
		step_fail(init, outcome.step, outcome.error, NULL);
	memset(&report, 0, sizeof(report));
	report.message = WIRE_NO_PROGRAM;
	report.error = (int32_t)outcome.error;
	report.found = exists(search_of(init),
			      *(char **)((char *)init->call_block + init->call->argv));
	report_send(init, &report);
	init_exit(1);
}

/* What the child needs of the call. */
static void take_call(struct init *init)
{
	const char *workdir = call_text(init, init->call->workdir);

	bind_pointers(init, init->call->argv, init->call->argc);
	bind_pointers(init, init->call->envp, init->call->envc);
	(void)STEP(init, STEP_WORKDIR, workdir, enter_workdir(workdir));
}

void workload_start(struct init *init)
{
	init->listener_fd = -1;
	take_call(init);
	init->main_pid = (int)STEP(init, STEP_FORK, NULL, make_child(init));
	let_go(init);
	if (outcome.step != 0)
		refuse(init);
	step_time(init, STEP_NONE);
	/* The streams are the workload's alone now: their end is its end. */
	for (int fd = STDIN_RIGHT; fd <= STDERR_RIGHT; fd++)
		(void)raw1(SYS_close, fd);
	if (init->plan->source_fd >= 0)
		(void)raw1(SYS_close, SOURCE_RIGHT);
}

/* -- of a parked box ------------------------------------------------------------------
 */

/* The child has ended before its time. */
static _Noreturn void give_up(struct init *init)
{
	if (outcome.step != 0)
		refuse(init);
	init_exit(1);
}

void workload_prepare(struct init *init)
{
	init->listener_fd = -1;
	(void)STEP(init, STEP_FORK, NULL, standby_prepare());
	init->main_pid = (int)STEP(init, STEP_FORK, NULL, make_child(init));
	if (standby_await(init) < 0)
		give_up(init);
}

/* Our copies of the streams stay: nobody waits for their end, and it would wake the
 * caller for nothing. */
void workload_let_go(struct init *init)
{
	take_call(init);
	(void)STEP(init, STEP_WORKDIR, NULL, raw1(SYS_unshare, CLONE_FS));
	(void)STEP(init, STEP_GUARD, NULL, guard_narrow(init));
	standby_end(init);
}

/* Killed before it began, it has run nothing: the library makes the call anew. */
void workload_ended(struct init *init)
{
	if (outcome.step != 0 || !init->plan->progress.started)
		give_up(init);
}
