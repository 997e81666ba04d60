/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the probing children do. They share the caller's memory: raw system calls only, no
 * allocation, no lock, no errno, nothing written but the child's own struct.
 *
 * Each does what a start does (runtime/stub.c, runtime/init/), in namespaces that end
 * with it. Mounts are made on the far side of a user namespace, where none of them
 * reaches the host.
 */
#include "runtime/probe_child.h"

#include <errno.h>
#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/if.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>

#include "base/rawsys.h"

enum {
	NAP_MS = 50,
	NAPS = PROBE_CHILD_MS / NAP_MS,
	KERNEL_SIGSET = 8,
	/* <sys/mount.h> and <linux/mount.h> cannot be included together here. */
	OLD_NOSUID = 2,
	OLD_NODEV = 4,
	OLD_NOEXEC = 8,
	OLD_DETACH = 2,
	TREE_PRIVATE = 1 << 18,	 /* MS_PRIVATE */
	TREE_RECURSIVE = 0x8000, /* AT_RECURSIVE */
	SOCKET_INET = 2,	 /* AF_INET */
	SOCKET_DGRAM_CLOEXEC = 2 | O_CLOEXEC,
	INIT_STATUS = 2,	     /* without a plan, runtime/init/main.c */
	WAIT_ALL_KINDS = 0x40000000, /* __WALL, <linux/wait.h> */
	LANDLOCK_VERSION = 1,	     /* LANDLOCK_CREATE_RULESET_VERSION */
};

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

/* Not marked as never returning: address sanitizer would look at the caller's stack. */
static void leave(int status)
{
	for (;;)
		raw1(SYS_exit_group, status);
}

