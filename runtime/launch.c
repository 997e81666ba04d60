/* SPDX-License-Identifier: Apache-2.0 */
/* From a spec and a call to a running init. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/rawsys.h"
#include "runtime/rlimits.h"
#include "runtime/run.h"
#include "runtime/timing.h"
#include "runtime/trees.h"

/* How much later than the caller's deadline init's own is. */
#define GRACE_US UINT64_C(1000000)

enum {
	/* For the call of a parked box: more than what the kernel takes of arguments and
	 * variables with our limit on the stack, execve(2). No page of it is taken up
	 * before it is written. */
	ROOM_MOST = 4 << 20,
	ROOM_LEAST = 64 << 10,
	ROOM_UNIT = 4096,
};

uint64_t run_init_deadline(const struct run *run)
{
	return run->begin_us + run->call->timeout_us + GRACE_US;
}

/* The cap counts the program's tasks; init is one more, and is ours. */
static uint64_t tasks_with_init(const struct box_spec *spec)
{
	return spec->caps.pids ? spec->caps.pids + 1 : 0;
}

/* What stands in for a cap on tasks that cannot be enforced; 0 where none is wanted. */
static uint64_t wanted_nproc(const struct run *run)
{
	return run->cgroup && cgroup_box_wants_rlimit_nproc(run->cgroup)
		   ? tasks_with_init(run->spec)
		   : 0;
}

static void set_filter(struct plan *plan, const struct box_spec *spec)
{
	size_t size = spec->filter.count * sizeof(spec->filter.insns[0]);
	uint32_t notify = 0, without = 0;

	if (spec->filter.count == 0)
		return;
	notify = plan_array(plan, spec->filter.insns, size);
	without = plan_array(plan, spec->plain.insns, size);
	plan_header(plan)->filter = notify;
	plan_header(plan)->filter_plain = without;
	plan_header(plan)->filter_count = spec->filter.count;
}

/* Room for what is refused, at the end of all that init only reads. */
static void set_denials(struct run *run, struct plan *plan)
{
	size_t size =
	    sizeof(struct wire_denials) + WIRE_DENIALS * sizeof(struct wire_denial);
	struct wire_denials *empty;

	if (!run->call->explain_denials)
		return;
	empty = calloc(1, size);
	if (empty) {
		empty->capacity = WIRE_DENIALS;
		run->denials_at = plan_array(plan, empty, size);
		plan_header(plan)->denials = run->denials_at;
	} else {
		plan->error = -ENOMEM;
	}
	free(empty);
}

static void set_hostname(struct plan *plan)
{
	uint32_t hostname = plan_string(plan, "husk");

	plan_header(plan)->hostname = hostname;
}

static void set_descriptors(struct run *run, struct wire_header *header)
{
	header->channel_fd = run->box_channel;
	header->caller_fd = run->caller_fd;
	header->stdin_fd = run->box_in;
	header->stdout_fd = run->box_out;
	header->stderr_fd = run->box_err;
	header->source_fd = run->box_source;
	header->terminal = run->call->terminal;
	header->rows = run->call->rows;
	header->columns = run->call->columns;
	header->joins = run->joins_late || run->join_count > 0;
}

static uint32_t wire_part(enum layout_part part)
{
	switch (part) {
	case LAYOUT_TEMPLATE:
		return WIRE_TEMPLATE;
	case LAYOUT_BOX:
		return WIRE_BOX;
	default:
		return WIRE_WHOLE;
	}
}

int run_plan(struct run *run, struct plan *plan, struct husk_error *err)
{
	const struct box_spec *spec = run->spec;
	int r = plan_init(plan, err);

	if (r < 0)
		return r;
	layout_build(plan, spec, run->call, &run->trees, run->part);
	set_filter(plan, spec);
	set_hostname(plan);
	if (run->call->argv)
		plan_call(plan, run->call, run_init_deadline(run));
	set_denials(run, plan);
	set_descriptors(run, plan_header(plan));
	plan_header(plan)->part = wire_part(run->part);
	plan_header(plan)->foreign = spec->ids.foreign;
	plan_header(plan)->uid = spec->uid;
	plan_header(plan)->gid = spec->gid;
	plan_header(plan)->loopback = !spec->host_network;
	plan_header(plan)->killable = spec->oom_protected;
	plan_header(plan)->no_user_spaces = spec->no_user_spaces;
	plan_header(plan)->landlock_fs = spec->landlock.fs;
	plan_header(plan)->landlock_scoped = spec->landlock.scoped;
	rlimits_set(plan_header(plan), wanted_nproc(run));
	plan_header(plan)->timing.wanted = run->clock != NULL;
	plan_header(plan)->inject_step = run->call->inject_step;
	plan_header(plan)->inject_errno = run->call->inject_errno;
	return plan_finish(plan, err);
}

