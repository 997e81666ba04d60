/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of locking down is written here, once. Should: leave nothing of the host and
 * no privilege to what workload_start executes. Mustn't: run any program before every
 * line above it has succeeded; each step that fails reports itself and exits.
 */
#include "runtime/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/prctl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>

enum { KERNEL_SIGSET = 8 };

/* The block is a memfd whose number is our only argument. */
static void read_plan(struct init *init, const char *fd_text)
{
	int fd = text_number(fd_text);

	init->plan = fd < 0 ? NULL : park_map(fd);
	if (!init->plan)
		init_exit(2);
	(void)STEP(init, STEP_READ_PLAN, NULL, 0);
	if (init->plan->call)
		park_adopt(init, init->plan);
}

/* Until now root's processes have root's id, which the namespace does not know. The
 * change clears the parent-death signal: watch_caller, which sets it anew, comes next. */
static long take_ids(const struct wire_header *plan)
{
	long r = 0;

	if (plan->foreign) {
		r = raw3(SYS_setresgid, plan->gid, plan->gid, plan->gid);
		if (r == 0)
			r = raw3(SYS_setresuid, plan->uid, plan->uid, plan->uid);
	}
	return r;
}

/* From here on the pidfd of the caller guards us. But who has been stopped polls nothing:
 * then the shim, our parent, which ends with its caller, takes us along. */
static long watch_caller(struct init *init)
{
	struct pollfd caller;
	long r = raw5(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);

	if (r < 0)
		return r;
	memset(&caller, 0, sizeof(caller));
	caller.fd = init->plan->caller_fd;
	caller.events = POLLIN;
	struct {
		int64_t s, ns;
	} now = {0, 0};
	r = raw5(SYS_ppoll, &caller, 1, &now, NULL, KERNEL_SIGSET);
	if (r > 0)
		init_exit(1);
	return r;
}

static long watch_children(struct init *init)
{
	uint64_t chld = 1ULL << (SIGCHLD - 1), all = ~0ULL;
	long fd = raw4(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, KERNEL_SIGSET);

	if (fd < 0)
		return fd;
	workload_default_signals();
	fd = raw4(SYS_signalfd4, -1, &chld, KERNEL_SIGSET, O_CLOEXEC | O_NONBLOCK);
	init->signal_fd = (int)fd;
	return fd;
}

/* A caller that is protected (a negative oom_score_adj) would pass that on, and with
 * -1000 nothing in the box could be ended for its memory cap, proc_pid_oom_score_adj(5).
 */
static long give_up_oom_protection(void)
{
	long fd = raw4(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj",
		       O_WRONLY | O_CLOEXEC, 0);
	long r;

	if (fd < 0)
		return fd;
	r = raw3(SYS_write, fd, "0", 1);
	(void)raw1(SYS_close, fd);
	return r < 0 ? r : 0;
}

_Noreturn void init_main(long *stack);
void init_main(long *stack)
{
	static struct init init;
	char **argv = (char **)(stack + 1);
	long marked;

	if (stack[0] != 2)
		init_exit(2);
	(void)raw1(SYS_umask, 0); /* the modes in the plan are meant as they are */
	/* Nothing passes an exec by oversight. Told of once there is somebody to tell. */
	marked = raw3(SYS_close_range, 0, ~0U, CLOSE_RANGE_CLOEXEC);
	read_plan(&init, argv[1]);
	(void)STEP(&init, STEP_READ_PLAN, "descriptors", marked);
	(void)STEP(&init, STEP_SET_IDS, NULL, take_ids(init.plan));
	(void)STEP(&init, STEP_WATCH_CALLER, NULL, watch_caller(&init));
	(void)STEP(&init, STEP_WATCH_CALLER, NULL, watch_children(&init));
	/* A session of its own: what the box does to its scheduling group is its own. */
	(void)raw0(SYS_setsid);
	join_cgroups(&init);
	(void)STEP(&init, STEP_CGROUP_NS, NULL, raw1(SYS_unshare, CLONE_NEWCGROUP));
	if (init.plan->killable)
		(void)STEP(&init, STEP_RLIMITS, "oom_score_adj",
			   give_up_oom_protection());
	mounts_apply(&init);
	if (init.plan->part == WIRE_TEMPLATE)
		template_hand_over(&init);
	lock_hostname(&init);
	lock_loopback(&init);
	lock_rlimits(&init);
	lock_to_root(&init);
	lock_capabilities(&init);
	lock_privileges(&init);
	terminal_open(&init);
	workload_place_stdio(&init);
	if (init.call)
		workload_start(&init);
	else
		park(&init);
	watch_until_end(&init);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n"
	"\tcall init_main\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tmov x0, sp\n\tb "
	"init_main\n");
#endif
