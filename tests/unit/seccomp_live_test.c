/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in filters in the kernel: children that install one and make calls.
 *
 * A child shares its descriptors with the test, so the listener that seccomp(2) opens is
 * the test's at once, as it is init's in a box. The child says the listener's number
 * through a pipe, makes one call, and exits with the errno that it saw. Needs a kernel
 * with filters and listeners (5.0); without one, the test is skipped and says so. */
#include "tests/unit/seccomp_evaluate.h"
#include "tests/unit/skipping.h"

#include <linux/audit.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child makes of it; the answer is its exit code. */
typedef int (*call_fn)(void);

enum { PATIENCE_MS = 20000 };

struct outcome {
	bool notified;
	struct seccomp_notif request;
	int status; /* of waitpid */
};

static int errno_of(long result)
{
	return result == -1 ? errno : 0;
}

/* -- a child under a filter -- */

static int install(const struct seccomp_program *program, unsigned flags)
{
	const struct sock_fprog fprog = {
	    .len = program->count,
	    .filter = (struct sock_filter *)(uintptr_t)program->insns,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &fprog);
}

static _Noreturn void child(const struct seccomp_program *program, unsigned flags,
			    int pipe_fd, call_fn call)
{
	const int listener = install(program, flags);

	if (write(pipe_fd, &listener, sizeof(listener)) != (ssize_t)sizeof(listener))
		_exit(254);
	if (listener < 0)
		_exit(253);
	_exit(call());
}

/* As init does: take the call, end the task. */
static void answer_kill(int listener, struct outcome *outcome)
{
	struct pollfd poll_fd = {.fd = listener, .events = POLLIN};

	assert_true(poll(&poll_fd, 1, PATIENCE_MS) > 0);
	if (!(poll_fd.revents & POLLIN))
		return; /* hung up: the child is gone, without a word */
	assert_int_equal(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &outcome->request), 0);
	outcome->notified = true;
	assert_int_equal(kill((pid_t)outcome->request.pid, SIGKILL), 0);
}

static struct outcome run(const struct seccomp_program *program, bool listen,
			  call_fn call)
{
	const unsigned flags = listen ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
	struct outcome outcome = {0};
	int fds[2], listener = -1;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	/* A fork that shares descriptors. */
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		child(program, flags, fds[1], call);
	assert_true(pid > 0);
	assert_int_equal(read(fds[0], &listener, sizeof(listener)), sizeof(listener));
	assert_true(listener >= 0);
	if (listen) {
		answer_kill(listener, &outcome);
		(void)close(listener);
	}
	assert_int_equal(waitpid(pid, &outcome.status, 0), pid);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return outcome;
}

static const char *const names[] = {"default", "strict"};

/* Under both policies, with a listener. */
static void expect_kill(call_fn call, uint32_t arch, uint32_t nr, const char *name)
{
	for (size_t i = 0; i < 2; i++) {
		struct seccomp_program program;
		struct outcome outcome;
		char buf[32];

		assert_int_equal(seccomp_builtin(names[i], &program), 0);
		outcome = run(&program, true, call);
		assert_true(outcome.notified);
		assert_int_equal(outcome.request.data.arch, arch);
		assert_int_equal((uint32_t)outcome.request.data.nr, nr);
		assert_true(WIFSIGNALED(outcome.status));
		assert_int_equal(WTERMSIG(outcome.status), SIGKILL);
		assert_string_equal(seccomp_syscall_name(arch, nr, buf, sizeof(buf)),
				    name);
	}
}

static void expect_exit(call_fn call, int code)
{
	for (size_t i = 0; i < 2; i++) {
		struct seccomp_program program;
		struct outcome outcome;

		assert_int_equal(seccomp_builtin(names[i], &program), 0);
		outcome = run(&program, true, call);
		assert_false(outcome.notified);
		assert_true(WIFEXITED(outcome.status));
		assert_int_equal(WEXITSTATUS(outcome.status), code);
	}
}

/* -- calls -- */

static int call_mount(void)
{
	return errno_of(syscall(SYS_mount, 0, 0, 0, 0, 0));
}

static int call_unshare(void)
{
	return errno_of(syscall(SYS_unshare, CLONE_NEWUSER));
}

static int call_clone_namespace(void)
{
	const long rc =
	    syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);

	if (rc == 0)
		_exit(0);
	return errno_of(rc);
}

static int call_open_tree_attr(void)
{
	return errno_of(syscall(467, -1, "", 0, 0, 0));
}

static int call_fork(void)
{
	const long rc = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	int status;

	if (rc == 0)
		_exit(7);
	if (rc < 0 || waitpid((pid_t)rc, &status, 0) != rc)
		return errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 255;
}

static int call_clone3(void)
{
	return errno_of(syscall(SYS_clone3, NULL, 0));
}

static int call_tiocsti(void)
{
	return errno_of(
	    syscall(SYS_ioctl, 0, UINT64_C(0xffffffff00000000) | TIOCSTI, "x"));
}

static int call_alg_socket(void)
{
	return errno_of(socket(AF_ALG, SOCK_SEQPACKET, 0));
}

static int call_vsock_high_bits(void)
{
	return errno_of(
	    syscall(SYS_socket, UINT64_C(0x100000000) | AF_VSOCK, SOCK_STREAM, 0));
}

