/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/program_child.h"

#include "base/rawsys.h"

#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 64 * 1024 };

/* A child that has not executed a program yet has no exit signal, and is waited for as a
 * clone. */
static int wait_for(int pidfd, int flags, siginfo_t *ret)
{
	while (waitid(P_PIDFD, (id_t)pidfd, ret, WEXITED | __WALL | flags) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int program_child_start(struct program_child *child, pid_t *ret_pid, int *ret_pidfd)
{
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	int pidfd = -1;
	struct clone_args args = {
	    .flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
	    .pidfd = (uint64_t)(uintptr_t)&pidfd,
	    .stack = (uint64_t)(uintptr_t)stack,
	    .stack_size = STACK,
	};
	sigset_t all, before;
	siginfo_t info;
	long pid;

	if (stack == MAP_FAILED)
		return -errno;
	/* No handler of the caller may run in the child. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	child->error = 0;
	pid = raw_clone3(&args, sizeof(args), program_child_main, child, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)munmap(stack, STACK);
	if (pid < 0)
		return (int)pid;
	if (child->error != 0) {
		(void)wait_for(pidfd, 0, &info);
		(void)raw1(SYS_close, pidfd);
		return -child->error;
	}
	*ret_pid = (pid_t)pid;
	*ret_pidfd = pidfd;
	return 0;
}

int program_child_end(pid_t pid, int pidfd)
{
	siginfo_t info = {0};
	int rc;

	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	/* While it is there to be waited for, its id is not given to another group. */
	rc = wait_for(pidfd, WNOWAIT, &info);
	if (rc < 0)
		return rc;
	(void)kill(-pid, SIGKILL);
	rc = wait_for(pidfd, 0, &info);
	if (rc < 0)
		return rc;
	return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}