static long write_file(const char *path, const char *text)
{
	long size = 0, fd, r;

	while (text[size] != '\0')
		size++;
	fd = raw4(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = raw3(SYS_write, fd, text, size);
	(void)raw1(SYS_close, fd);
	return r < 0 ? r : 0;
}

static void leave_with_caller(const struct probe_child *child)
{
	struct pollfd caller = {.fd = child->caller_fd, .events = POLLIN};
	struct {
		int64_t s, ns;
	} now = {0, 0};

	if (child->caller_fd >= 0 &&
	    raw5(SYS_ppoll, &caller, 1, &now, NULL, KERNEL_SIGSET) > 0)
		leave(1);
}

static void wait_maps(struct probe_child *child)
{
	struct {
		int64_t s, ns;
	} nap = {0, NAP_MS * 1000 * 1000};

	for (int i = 0; child->go == PROBE_WAIT && i < NAPS; i++) {
		(void)raw4(SYS_futex, &child->go, FUTEX_WAIT, PROBE_WAIT, &nap);
		leave_with_caller(child);
	}
	if (child->go != PROBE_GO)
		leave(1);
}

/* As the stub does it: an ordinary caller's child maps itself, root's waits for the maps.
 */
static long take_ids(struct probe_child *child)
{
	long r = 0;

	child->step = STEP_ID_MAP;
	if (child->ids.foreign) {
		wait_maps(child);
	} else {
		r = write_file("/proc/self/setgroups", "deny");
		if (r == 0)
			r = write_file("/proc/self/uid_map", child->uid_map);
		if (r == 0)
			r = write_file("/proc/self/gid_map", child->gid_map);
	}
	if (r < 0)
		return r;
	child->step = STEP_SET_IDS;
	r = raw3(SYS_setresgid, 0, 0, 0);
	if (r == 0)
		r = raw3(SYS_setresuid, 0, 0, 0);
	return r;
}

void probe_child_main(void *data, void *unused)
{
	struct probe_child *child = data;
	long r = 0;

	(void)unused;
	(void)raw5(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	leave_with_caller(child); /* it may have died before the kernel was told */
	if (child->spaces & CLONE_NEWUSER) {
		r = take_ids(child);
		/* A change of ids clears it, prctl(2). */
		(void)raw5(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		leave_with_caller(child);
	}
	if (r == 0) {
		child->step = STEP_NONE;
		r = child->act(child);
	}
	child->value = r;
	child->done = 1;
	leave(0);
}

/* -- namespaces -- */

/* That there is a child is the answer. */
long probe_try_clone3(struct probe_child *child)
{
	(void)child;
	return 0;
}

/* A security module may grant the namespace and none of its capabilities. This one counts
 * in the namespace alone, and giving up one's own bounding set changes nothing else. */
long probe_try_user(struct probe_child *child)
{
	child->step = STEP_CAPABILITIES;
	return raw5(SYS_prctl, PR_CAPBSET_DROP, CAP_WAKE_ALARM, 0, 0, 0);
}

long probe_try_pid(struct probe_child *child)
{
	child->step = STEP_CLONE;
	return raw0(SYS_getpid) == 1 ? 0 : -ESRCH;
}

long probe_try_mount(struct probe_child *child)
{
	child->step = STEP_CLONE;
	return raw5(SYS_mount, NULL, "/", NULL, TREE_PRIVATE, NULL);
}

long probe_try_network(struct probe_child *child)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	long fd;

	child->step = STEP_LOOPBACK;
	fd = raw3(SYS_socket, SOCKET_INET, SOCKET_DGRAM_CLOEXEC, 0);
	return fd < 0 ? fd : raw3(SYS_ioctl, fd, SIOCSIFFLAGS, &request);
}

long probe_try_ipc(struct probe_child *child)
{
	(void)child;
	return 0;
}

long probe_try_uts(struct probe_child *child)
{
	child->step = STEP_HOSTNAME;
	return raw2(SYS_sethostname, "husk", 4);
}

long probe_try_cgroup(struct probe_child *child)
{
	child->step = STEP_CGROUP_NS;
	return raw1(SYS_unshare, CLONE_NEWCGROUP);
}

/* -- mounts -- */

/* The tmpfs that carries a box's root, over /proc as init puts it. Its descriptor, which
 * is the working directory as well. */
static long carrier(struct probe_child *child)
{
	long fs, fd, r;

	child->step = STEP_NEW_ROOT;
	fs = raw2(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return fs;
	r = raw5(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	if (r < 0)
		return r;
	fd = raw3(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (fd < 0)
		return fd;
	r = raw5(SYS_move_mount, fd, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH);
	if (r == 0)
		r = raw1(SYS_fchdir, fd);
	return r < 0 ? r : fd;
}

long probe_try_trees(struct probe_child *child)
{
	struct mount_attr attr = {
	    .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	    .propagation = TREE_PRIVATE,
	};
	long tree, r;

	child->step = STEP_OPEN_TREE;
	tree = raw3(SYS_open_tree, AT_FDCWD, "/",
		    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | TREE_RECURSIVE);
	if (tree < 0)
		return tree;
	child->step = STEP_TREE_ATTR;
	r = raw5(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | TREE_RECURSIVE, &attr,
		 sizeof(attr));
	if (r < 0)
		return r;
	r = carrier(child);
	return r < 0 ? r : 0;
}

long probe_try_pivot(struct probe_child *child)
{
	long r = carrier(child);

	if (r < 0)
		return r;
	child->step = STEP_PIVOT;
	r = raw2(SYS_pivot_root, ".", ".");
	if (r < 0)
		return r;
	child->step = STEP_DETACH;
	return raw2(SYS_umount2, ".", OLD_DETACH);
}

long probe_try_procfs(struct probe_child *child)
{
	long fd = carrier(child), r;

	if (fd < 0)
		return fd;
	child->step = STEP_MAKE_NODE;
	r = raw3(SYS_mkdirat, fd, "proc", 0755);
	if (r < 0)
		return r;
	child->step = STEP_MOUNT_FS;
	return raw5(SYS_mount, "proc", "proc", "proc",
		    OLD_NOSUID | OLD_NODEV | OLD_NOEXEC, NULL);
}

/* As layout.c mounts it and runtime/init/terminal.c opens it. */
long probe_try_terminal(struct probe_child *child)
{
	long fd = carrier(child), r;
	int unlocked = 0;

	if (fd < 0)
		return fd;
	child->step = STEP_MAKE_NODE;
	r = raw3(SYS_mkdirat, fd, "pts", 0755);
	if (r < 0)
		return r;
	child->step = STEP_TERMINAL;
	r = raw5(SYS_mount, "devpts", "pts", "devpts", OLD_NOSUID | OLD_NOEXEC,
		 "newinstance,ptmxmode=0666,mode=0600");
	if (r < 0)
		return r;
	fd = raw4(SYS_openat, fd, "pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = raw3(SYS_ioctl, fd, TIOCSPTLCK, &unlocked);
	return r < 0 ? r
		     : raw3(SYS_ioctl, fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* The tree is never attached: it goes with its descriptor. */
long probe_try_idmap(struct probe_child *child)
{
	struct mount_attr attr = {
	    .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_IDMAP,
	    .propagation = TREE_PRIVATE,
	    .userns_fd = (uint64_t)child->fd2,
	};
	long tree;

	child->step = STEP_SOURCE;
	tree = raw3(SYS_open_tree, child->fd, "",
		    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	if (tree < 0)
		return tree;
	return raw5(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr));
}

long probe_try_overlay(struct probe_child *child)
{
	static const char *const dirs[] = {"lower", "upper", "work", "root"};
	long fd = carrier(child), r = 0;

	if (fd < 0)
		return fd;
	child->step = STEP_MAKE_NODE;
	for (unsigned i = 0; r == 0 && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		r = raw3(SYS_mkdirat, fd, dirs[i], 0755);
	if (r < 0)
		return r;
	child->step = STEP_OVERLAY;
	return raw5(SYS_mount, "overlay", "root", "overlay", OLD_NOSUID | OLD_NODEV,
		    "lowerdir=lower,upperdir=upper,workdir=work,userxattr");
}

/* -- programs, filters, calls -- */

static void execute(void *data, void *unused)
{
	static const char *const argv[] = {"husk-init", NULL};
	struct probe_child *child = data;

	(void)unused;
	child->value = raw5(SYS_execveat, child->fd, "", argv, argv + 1, AT_EMPTY_PATH);
	leave(1);
}

/* Without an argument the init program exits at once, with a status of its own. A child
 * of the child executes it: a program sends SIGCHLD when it ends, whatever its clone
 * said, and the caller is not to get one. */
long probe_try_init(struct probe_child *child)
{
	/* A caller's "ignored" is inherited, and would lose the status, wait(2). */
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} usual = {0};
	struct clone_args args = {
	    .flags = CLONE_VM | CLONE_VFORK,
	    .stack = (uint64_t)(uintptr_t)child->exec_stack,
	    .stack_size = PROBE_EXEC_STACK,
	};
	int status = 0;
	long pid, r;

	child->step = STEP_EXEC_INIT;
	child->value = 0;
	(void)raw4(SYS_rt_sigaction, SIGCHLD, &usual, NULL, sizeof(usual.mask));
	pid = raw_clone3(&args, sizeof(args), execute, child, NULL);
	if (pid < 0)
		return pid;
	do
		r = raw4(SYS_wait4, pid, &status, WAIT_ALL_KINDS, NULL);
	while (r == -EINTR);
	if (child->value < 0)
		return child->value;
	return r == pid && status == INIT_STATUS << 8 ? 0 : -ECANCELED;
}

long probe_try_no_new_privs(struct probe_child *child)
{
	child->step = STEP_NO_NEW_PRIVS;
	return raw5(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static long filter(struct probe_child *child, unsigned flags)
{
	struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
	struct sock_fprog program = {1, &allow};
	long r = probe_try_no_new_privs(child);

	if (r < 0)
		return r;
	child->step = STEP_SECCOMP;
	return raw3(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

long probe_try_filter(struct probe_child *child)
{
	return filter(child, 0);
}

long probe_try_listener(struct probe_child *child)
{
	return filter(child, SECCOMP_FILTER_FLAG_NEW_LISTENER);
}

long probe_try_pidfd(struct probe_child *child)
{
	(void)child;
	return raw2(SYS_pidfd_open, raw0(SYS_getpid), 0);
}

long probe_try_openat2(struct probe_child *child)
{
	struct open_how how = {
	    .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
	    .resolve = RESOLVE_NO_MAGICLINKS,
	};

	(void)child;
	return raw4(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how));
}

/* The flag is younger than the call. */
long probe_try_close_range(struct probe_child *child)
{
	(void)child;
	return raw3(SYS_close_range, 0, ~0U, CLOSE_RANGE_CLOEXEC);
}

long probe_try_landlock(struct probe_child *child)
{
	(void)child;
	return raw3(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);
}