static int call_local_socket(void)
{
	int fds[2];

	return errno_of(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
}

static int call_past_the_review(void)
{
	return errno_of(syscall(471, 0, 0, 0));
}

static int call_minus_one(void)
{
	return errno_of(syscall(-1));
}

static int call_io_uring(void)
{
	return errno_of(syscall(SYS_io_uring_setup, 1, NULL));
}

#if defined(__x86_64__)
enum { X32 = 0x40000000 };

/* A 32-bit system call, from 64-bit code. */
static long call_i386(uint32_t nr, uint32_t a, uint32_t b, uint32_t c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"((unsigned long)nr), "b"((unsigned long)a),
			   "c"((unsigned long)b), "d"((unsigned long)c)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static int call_i386_mount(void)
{
	return (int)-call_i386(21, 0, 0, 0);
}

static int call_i386_unshare(void)
{
	return (int)-call_i386(310, CLONE_NEWUSER, 0, 0);
}

static int call_i386_socketcall(void)
{
	return (int)-call_i386(102, 1, 0, 0);
}

/* What a 32-bit program does to say hello: its strings lie below 4 GiB. */
static int call_i386_hello(void)
{
	int fds[2];
	char *text = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	char heard[6] = "";

	if (text == MAP_FAILED || pipe(fds) < 0)
		return errno;
	memcpy(text, "hello", 5);
	if (call_i386(4, (uint32_t)fds[1], (uint32_t)(uintptr_t)text, 5) != 5)
		return 255;
	if (read(fds[0], heard, 5) != 5 || strcmp(heard, "hello") != 0)
		return 255;
	(void)call_i386(252, 42, 0, 0); /* exit_group */
	return 255;
}

static int call_x32_mount(void)
{
	return errno_of(syscall(X32 + 165, 0, 0, 0, 0, 0));
}

static int call_x32_getpid(void)
{
	return errno_of(syscall(X32 + SYS_getpid));
}
#endif

/* -- tests -- */

static void escapes_are_notified(void **state)
{
	(void)state;
	expect_kill(call_mount, seccomp_abis[0].audit_arch, SYS_mount, "mount");
	expect_kill(call_unshare, seccomp_abis[0].audit_arch, SYS_unshare, "unshare");
	expect_kill(call_clone_namespace, seccomp_abis[0].audit_arch, SYS_clone, "clone");
	expect_kill(call_open_tree_attr, seccomp_abis[0].audit_arch, 467,
		    "open_tree_attr");
}

static void probes_get_an_errno(void **state)
{
	(void)state;
	expect_exit(call_clone3, ENOSYS);
	expect_exit(call_io_uring, ENOSYS);
	expect_exit(call_past_the_review, ENOSYS);
	expect_exit(call_minus_one, ENOSYS);
	expect_exit(call_tiocsti, EPERM);
	expect_exit(call_alg_socket, EAFNOSUPPORT);
	expect_exit(call_vsock_high_bits, EAFNOSUPPORT);
}

static void honest_calls_go_through(void **state)
{
	(void)state;
	expect_exit(call_fork, 0);
	expect_exit(call_local_socket, 0);
}

#if defined(__x86_64__)
/* Some kernels do not have the 32-bit entry: there the call is a fault. */
static bool has_i386(void)
{
	const pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(call_i386(20, 0, 0, 0) == getpid() ? 0 : 1); /* getpid */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status == 0;
}

static void i386_has_the_same_policy(void **state)
{
	(void)state;
	if (!has_i386())
		skip_because("this kernel runs no 32-bit programs");
	expect_kill(call_i386_mount, AUDIT_ARCH_I386, 21, "mount");
	expect_kill(call_i386_unshare, AUDIT_ARCH_I386, 310, "unshare");
	expect_exit(call_i386_socketcall, ENOSYS);
	expect_exit(call_i386_hello, 42);
}

static void x32_numbers_are_reported(void **state)
{
	(void)state;
	expect_kill(call_x32_mount, AUDIT_ARCH_X86_64, X32 + 165, "mount");
	expect_exit(call_x32_getpid, ENOSYS);
}
#endif

/* On a kernel without listeners a kill is a plain one. */
static void without_notify_the_kernel_kills(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct seccomp_program program;
		struct outcome outcome;

		assert_int_equal(seccomp_builtin(names[i], &program), 0);
		assert_int_equal(seccomp_without_notify(&program), 0);
		outcome = run(&program, false, call_mount);
		assert_true(WIFSIGNALED(outcome.status));
		assert_int_equal(WTERMSIG(outcome.status), SIGSYS);
		outcome = run(&program, false, call_clone3);
		assert_true(WIFEXITED(outcome.status));
		assert_int_equal(WEXITSTATUS(outcome.status), ENOSYS);
		seccomp_program_deinit(&program);
	}
}

/* Can this kernel do it at all? */
static int has_listeners(void)
{
	const uint32_t action = SECCOMP_RET_USER_NOTIF;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_are_notified),
		cmocka_unit_test(probes_get_an_errno),
		cmocka_unit_test(honest_calls_go_through),
#if defined(__x86_64__)
		cmocka_unit_test(i386_has_the_same_policy),
		cmocka_unit_test(x32_numbers_are_reported),
#endif
		cmocka_unit_test(without_notify_the_kernel_kills),
	};

	if (!has_listeners()) {
		(void)printf("skipped: this kernel has no seccomp listeners\n");
		return EXIT_SUCCESS;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
