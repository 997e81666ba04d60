/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stub.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

#include "base/rawsys.h"
#include "runtime/steps.h"

enum {
	KERNEL_SIGSET = 8,
	WAIT_ANY = 0x40000000,	    /* __WALL, wait(2) */
	WAIT_NS = 50 * 1000 * 1000, /* between two looks at whether the caller lives */
};

static _Noreturn void stub_exit(void)
{
	for (;;)
		raw1(SYS_exit_group, 1);
}

static _Noreturn void stub_fail(struct stub_args *args, uint32_t step, long r)
{
	args->error = (int32_t)-r;
	args->step = step;
	stub_exit();
}

static void note_moment(struct stub_args *args, enum stub_moment moment)
{
	struct {
		int64_t s, ns;
	} now = {0, 0};

	if (!args->timing)
		return;
	(void)raw2(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, &now);
	args->begun_ns[moment] = (uint64_t)now.s * 1000000000 + (uint64_t)now.ns;
}

static long injected(const struct stub_args *args, uint32_t step)
{
#ifdef HUSK_TEST_HOOKS
	if (args->inject_step == step)
		return -(long)args->inject_errno;
#endif
	(void)args;
	(void)step;
	return 0;
}

/* name: below /proc */
static long write_proc(const struct stub_args *args, const char *name, const char *text)
{
	long size = 0, fd, r;

	while (text[size] != '\0')
		size++;
	fd = raw4(SYS_openat, args->proc_fd, name, O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = raw3(SYS_write, fd, text, size);
	(void)raw1(SYS_close, fd);
	if (r < 0)
		return r;
	return r == size ? 0 : -EIO;
}

/* An unprivileged process maps its own single id once setgroups is denied, which a
 * template's namespace passes on, user_namespaces(7). */
static long map_self(const struct stub_args *args)
{
	long r = injected(args, STEP_ID_MAP);

	if (r == 0 && args->user_fd < 0)
		r = write_proc(args, "self/setgroups", "deny");
	if (r == 0)
		r = write_proc(args, "self/uid_map", args->uid_map);
	if (r == 0)
		r = write_proc(args, "self/gid_map", args->gid_map);
	return r;
}

/* Who is not 0 in the namespace loses its capabilities at exec: a box user other than 0,
 * and root before it has taken the mapped id. That is left to the init program: here it
 * would make the memory, which is the caller's too, undumpable, prctl(2). So they are
 * passed on as ambient, capabilities(7), and all of them where there is an overlay, which
 * goes on working with those of who mounted it. Init gives them up itself. */
static long keep_capabilities(uint64_t kept)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
	long r = raw2(SYS_capget, &header, data);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < 2; i++)
		data[i].inheritable = data[i].permitted & (uint32_t)(kept >> i * 32);
	r = raw2(SYS_capset, &header, data);
	for (unsigned long cap = 0; r == 0 && cap < 64; cap++) {
		if (data[cap / 32].inheritable & 1U << cap % 32)
			r = raw5(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0,
				 0);
	}
	return r;
}

static int caller_is_gone(const struct stub_args *args)
{
	struct pollfd caller = {.fd = args->caller_fd, .events = POLLIN};
	struct {
		int64_t s, ns;
	} now = {0, 0};

	return raw5(SYS_ppoll, &caller, 1, &now, NULL, KERNEL_SIGSET) > 0;
}

/* Wait for the shim, and not longer than the caller lives. */
static void wait_go(struct stub_args *args)
{
	struct {
		int64_t s, ns;
	} nap = {0, WAIT_NS};

	while (args->go == STUB_WAIT) {
		(void)raw4(SYS_futex, &args->go, FUTEX_WAIT, STUB_WAIT, &nap);
		if (args->go == STUB_WAIT && caller_is_gone(args))
			stub_exit();
	}
	if (args->go != STUB_GO)
		stub_exit();
}

/* From first to last, but for one. */
static long close_but(unsigned first, unsigned last, unsigned kept)
{
	long r = 0;

	if (kept < first || kept > last)
		return raw3(SYS_close_range, first, last, 0);
	if (kept > first)
		r = raw3(SYS_close_range, first, kept - 1, 0);
	if (r == 0 && kept < last)
		r = raw3(SYS_close_range, kept + 1, last, 0);
	return r;
}

/* Close all but the descriptors to keep; those lose their close-on-exec flag. init_fd
 * keeps it: exec opens the file before it closes descriptors. */
static long keep_descriptors(struct stub_args *args)
{
	unsigned from = 0;
	long r = 0;

	for (unsigned i = 0; i < args->keep_count && r == 0; i++) {
		unsigned fd = (unsigned)args->keep[i];

		if (fd > from)
			r = close_but(from, fd - 1, (unsigned)args->init_fd);
		if (r == 0)
			r = raw3(SYS_fcntl, fd, F_SETFD, 0);
		from = fd + 1;
	}
	return r < 0 ? r : close_but(from, ~0U, (unsigned)args->init_fd);
}

