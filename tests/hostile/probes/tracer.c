/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that traces its child makes another call of the one that the child makes.
 *
 *	tracer entry|event|exec NUMBER
 *
 * The child asks for its parent's number, again and again. Its call is replaced by
 *NUMBER, with arguments that lead nowhere, where it enters the kernel (entry), or where a
 *filter of the child's own hands it to the tracer (event); with exec the child is another
 * program by then. Prints `NUMBER returned VALUE ERRNO`, `NUMBER killed SIGNAL` or
 * `untraced ERRNO`.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

enum { TRACED_STOP = SIGTRAP | 0x80, NOWHERE = 8, NOT_TRACED = 3 };

/* A filter that lets its tracer decide about getppid. */
static int hand_over(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static _Noreturn void traced(const char *how, char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) {
		printf("untraced %s\n", strerrorname_np(errno));
		_exit(NOT_TRACED);
	}
	if (strcmp(how, "event") == 0 && hand_over() < 0)
		_exit(4);
	raise(SIGSTOP);
	if (strcmp(how, "exec") == 0) {
		argv[1] = "loop";
		execv("/proc/self/exe", argv);
	}
	for (;;)
		(void)syscall(SYS_getppid);
}

/* Let it run to its next stop; false once it has ended. */
static int next_stop(pid_t pid, int event, int *status)
{
	if (ptrace(event ? PTRACE_CONT : PTRACE_SYSCALL, pid, NULL, NULL) < 0)
		return 0;
	return waitpid(pid, status, 0) == pid && WIFSTOPPED(*status);
}

/* Whether it stands before the call that is to be replaced. */
static int at_the_call(pid_t pid, int event, int status, struct user_regs_struct *regs)
{
	const int stop = event ? status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)
			       : WSTOPSIG(status) == TRACED_STOP;

	return stop && ptrace(PTRACE_GETREGS, pid, NULL, regs) == 0 &&
	       regs->orig_rax == SYS_getppid && (long)regs->rax == -ENOSYS;
}

static int replace(pid_t pid, int event, long number)
{
	struct user_regs_struct regs;
	int status = 0;

	do {
		if (!next_stop(pid, event, &status))
			return status;
	} while (!at_the_call(pid, event, status, &regs));
	regs.orig_rax = (unsigned long)number;
	regs.rdi = regs.rsi = regs.rdx = regs.r10 = NOWHERE;
	if (ptrace(PTRACE_SETREGS, pid, NULL, &regs) < 0)
		return status;
	if (!next_stop(pid, 0, &status))
		return status;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0)
		printf("%ld returned %ld %s\n", number, (long)regs.rax,
		       (long)regs.rax < 0 ? strerrorname_np((int)-(long)regs.rax) : "-");
	return status;
}

int main(int argc, char **argv)
{
	const int event = argc == 3 && strcmp(argv[1], "event") == 0;
	int status = 0;
	pid_t pid;

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IONBF, 0);
	while (strcmp(argv[1], "loop") == 0)
		(void)syscall(SYS_getppid);
	pid = fork();
	if (pid == 0)
		traced(argv[1], argv);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 2;
	if (!WIFSTOPPED(status))
		return WEXITSTATUS(status) == NOT_TRACED ? 0 : 2;
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL |
		       (event ? PTRACE_O_TRACESECCOMP : 0)) < 0)
		return 2;
	status = replace(pid, event, strtol(argv[2], NULL, 0));
	if (WIFSIGNALED(status))
		printf("%s killed %d\n", argv[2], WTERMSIG(status));
	kill(pid, SIGKILL);
	return 0;
}

#else

/* The registers have other names there; the calls of 32-bit programs are in calls.c. */
int main(void)
{
	fputs("tracer: for 64-bit x86 alone\n", stderr);
	return 2;
}

#endif
