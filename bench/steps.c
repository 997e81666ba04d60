/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's work for a box, and nothing else: what process 1 of new namespaces has to
 * ask for before a program is shut in as husk shuts it in. No plan, no check, no message,
 * no choice. A box cannot be faster than this; the difference is husk's own.
 *
 *	steps LEVEL PROGRAM [ARG...]
 *
 * Each level does what those below it do:
 *	1  be process 1: make another process, which executes PROGRAM, and wait for it
 *	2  ids (`start` writes them before this runs), and none below; mounts that are
 *	   the box's own: proc, devpts, mqueue, a tmpfs
 *	3  what lies in proc and tells of the host is covered
 *	4  the loopback interface is up
 *	5  rlimits, Landlock, capabilities, keyring, no_new_privs
 *	6  the system call filters of process 1 and of the program
 * "LEVELg" waits before the mounts for a byte on its standard input, by which the parent
 * says that it is in control groups; "LEVELw", when all is done, just before PROGRAM is
 * executed. "LEVELq" throws away what PROGRAM prints.
 */
#include "base/rawsys.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/if.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdint.h>

#include "init_filter.h"
#include "seccomp_filters.c"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	LANDLOCK_CREATE = 444,
	LANDLOCK_ADD,
	LANDLOCK_SELF,
	MS_BIND_ = 4096,
	ALL_RIGHTS = 0x1fff
};

static const char *const masked[] = {
    "/proc/buddyinfo", "/proc/interrupts", "/proc/kallsyms",   "/proc/kcore",
    "/proc/key-users", "/proc/keys",	   "/proc/modules",    "/proc/schedstat",
    "/proc/softirqs",  "/proc/timer_list", "/proc/vmallocinfo"};
static const char *const shut[] = {"/proc/fs", "/proc/sys", "/proc/irq", "/proc/1"};

static char **child_argv;
static int level, waits;

void _start(void);
void steps_main(char **stack);

static void need(long r)
{
	if (r < 0)
		raw1(SYS_exit_group, 1);
}

static void await_byte(void)
{
	char byte[1];

	if (raw3(SYS_read, 0, byte, 1) != 1)
		raw1(SYS_exit_group, 1);
}

static void no_user_spaces(void)
{
	long fd = raw4(SYS_openat, AT_FDCWD, "/proc/sys/user/max_user_namespaces",
		       O_WRONLY | O_CLOEXEC, 0);

	if (fd >= 0)
		(void)raw3(SYS_write, fd, "0", 1);
	raw1(SYS_close, fd);
}

static void own_mounts(void)
{
	need(raw5(SYS_mount, 0, "/", 0, 0x84000 /* MS_REC | MS_PRIVATE */, 0));
	need(raw5(SYS_mount, "proc", "/proc", "proc", 0, 0));
	need(raw5(SYS_mount, "devpts", "/dev/pts", "devpts", 0, "newinstance"));
	need(raw5(SYS_mount, "tmpfs", "/dev/shm", "tmpfs", 0, 0));
	(void)raw5(SYS_mount, "mqueue", "/dev/mqueue", "mqueue", 0, 0);
}

static void cover(void)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

	for (unsigned i = 0; i < COUNT(masked); i++)
		(void)raw5(SYS_mount, "/dev/null", masked[i], 0, MS_BIND_, 0);
	for (unsigned i = 0; i < COUNT(shut); i++) {
		(void)raw5(SYS_mount, shut[i], shut[i], 0, MS_BIND_, 0);
		(void)raw5(SYS_mount_setattr, AT_FDCWD, shut[i], 0, &attr, sizeof(attr));
	}
}

static void loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	long fd = raw3(SYS_socket, 2 /* AF_INET */, 2 /* SOCK_DGRAM */, 0);

	need(fd);
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	need(raw3(SYS_ioctl, fd, SIOCSIFFLAGS, &request));
	raw1(SYS_close, fd);
}

static void own_root_only(void)
{
	struct {
		uint64_t fs, net, scoped;
	} attr = {ALL_RIGHTS, 0, 0};
	struct {
		uint64_t allowed;
		int32_t fd;
	} __attribute__((packed)) rule = {ALL_RIGHTS, -1};
	long set = raw3(LANDLOCK_CREATE, &attr, 8, 0);

	if (set < 0)
		return; /* this kernel has none, and husk goes without */
	rule.fd = (int32_t)raw4(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
	need(raw4(LANDLOCK_ADD, set, 1, &rule, 0));
	need(raw2(LANDLOCK_SELF, set, 0));
	raw1(SYS_close, rule.fd);
	raw1(SYS_close, set);
}

static void give_up(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0}};
	uint64_t limit[2];

	for (int i = 0; i < 11; i++) {
		need(raw4(SYS_prlimit64, 0, i, 0, limit));
		need(raw4(SYS_prlimit64, 0, i, limit, 0));
	}
	need(raw5(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	own_root_only();
	for (unsigned long cap = 0; raw5(SYS_prctl, PR_CAPBSET_DROP, cap, 0, 0, 0) == 0;)
		cap++;
	need(raw2(SYS_capset, &header, none));
	(void)raw2(SYS_keyctl, 1 /* KEYCTL_JOIN_SESSION_KEYRING */, 0);
}

static long filter(const struct sock_filter *insns, unsigned count, long flags)
{
	struct sock_fprog program = {.len = (unsigned short)count,
				     .filter = (struct sock_filter *)(uintptr_t)insns};

	return raw3(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static void child(void *unused, void *unused_too)
{
	static char path[] = "PATH=/usr/bin:/bin", lang[] = "LANG=C.UTF-8";
	static char *some[] = {path, lang, 0};

	(void)unused;
	(void)unused_too;
	if (level >= 6)
		need(filter(insns_default, COUNT(insns_default),
			    SECCOMP_FILTER_FLAG_NEW_LISTENER));
	if (waits == 'w')
		await_byte();
	raw3(SYS_execve, child_argv[0], child_argv, some);
	raw1(SYS_exit_group, 1);
}

static long start_child(void)
{
	static char stack[16384] __attribute__((aligned(64)));
	struct clone_args args = {.flags = CLONE_VM | (waits == 'w' ? 0 : CLONE_VFORK),
				  .exit_signal = SIGCHLD,
				  .stack = (uintptr_t)stack,
				  .stack_size = sizeof(stack)};

	return raw_clone3(&args, sizeof(args), child, 0, 0);
}

void steps_main(char **stack)
{
	char **argv = stack + 1;
	int status = 1;
	long pid;

	if ((long)stack[0] < 3)
		raw1(SYS_exit_group, 2);
	level = argv[1][0] - '0';
	child_argv = argv + 2;
	waits = argv[1][1];
	if (waits == 'g')
		await_byte();
	if (waits == 'q')
		need(raw3(SYS_dup3, raw4(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY, 0),
			  1, 0));
	if (level >= 2) {
		no_user_spaces();
		own_mounts();
	}
	if (level >= 3)
		cover();
	if (level >= 4)
		loopback_up();
	if (level >= 5)
		give_up();
	pid = start_child();
	need(pid);
	if (level >= 6)
		need(filter(init_filter, COUNT(init_filter), 0));
	need(raw4(SYS_wait4, pid, &status, 0, 0));
	raw1(SYS_exit_group, status != 0);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n"
	"\tcall steps_main\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tmov x0, sp\n\tb "
	"steps_main\n");
#endif