static void stub_main(void *data, void *unused)
{
	struct stub_args *args = data;
	static const char *const no_environment[] = {NULL};
	long r;

	(void)unused;
	note_moment(args, STUB_MOMENT_IDS);
	/* Until the init program watches the caller's pidfd. */
	(void)raw5(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (args->self_map) {
		r = map_self(args);
		if (r < 0)
			stub_fail(args, STEP_ID_MAP, r);
	} else {
		wait_go(args);
	}
	note_moment(args, STUB_MOMENT_EXEC);
	r = injected(args, STEP_EXEC_INIT);
	if (r == 0 && args->ambient)
		r = keep_capabilities(args->ambient);
	if (r == 0)
		r = keep_descriptors(args);
	if (r == 0)
		r = raw5(SYS_execveat, args->init_fd, "", args->argv, no_environment,
			 AT_EMPTY_PATH);
	stub_fail(args, STEP_EXEC_INIT, r);
}

static void wake(volatile uint32_t *word, uint32_t value)
{
	*word = value;
	(void)raw3(SYS_futex, word, FUTEX_WAKE, 1);
}

/* "PID/NAME" */
static void proc_path(char *to, long pid, const char *name)
{
	char digits[24];
	unsigned n = 0, at = 0;

	do {
		digits[n++] = (char)('0' + pid % 10);
		pid /= 10;
	} while (pid > 0);
	while (n > 0)
		to[at++] = digits[--n];
	to[at++] = '/';
	while (*name != '\0')
		to[at++] = *name++;
	to[at] = '\0';
}

/* Only the parent may map ids that are not its own, user_namespaces(7). */
static long map_child(const struct stub_args *args, long pid)
{
	const char *const files[][2] = {{"setgroups", "deny"},
					{"uid_map", args->uid_map},
					{"gid_map", args->gid_map}};
	char path[64];
	long r = injected(args, STEP_ID_MAP);

	for (unsigned i = 0; r == 0 && i < sizeof(files) / sizeof(files[0]); i++) {
		proc_path(path, pid, files[i][0]);
		r = write_proc(args, path, files[i][1]);
	}
	return r;
}

/* An ordinary caller's supplementary groups cannot be given up (setgroups must stay
 * denied in a user namespace of one id); root's can, before that namespace exists. */
static long clone_stub(struct stub_args *args)
{
	struct clone_args clone = {
	    .flags = args->clone_flags | CLONE_VM | CLONE_PIDFD,
	    .pidfd = (uint64_t)(uintptr_t)&args->init_pidfd,
	    .stack = (uint64_t)(uintptr_t)args->stack,
	    .stack_size = args->stack_size,
	    .cgroup = (uint64_t)args->cgroup_fd,
	};
	long r = injected(args, STEP_CLONE);

	if (r == 0 && !args->self_map)
		r = raw2(SYS_setgroups, 0, NULL);
	return r < 0 ? r : raw_clone3(&clone, sizeof(clone), stub_main, args, NULL);
}

/* With SIGCHLD ignored, as a caller may have it, the stub could not be waited for. */
static void default_sigchld(void)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} action = {NULL, 0, NULL, 0};

	(void)raw4(SYS_rt_sigaction, SIGCHLD, &action, NULL, KERNEL_SIGSET);
}

/* Start from a template's mounts, setns(2). The shim is one thread, with a root directory
 * and a working directory that it shares with nobody; the caller's stay what they are. */
static long enter_template(const struct stub_args *args)
{
	long r = injected(args, STEP_TEMPLATE);

	if (r == 0 && args->user_fd >= 0)
		r = raw2(SYS_setns, args->user_fd, CLONE_NEWUSER);
	if (r == 0 && args->mount_fd >= 0)
		r = raw2(SYS_setns, args->mount_fd, CLONE_NEWNS);
	return r;
}

static _Noreturn void shim_fail(struct stub_args *args, uint32_t step, long r)
{
	args->error = (int32_t)-r;
	args->step = step;
	wake(&args->shim, SHIM_CLONED);
	stub_exit();
}

void shim_main(void *data, void *unused)
{
	struct stub_args *args = data;
	long pid, r;

	(void)unused;
	(void)raw5(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (caller_is_gone(args))
		stub_exit();
	note_moment(args, STUB_MOMENT_CLONE);
	default_sigchld();
	r = enter_template(args);
	if (r < 0)
		shim_fail(args, STEP_TEMPLATE, r);
	pid = clone_stub(args);
	if (pid < 0)
		shim_fail(args, STEP_CLONE, pid);
	wake(&args->shim, SHIM_CLONED);
	if (!args->self_map) {
		r = map_child(args, pid);
		if (r < 0) {
			args->error = (int32_t)-r;
			args->step = STEP_ID_MAP;
		}
		wake(&args->go, r < 0 ? STUB_STOP : STUB_GO);
	}
	do {
		r = raw4(SYS_wait4, pid, NULL, WAIT_ANY, NULL);
	} while (r == -EINTR);
	stub_exit();
}
