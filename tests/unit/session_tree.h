/* SPDX-License-Identifier: Apache-2.0 */
/* Trees for the tests of session/: a directory of its own for each test, builders of
 * hostile shapes, a canary directory that must never change, and ways to run a test as an
 * ordinary user or on a kernel that lacks system calls. */
#ifndef TESTS_UNIT_SESSION_TREE_H
#define TESTS_UNIT_SESSION_TREE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/skipping.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/remove.h"

/* base/ws is what a box could write to, base/K is outside. */
struct tree {
	char base[64];
	int base_fd;
	int ws; /* base/ws, for reading */
	int k;
};

static inline void put(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
}

static inline void make_dir(int dir, const char *path)
{
	assert_int_equal(mkdirat(dir, path, 0755), 0);
}

static inline int open_dir(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* How many names lie in a directory. */
static inline size_t count_in(int dir, const char *path)
{
	DIR *stream = fdopendir(open_dir(dir, path));
	size_t count = 0;

	assert_non_null(stream);
	for (const struct dirent *entry; (entry = readdir(stream));)
		count +=
		    strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	(void)closedir(stream);
	return count;
}

static inline bool exists(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline struct tree tree_open_in(const char *dir)
{
	struct tree tree;

	(void)snprintf(tree.base, sizeof(tree.base), "%s/husk-test-XXXXXX", dir);
	assert_non_null(mkdtemp(tree.base));
	tree.base_fd = open_dir(AT_FDCWD, tree.base);
	make_dir(tree.base_fd, "ws");
	make_dir(tree.base_fd, "K");
	tree.ws = open_dir(tree.base_fd, "ws");
	tree.k = open_dir(tree.base_fd, "K");
	put(tree.k, "secret", "token-4711");
	put(tree.k, "f", "outside");
	make_dir(tree.k, "sub");
	put(tree.k, "sub/deep", "outside too");
	return tree;
}

static inline struct tree tree_open(void)
{
	return tree_open_in(P_tmpdir);
}

/* In memory where there is such a place: making 50,000 directories takes a disk a minute.
 */
static inline struct tree tree_open_large(void)
{
	return tree_open_in(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir);
}

/* remove_tree is under test itself; that nothing is left is what shows. */
static inline void tree_close(struct tree *tree)
{
	struct remove_report report;

	assert_int_equal(remove_tree(tree->base_fd, &report), 0);
	assert_int_equal(unlinkat(AT_FDCWD, tree->base, AT_REMOVEDIR), 0);
	(void)close(tree->ws);
	(void)close(tree->k);
	(void)close(tree->base_fd);
}

/* -- the canary -------------------------------------------------------------------------
 */

struct canary {
	struct stat st[4];
};

static const char *const canary_names[] = {".", "secret", "f", "sub/deep"};

static inline struct canary canary_look(const struct tree *tree)
{
	struct canary canary;
	char text[64] = {0};
	int fd = openat(tree->k, "secret", O_RDONLY | O_CLOEXEC);

	assert_int_equal(read(fd, text, sizeof(text)), 10);
	assert_string_equal(text, "token-4711");
	(void)close(fd);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(
		    fstatat(tree->k, canary_names[i], &canary.st[i], AT_SYMLINK_NOFOLLOW),
		    0);
	return canary;
}

/* Every change of K, its files or the names in it puts a new ctime somewhere. */
static inline void assert_canary(const struct tree *tree, const struct canary *before)
{
	struct canary now = canary_look(tree);

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(now.st[i].st_ino, before->st[i].st_ino);
		assert_int_equal(now.st[i].st_mode, before->st[i].st_mode);
		assert_int_equal(now.st[i].st_nlink, before->st[i].st_nlink);
		assert_int_equal(now.st[i].st_size, before->st[i].st_size);
		assert_int_equal(now.st[i].st_ctim.tv_sec, before->st[i].st_ctim.tv_sec);
		assert_int_equal(now.st[i].st_ctim.tv_nsec,
				 before->st[i].st_ctim.tv_nsec);
	}
}

/* -- hostile shapes ---------------------------------------------------------------------
 */

/* A chain of `depth` directories named `name` below dir. Returns the deepest, open. */
static inline int make_chain(int dir, const char *name, int depth)
{
	int fd = dup(dir);

	for (int i = 0; i < depth; i++) {
		int next;

		assert_int_equal(mkdirat(fd, name, 0755), 0);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		(void)close(fd);
		fd = next;
	}
	return fd;
}

static inline void make_socket(int dir, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
		       dir, name);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	(void)close(fd);
}

