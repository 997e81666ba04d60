/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entering the box's control groups. The caller makes them while the kernel makes our
 * namespaces, and sends their files over the channel: whoever is slower is waited for.
 */
#include "runtime/init/init.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { KERNEL_SIGSET = 8 };

/* Descriptors as ancillary data, cmsg(3). */
struct rights {
	size_t length;
	int level, type;
	int fds[WIRE_JOIN_MAX];
};

/* The end of the channel would tell of the caller's, but for forks of the caller, which
 * hold it open. */
static long wait_for_caller(const struct init *init)
{
	struct pollfd fds[2];
	long r;

	memset(fds, 0, sizeof(fds));
	fds[0].fd = init->plan->channel_fd;
	fds[1].fd = init->plan->caller_fd;
	fds[0].events = fds[1].events = POLLIN;
	do {
		r = raw5(SYS_ppoll, fds, 2, NULL, NULL, KERNEL_SIGSET);
	} while (r == -EINTR);
	if (fds[1].revents)
		init_exit(1);
	return r;
}

/* Returns how many descriptors have come. */
static long receive(struct init *init, struct wire_joins *joins, struct rights *rights)
{
	struct iovec part = {joins, sizeof(*joins)};
	struct msghdr message;
	long r = wait_for_caller(init);

	if (r < 0)
		return r;
	memset(&message, 0, sizeof(message));
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = rights;
	message.msg_controllen = sizeof(*rights);
	r = raw3(SYS_recvmsg, init->plan->channel_fd, &message, MSG_CMSG_CLOEXEC);
	if (r == 0)
		init_exit(1); /* the caller has given the box up, and knows why */
	if (r < 0)
		return r;
	if (r != (long)sizeof(*joins) || joins->count > WIRE_JOIN_MAX ||
	    (message.msg_flags & MSG_CTRUNC))
		return -EPROTO;
	if (joins->count > 0 &&
	    (rights->level != SOL_SOCKET || rights->type != SCM_RIGHTS ||
	     rights->length != offsetof(struct rights, fds) + joins->count * sizeof(int)))
		return -EPROTO;
	return joins->count;
}

static void limit_tasks(struct wire_header *plan, uint32_t nproc)
{
	struct wire_rlimit *limit = &plan->rlimits[plan->rlimit_count];

	if (nproc == 0 || plan->rlimit_count >= WIRE_RLIMITS)
		return;
	memset(limit, 0, sizeof(*limit));
	limit->resource = RLIMIT_NPROC;
	limit->soft = limit->hard = nproc;
	plan->rlimit_count++;
}

void join_cgroups(struct init *init)
{
	struct wire_joins joins;
	struct rights rights;
	long count;

	if (!init->plan->joins)
		return;
	memset(&joins, 0, sizeof(joins));
	memset(&rights, 0, sizeof(rights));
	count = STEP(init, STEP_JOIN_CGROUP, NULL, receive(init, &joins, &rights));
	for (long i = 0; i < count; i++) {
		(void)STEP(init, STEP_JOIN_CGROUP, NULL,
			   raw3(SYS_write, rights.fds[i], "0", 1));
		(void)raw1(SYS_close, rights.fds[i]);
	}
	limit_tasks(init->plan, joins.nproc);
}
