/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to run a check in a process of its own: as an ordinary user, inside a user
 * namespace, under a seccomp filter, so that what it changes ends with it. */
#ifndef TESTS_UNIT_PROBE_FORK_H
#define TESTS_UNIT_PROBE_FORK_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/skipping.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDINARY = 65533, SKIPPED = 77, FAILED = 1 };

/* In a forked process cmocka's assertions are of no use: it says where, and fails. */
#define CHECK(that)                                                                      \
	do {                                                                             \
		if (!(that)) {                                                           \
			(void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, \
				      #that);                                            \
			return FAILED;                                                   \
		}                                                                        \
	} while (0)

typedef int (*fork_check)(void *data);

static inline int fork_and(fork_check prepare, void *how, fork_check check, void *data)
{
	int status, r;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		r = prepare ? prepare(how) : 0;
		if (r == 0)
			r = check(data);
		_exit(r);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Fails or skips the test that calls it. */
static inline void fork_done(int status)
{
	if (status == SKIPPED)
		skip_because(
		    "the step needs a user namespace with more than one id, or mounts");
	assert_int_equal(status, 0);
}

/* -- prepare: who -- */

/* Anybody but root. Not root already: stays who it is. */
static inline int become_ordinary(void *unused)
{
	(void)unused;
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(ORDINARY, ORDINARY, ORDINARY) < 0 ||
	    setresuid(ORDINARY, ORDINARY, ORDINARY) < 0)
		return SKIPPED; /* root of one id */
	return prctl(PR_SET_DUMPABLE, 1) < 0 ? FAILED : 0;
}

static inline bool put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		(void)close(fd);
	return done;
}

/* As `unshare -Ur` does it: root of one id. */
static inline int become_root_of_one(void *unused)
{
	char uid[64], gid[64];

	(void)unused;
	(void)snprintf(uid, sizeof(uid), "0 %u 1", geteuid());
	(void)snprintf(gid, sizeof(gid), "0 %u 1", getegid());
	if (unshare(CLONE_NEWUSER) < 0)
		return SKIPPED; /* no user namespaces here */
	if (!put_text("/proc/self/setgroups", "deny") ||
	    !put_text("/proc/self/uid_map", uid) || !put_text("/proc/self/gid_map", gid))
		return SKIPPED;
	return 0;
}

static inline int become_ordinary_root_of_one(void *unused)
{
	int r = become_ordinary(NULL);

	return r ? r : become_root_of_one(unused);
}

/* -- prepare: what the kernel lacks -- */

struct lack {
	long call;
	uint32_t answer;      /* SECCOMP_RET_* */
	unsigned argument;    /* only where the low half of this argument ... */
	uint32_t bits, equal; /* ... masked with bits is `equal`; bits 0: always */
};

static inline int lose_call(void *data)
{
	const struct lack *lack = data;
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)lack->call, 0, 4),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     (uint32_t)offsetof(struct seccomp_data, args) + 8 * lack->argument),
	    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, lack->bits),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, lack->equal, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, lack->answer),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return SKIPPED;
	return 0;
}

/* -- what must be as it was -- */

static inline int count_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Of any kind, also those that send no signal. */
static inline bool has_child(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 ||
	       errno != ECHILD;
}

#endif