/* One of each thing that is not a file: all must be passed over, and removed. */
static inline void make_oddities(const struct tree *tree)
{
	char k[96];

	(void)snprintf(k, sizeof(k), "%s/K", tree->base);
	assert_int_equal(mkfifoat(tree->ws, "pipe", 0644), 0);
	make_socket(tree->ws, "socket");
	assert_int_equal(symlinkat(k, tree->ws, "link-to-k"), 0);
	assert_int_equal(symlinkat("../K/secret", tree->ws, "link-to-secret"), 0);
	assert_int_equal(symlinkat("nowhere", tree->ws, "dangling"), 0);
	assert_int_equal(symlinkat("loop-b", tree->ws, "loop-a"), 0);
	assert_int_equal(symlinkat("loop-a", tree->ws, "loop-b"), 0);
	assert_int_equal(symlinkat(".", tree->ws, "self"), 0);
	assert_int_equal(symlinkat("/proc/self/environ", tree->ws, "magic"), 0);
}

/* -- other worlds -----------------------------------------------------------------------
 */

/* A child that goes on until it is killed, also when an assertion of its parent ends the
 * test before it comes to that. Returns as fork does. */
static inline pid_t fork_bound(void)
{
	pid_t parent = getpid(), pid = fork();

	assert_true(pid >= 0);
	if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
		_exit(1);
	return pid;
}

/* Run step in a child process; assertions in it work. Exit code 0 means it held, 77 that
 * it could not be done here. */
static inline void in_child(void (*step)(struct tree *), struct tree *tree)
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		step(tree);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip_because("the step needs more than one id, or mounts");
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* For use in in_child: an assertion that ends the child, where cmocka's own would unwind
 * into a copy of the runner. */
#define CHECK(what)                                                             \
	do {                                                                    \
		if (!(what)) {                                                  \
			(void)fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", \
				      __FILE__, __LINE__, #what, errno);        \
			_exit(1);                                               \
		}                                                               \
	} while (0)

/* Become an ordinary user for good (in a child), the tree belonging to it. */
static inline void become_user(const struct tree *tree)
{
	static const uid_t user = 64123;

	if (geteuid() != 0)
		return;
	if (fchown(tree->base_fd, user, user) < 0 || fchown(tree->ws, user, user) < 0)
		_exit(77); /* a user namespace with one id */
	CHECK(setgroups(0, NULL) == 0);
	CHECK(setresgid(user, user, user) == 0);
	CHECK(setresuid(user, user, user) == 0);
}

/* A mount namespace of this (child) process where mounts made stay its own. */
static inline void own_mounts(void)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(77);
}

/* From now on this process has a kernel without openat2, and without O_TMPFILE. */
static inline void lose_system_calls(void)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
	    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]),
				     .filter = filter};
	bool lost = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;

	if (!lost) {
		(void)fprintf(stderr, "no seccomp filter here: %s\n", strerror(errno));
		_exit(1);
	}
}

/* Run a group of tests in a child that has lost those system calls. 0 where all passed.
 * To be called before there are threads. */
static inline int run_in_fallback(int (*run)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		int failed;

		lose_system_calls();
		failed = run();
		(void)fflush(NULL);
		_exit(failed != 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return status;
}

#endif
