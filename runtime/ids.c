/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <linux/sched.h>

#include "base/fd.h"
#include "base/rawsys.h"

enum {
	/* Above what container managers hand out and below 2^31, where some programs take
	 * ids for negative; no account database gives these out. */
	RANGE_FIRST = 1879048192,
	RANGE_SIZE = 1 << 28,
	MAP_TEXT = 4096,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	bool known;
	uid_t euid; /* whose answer it is: a caller may change its ids */
	struct ids ids;
} chosen;

bool ids_is_box(uint32_t uid)
{
	return uid >= RANGE_FIRST && uid - RANGE_FIRST < RANGE_SIZE;
}

int ids_pick(const char *uid_map, uint32_t euid, uint32_t spread, struct ids *ret)
{
	unsigned long long inside, outside, count, best_first = 0, best_count = 0;
	int used;

	ret->foreign = false;
	ret->uid = euid;
	ret->gid = 0;
	if (euid != 0)
		return 0;
	while (sscanf(uid_map, "%llu %llu %llu%n", &inside, &outside, &count, &used) ==
	       3) {
		if (count > best_count) {
			best_first = inside;
			best_count = count;
		}
		uid_map += used;
	}
	if (best_count <= 1)
		return 0; /* root of one id: an ordinary caller */
	ret->foreign = true;
	if (best_first <= RANGE_FIRST &&
	    best_first + best_count >= (unsigned long long)RANGE_FIRST + RANGE_SIZE)
		ret->uid = RANGE_FIRST + spread % RANGE_SIZE;
	else if (best_count > 4096) /* the far end of a container's share */
		ret->uid = (uint32_t)(best_first + best_count - 2 - spread % 1024);
	else if (best_first + best_count - 1 > 0)
		ret->uid = (uint32_t)(best_first + best_count - 1);
	ret->gid = ret->uid;
	return ret->uid == 0 ? -ERANGE : 0;
}

int ids_choose(struct ids *ret, struct husk_error *err)
{
	char map[MAP_TEXT];
	uint32_t spread = 0;
	ssize_t n;
	int r = 0;

	pthread_mutex_lock(&lock);
	if (!chosen.known || chosen.euid != geteuid()) {
		n = fd_read_text(AT_FDCWD, "/proc/self/uid_map", map, sizeof(map));
		if (n < 0)
			r = error_sys(err, (int)-n, "/proc/self/uid_map",
				      "cannot read it");
		if (getrandom(&spread, sizeof(spread), GRND_NONBLOCK) < 0)
			spread = (uint32_t)getpid();
		if (r == 0 && ids_pick(map, geteuid(), spread, &chosen.ids) < 0)
			r = error_set(
			    err, HUSK_E_SYSTEM, "id maps",
			    "this user namespace has no id but root's to give to a box");
		if (r == 0 && !chosen.ids.foreign)
			chosen.ids.gid = getegid();
		chosen.known = r == 0;
		chosen.euid = geteuid();
	}
	if (r == 0)
		*ret = chosen.ids;
	pthread_mutex_unlock(&lock);
	return r;
}

/* Lies in the parent's memory, and so does the child's stack: nothing of both may go
 * before the child has. */
struct holder {
	pid_t parent;
	volatile uint32_t over; /* futex: the namespace is held by another descriptor */
};

/* Until the parent says so or kills us; or until it dies, which may have happened before
 * the kernel was told that this is to end us. */
static void namespace_child(void *data, void *unused)
{
	struct holder *holder = data;

	(void)unused;
	(void)raw5(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (!holder->over && raw0(SYS_getppid) == holder->parent)
		(void)raw4(SYS_futex, &holder->over, FUTEX_WAIT, 0, NULL);
	for (;;)
		raw1(SYS_exit_group, 1);
}

/* Both ways: a signal may be refused by a security module, and a child that somebody has
 * stopped does not look. */
static void end_child(struct holder *holder, int pidfd)
{
	holder->over = 1;
	(void)raw3(SYS_futex, &holder->over, FUTEX_WAKE, 1);
	(void)raw4(SYS_pidfd_send_signal, pidfd, SIGKILL, 0, 0);
	while (waitid(P_PIDFD, (id_t)pidfd, &(siginfo_t){0}, WEXITED | __WALL) < 0 &&
	       errno == EINTR)
		;
}

static int write_maps(pid_t pid, const struct ids *ids, uint32_t disk_uid,
		      uint32_t disk_gid)
{
	char path[64], map[64];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	(void)snprintf(map, sizeof(map), "%u %u 1", disk_uid, ids->uid);
	r = fd_write_text(AT_FDCWD, path, map);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "/proc/%d/gid_map", (int)pid);
	(void)snprintf(map, sizeof(map), "%u %u 1", disk_gid, ids->gid);
	return fd_write_text(AT_FDCWD, path, map);
}

/* A short-lived process is the only way to make a user namespace for another use. */
static int make_namespace(const struct ids *ids, uint32_t disk_uid, uint32_t disk_gid)
{
	char stack[4096] __attribute__((aligned(16)));
	char path[64];
	int pidfd = -1, fd, r;
	struct holder holder = {.parent = getpid()};
	long pid;
	struct clone_args args = {
	    .flags = CLONE_VM | CLONE_NEWUSER | CLONE_PIDFD,
	    .pidfd = (uint64_t)(uintptr_t)&pidfd,
	    .stack = (uint64_t)(uintptr_t)stack,
	    .stack_size = sizeof(stack),
	};

	pid = raw_clone3(&args, sizeof(args), namespace_child, &holder, NULL);
	if (pid < 0)
		return (int)pid;
	r = write_maps((pid_t)pid, ids, disk_uid, disk_gid);
	(void)snprintf(path, sizeof(path), "/proc/%ld/ns/user", pid);
	fd = r < 0 ? r : open(path, O_RDONLY | O_CLOEXEC);
	if (r == 0 && fd < 0)
		fd = -errno;
	end_child(&holder, pidfd);
	(void)close(pidfd);
	return fd;
}

int ids_mount_namespace(const struct ids *ids, uint32_t disk_uid, uint32_t disk_gid)
{
	sigset_t all, before;
	int fd;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	fd = make_namespace(ids, disk_uid, disk_gid);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}