/* Behind the block, as large as the caller's own limit on files lets it be. */
static void set_room(struct run *run, struct plan *plan)
{
	uint64_t at = (plan->block.size + ROOM_UNIT - 1) / ROOM_UNIT * ROOM_UNIT;
	uint32_t size = ROOM_MOST;

	if (run->call->argv || run->part == LAYOUT_TEMPLATE)
		return;
	while (size > ROOM_LEAST && fd_may_write(at + size) < 0)
		size /= 2;
	plan_header(plan)->room = run->room = (uint32_t)at;
	plan_header(plan)->room_size = run->room_size = size;
}

static int hand_over(struct run *run, struct plan *plan)
{
	int r = run_injected(run, STEP_PLAN);
	size_t size = plan->block.size;

	set_room(run, plan);
	if (run->room_size > 0)
		size = (size_t)run->room + run->room_size;
	if (r == 0)
		r = fd_may_write(size);
	if (r < 0)
		return r;
	run->block_fd = memfd_create("husk-plan", MFD_CLOEXEC);
	if (run->block_fd < 0 ||
	    (run->room_size > 0 && ftruncate(run->block_fd, (off_t)size) < 0))
		return -errno;
	return fd_write_all(run->block_fd, plan->block.data, plan->block.size);
}

int run_hand_over_call(const struct run *run, const struct plan *plan)
{
	int r = run_injected(run, STEP_PLAN);
	size_t size = plan->block.size;

	if (r == 0)
		r = size > run->room_size ? -E2BIG : fd_may_write(run->room + size);
	if (r < 0)
		return r;
	return pwrite(run->block_fd, plan->block.data, size, run->room) == (ssize_t)size
		   ? 0
		   : -EIO;
}

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void keep(struct stub_args *stub, int fd)
{
	if (fd >= 0 && stub->keep_count < STUB_KEEP_MAX)
		stub->keep[stub->keep_count++] = fd;
}

/* What init needs to set the box up; all of them where it mounts an overlay, which works
 * with those of who mounted it. */
static uint64_t init_capabilities(const struct box_spec *spec)
{
	if (spec->root == BOX_ROOT_DIR || spec->writable_root)
		return UINT64_MAX;
	return UINT64_C(1) << CAP_SETGID | UINT64_C(1) << CAP_SETUID |
	       UINT64_C(1) << CAP_SETPCAP | UINT64_C(1) << CAP_NET_ADMIN |
	       UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_SYS_RESOURCE;
}

