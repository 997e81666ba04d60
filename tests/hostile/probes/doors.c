/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries doors out of a box that take more than a number and a few plain arguments:
 *structs, descriptors, another process.
 *
 *	doors NAME...
 *
 * For each a line: `NAME returned VALUE ERRNO` or `NAME killed SIGNAL`.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#ifndef PTRACE_O_SUSPEND_SECCOMP
#define PTRACE_O_SUSPEND_SECCOMP (1 << 21)
#endif
#ifndef PTRACE_SEIZE
#define PTRACE_SEIZE 0x4206
#endif
#define GARBAGE (UINT64_C(0xdeadbeef) << 32)

/* The same numbers in every ABI. */
enum { SYS_PIDFD_OPEN_ = 434, SYS_PIDFD_GETFD_ = 438 };

static long result_of(long value)
{
	return value == -1 ? -errno : value;
}

/* A child that may be traced is seized with the option that lifts its filter. */
static long door_suspend_seccomp(void)
{
	pid_t pid = fork();
	long r;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	r = result_of(ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_SUSPEND_SECCOMP));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return r;
}

static long door_trace_init(void)
{
	return result_of(ptrace(PTRACE_SEIZE, 1, NULL, NULL));
}

static long door_attach_init(void)
{
	return result_of(ptrace(PTRACE_ATTACH, 1, NULL, NULL));
}

static long door_read_init(void)
{
	char byte;
	struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};

	return result_of(syscall(SYS_process_vm_readv, 1, &here, 1, &there, 1, 0));
}

static long door_write_init(void)
{
	char byte = 0;
	struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};

	return result_of(syscall(SYS_process_vm_writev, 1, &here, 1, &there, 1, 0));
}

static long door_getfd_init(void)
{
	long pidfd = syscall(SYS_PIDFD_OPEN_, 1, 0);

	if (pidfd < 0)
		return -errno;
	return result_of(syscall(SYS_PIDFD_GETFD_, pidfd, 3, 0));
}

static long door_memory_of_init(void)
{
	return result_of(open("/proc/1/mem", O_RDWR | O_CLOEXEC));
}

static long door_userfaultfd_device(void)
{
	return result_of(open("/dev/userfaultfd", O_RDWR | O_CLOEXEC));
}

static long on_terminal(unsigned long request, void *argument)
{
	int leader = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (leader < 0)
		return -errno;
	return result_of(syscall(SYS_ioctl, leader, request, argument));
}

static long door_type_into_terminal(void)
{
	char byte = 'x';

	return on_terminal(TIOCSTI, &byte);
}

static long door_type_with_garbage(void)
{
#if defined(__x86_64__)
	char byte = 'x';

	return on_terminal(GARBAGE | TIOCSTI, &byte);
#else
	return -EPERM;
#endif
}

static long door_paste_into_console(void)
{
	char code[2] = {3, 0};

	return on_terminal(0x541C /* TIOCLINUX */, code);
}

static const struct {
	const char *name;
	long (*function)(void);
} doors[] = {
    {"attach-init", door_attach_init},
    {"getfd-init", door_getfd_init},
    {"memory-of-init", door_memory_of_init},
    {"paste-into-console", door_paste_into_console},
    {"read-init", door_read_init},
    {"suspend-seccomp", door_suspend_seccomp},
    {"trace-init", door_trace_init},
    {"type-into-terminal", door_type_into_terminal},
    {"type-with-garbage", door_type_with_garbage},
    {"userfaultfd-device", door_userfaultfd_device},
    {"write-init", door_write_init},
};

static int try_door(const char *name, long *answer)
{
	int status = 0;
	pid_t pid;

	for (size_t i = 0; i < sizeof(doors) / sizeof(doors[0]); i++) {
		if (strcmp(doors[i].name, name) != 0)
			continue;
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			*answer = doors[i].function();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 2;
		if (WIFSIGNALED(status))
			printf("%s killed %d\n", name, WTERMSIG(status));
		else
			printf("%s returned %ld %s\n", name, *answer,
			       *answer < 0 ? strerrorname_np((int)-*answer) : "-");
		return 0;
	}
	fprintf(stderr, "doors: no door is called %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	long *answer = mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (answer == MAP_FAILED || argc < 2)
		return 2;
	for (int i = 1; i < argc; i++) {
		if (try_door(argv[i], answer) != 0)
			return 2;
	}
	return 0;
}