static void fill_stub(struct run *run)
{
	const struct box_spec *spec = run->spec;
	struct stub_args *stub = &run->stub;

	(void)snprintf(run->fd_text, sizeof(run->fd_text), "%d", run->block_fd);
	run->init_argv[0] = (char *)(uintptr_t) "husk-init";
	run->init_argv[1] = run->fd_text;
	stub->init_fd = spec->init_fd;
	stub->caller_fd = run->caller_fd;
	stub->argv = run->init_argv;
	stub->self_map = !spec->ids.foreign;
	stub->proc_fd = spec->proc_fd;
	stub->user_fd = run->part == LAYOUT_BOX ? run->template.user : -1;
	stub->mount_fd = run->part == LAYOUT_BOX ? run->template.mount : -1;
	if (spec->ids.foreign || spec->uid != 0)
		stub->ambient = init_capabilities(spec);
	stub->timing = run->clock != NULL;
	stub->inject_step = run->call->inject_step;
	stub->inject_errno = run->call->inject_errno;
	/* Seen from a template's user namespace the id is the box's already. */
	(void)snprintf(stub->uid_map, sizeof(stub->uid_map), "%u %u 1", spec->uid,
		       stub->user_fd >= 0 ? spec->uid : spec->ids.uid);
	(void)snprintf(stub->gid_map, sizeof(stub->gid_map), "%u %u 1", spec->gid,
		       stub->user_fd >= 0 ? spec->gid : spec->ids.gid);
	keep(stub, run->block_fd);
	keep(stub, run->caller_fd);
	keep(stub, run->box_channel);
	keep(stub, run->box_out);
	keep(stub, run->box_err);
	keep(stub, run->box_in);
	keep(stub, run->box_source);
	keep(stub, run->trees.image);
	keep(stub, run->trees.workspace);
	for (size_t i = 0; run->trees.mounts && i < spec->mount_count; i++)
		keep(stub, run->trees.mounts[i]);
	qsort(stub->keep, stub->keep_count, sizeof(stub->keep[0]), compare_fds);
}

static void set_clone(struct run *run)
{
	struct stub_args *stub = &run->stub;

	stub->clone_flags =
	    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
	stub->cgroup_fd = run->cgroup ? cgroup_box_clone_fd(run->cgroup) : -1;
	if (!run->spec->host_network)
		stub->clone_flags |= CLONE_NEWNET;
	if (stub->cgroup_fd >= 0)
		stub->clone_flags |= CLONE_INTO_CGROUP;
	else
		stub->cgroup_fd = 0;
	stub->stack = run->stub_stack;
	stub->stack_size = STUB_STACK;
	stub->init_pidfd = -1;
}

/* The stub's descriptors are copied from ours when it is made: until then they stay. The
 * nap is there for a wake-up that gets lost. */
static void wait_cloned(struct run *run)
{
	struct pollfd shim = {.fd = run->shim_fd, .events = POLLIN};
	struct timespec nap = {.tv_sec = 1};

	while (run->stub.shim == SHIM_CLONES) {
		(void)raw4(SYS_futex, &run->stub.shim, FUTEX_WAIT, SHIM_CLONES, &nap);
		if (run->stub.shim == SHIM_CLONES && poll(&shim, 1, 0) > 0)
			break;
	}
}

static int start_shim(struct run *run)
{
	struct clone_args args = {
	    .flags = CLONE_VM | CLONE_FILES | CLONE_PIDFD | CLONE_CHILD_CLEARTID,
	    .pidfd = (uint64_t)(uintptr_t)&run->shim_fd,
	    .child_tid = (uint64_t)(uintptr_t)&run->stub.shim,
	    .stack = (uint64_t)(uintptr_t)run->shim_stack,
	    .stack_size = STUB_STACK,
	};
	sigset_t all, before;
	long pid;

	set_clone(run);
	run->stub.shim = SHIM_CLONES;
	/* No handler of the caller may run in the children, which share this memory. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid = raw_clone3(&args, sizeof(args), shim_main, &run->stub, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? (int)pid : 0;
}

/* What only the children needed. Few open descriptors make the next start cheaper too:
 * the kernel copies the table of them for each stub. */
static void close_box_ends(struct run *run)
{
	fd_close(&run->box_channel);
	fd_close(&run->box_out);
	fd_close(&run->box_err);
	fd_close(&run->box_in);
	fd_close(&run->box_source);
	fd_close(&run->own_caller_fd);
	fd_close(&run->template.user);
	fd_close(&run->template.mount);
}

/* A session that was inherited by fork: its pidfd names the parent. */
static int own_caller(struct run *run)
{
	int fd;

	if (getpid() == run->spec->caller_pid)
		return 0;
	fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (fd < 0)
		return -errno;
	run->own_caller_fd = run->caller_fd = fd;
	return 0;
}

static int fail(struct run *run, uint32_t step, int r, const char *subject)
{
	run_failed(run, step, -r, subject);
	return 1;
}

/* Init joins by itself where the clone cannot put it there. */
static int find_joins(struct run *run)
{
	ssize_t joins;

	if (cgroup_box_clone_fd(run->cgroup) >= 0) {
		run->trees.cgroup_view = true;
		return 0;
	}
	joins = cgroup_box_join_fds(run->cgroup, run->join_fds);
	if (joins < 0)
		return fail(run, STEP_CGROUP, (int)joins, NULL);
	run->join_count = (uint32_t)joins;
	return 0;
}

/* Without a cap no group is made for the counts alone: what init reaped tells the CPU
 * time too, but for children of programs that ignore SIGCHLD. */
static bool wants_cgroup(const struct box_spec *spec)
{
	return spec->caps.memory_bytes || spec->caps.pids || spec->caps.cpu_milli;
}

static int make_cgroup(struct run *run)
{
	struct husk_error why = {0};
	struct box_outcome *outcome = run->outcome;
	struct cgroup_caps caps = run->spec->caps;
	int r = run_injected(run, STEP_CGROUP);

	if (run->part == LAYOUT_TEMPLATE)
		return 0; /* nothing will run */
	if (r < 0)
		return fail(run, STEP_CGROUP, r, NULL);
	caps.pids = tasks_with_init(run->spec);
	if (!wants_cgroup(run->spec))
		return 0;
	r = cgroup_box_new(&caps, run->spec->enforce, &run->cgroup, &why);
	if (r == 0)
		return find_joins(run);
	run_failed(run, STEP_CGROUP, why.sys_errno, why.where);
	(void)snprintf(outcome->reason, sizeof(outcome->reason), "%.120s: %.380s",
		       why.where, why.message);
	(void)snprintf(outcome->hint, sizeof(outcome->hint), "%s", why.hint);
	return 1;
}

/* Everything up to the clone. */
static int prepare(struct run *run, struct husk_error *err)
{
	CLEANUP_PLAN struct plan plan = {0};
	const char *subject = NULL;
	int r;

	timing_step(run, TIMING_CGROUP);
	run->joins_late = run->part != LAYOUT_TEMPLATE && wants_cgroup(run->spec) &&
			  cgroup_joins_late();
	r = run->joins_late ? 0 : make_cgroup(run);
	if (r != 0)
		return r;
	timing_step(run, TIMING_PREPARE);
	if (run->part != LAYOUT_BOX) {
		r = run_injected(run, STEP_SOURCE);
		if (r == 0)
			r = trees_make(run->spec, &run->trees, &subject);
	}
	if (r < 0)
		return fail(run, STEP_SOURCE, r, subject);
	r = run_injected(run, STEP_INIT_IMAGE);
	if (r == 0)
		r = own_caller(run);
	if (r < 0)
		return fail(run, STEP_INIT_IMAGE, r, NULL);
	r = run_make_pipes(run);
	if (r < 0)
		return fail(run, STEP_PIPES, r, NULL);
	timing_step(run, TIMING_PLAN);
	r = run_plan(run, &plan, err);
	if (r < 0)
		return r;
	r = hand_over(run, &plan);
	if (r < 0)
		return fail(run, STEP_PLAN, r, NULL);
	fill_stub(run);
	return 0;
}

/* What is done while the kernel makes the namespaces. 0, or 1: a step failed. */
static int meanwhile(struct run *run)
{
	int r = run->joins_late ? make_cgroup(run) : 0;

	if (r != 0)
		return r;
	if (run->joins_late || run->join_count > 0)
		r = run_send_joins(run, run->joins_late ? wanted_nproc(run) : 0);
	if (r < 0)
		return fail(run, STEP_CGROUP, r, NULL);
	if (run->cgroup)
		cgroup_sweep_due();
	if (run->call->meanwhile)
		run->call->meanwhile(run->call->meanwhile_user);
	return 0;
}

int run_launch(struct run *run, struct husk_error *err)
{
	int r = prepare(run, err);

	if (r != 0)
		return r;
	timing_step(run, TIMING_SHIM);
	r = start_shim(run);
	if (r < 0)
		return fail(run, STEP_CLONE, r, NULL);
	r = meanwhile(run);
	wait_cloned(run);
	timing_step(run, TIMING_WATCH);
	close_box_ends(run);
	if (r != 0)
		run_abandon(run);
	return r;
}
