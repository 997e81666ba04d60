/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box that is made ahead of its call. Until that comes nothing of it runs (parked), or
 * an interpreter that has no source yet (held).
 */
#include "runtime/init/init.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "runtime/wire_check.h"

enum {
	KERNEL_SIGSET = 8,
	LINGER_NS = 50000000,
};

/* A descriptor as ancillary data, cmsg(3): a pipe to read. */
struct rights {
	size_t length;
	int level, type;
	int fd;
};

struct wire_header *park_map(int fd)
{
	struct wire_header *block = NULL;
	long size, at;

	size = raw3(SYS_lseek, fd, 0, 2 /* SEEK_END */);
	if (size < (long)sizeof(*block))
		return NULL;
	at = raw6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at < 0)
		return NULL;
	(void)raw1(SYS_close, fd);
	block = (struct wire_header *)at;
	return wire_is_sound(block, (uint64_t)size) ? block : NULL;
}

void park_adopt(struct init *init, struct wire_header *block)
{
	init->call_block = block;
	init->call = (struct wire_call *)((char *)block + block->call);
	init->deadline_us = init->call->deadline_us;
}

static int receive(const struct init *init, struct wire_request *request,
		   struct rights *rights)
{
	struct iovec part = {request, sizeof(*request)};
	struct msghdr message;
	long n;

	memset(&message, 0, sizeof(message));
	memset(rights, 0, sizeof(*rights));
	memset(request, 0, sizeof(*request));
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = rights;
	message.msg_controllen = sizeof(*rights);
	n = raw3(SYS_recvmsg, init->plan->channel_fd, &message,
		 MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n != (long)sizeof(*request))
		request->order = WIRE_END; /* its end is one, too */
	return 1;
}

/* What the library has written into the room. */
static void adopt_room(struct init *init)
{
	struct wire_header *plan = init->plan, *block;

	block = (struct wire_header *)((char *)plan + plan->room);
	if (plan->room == 0 || block->size > plan->room_size ||
	    !wire_is_sound(block, block->size) || !block->call)
		init_exit(1);
	park_adopt(init, block);
}

/* Nobody will see what a box does that was never let go. */
static void take_call(struct init *init)
{
	struct wire_request request = {0, 0, 0};
	struct rights rights;

	if (!receive(init, &request, &rights))
		return;
	if (request.order != WIRE_GO ||
	    request.input !=
		(rights.length == offsetof(struct rights, fd) + sizeof(rights.fd)))
		init_exit(1);
	adopt_room(init);
	if (!request.input)
		return;
	(void)STEP(init, STEP_STDIO, NULL, raw3(SYS_dup3, rights.fd, 0, 0));
	(void)raw1(SYS_close, rights.fd);
}

static void wait_for_call(struct init *init)
{
	struct pollfd fds[3];

	memset(fds, 0, sizeof(fds));
	fds[0].fd = init->plan->channel_fd;
	fds[1].fd = init->plan->caller_fd;
	fds[2].fd = init->signal_fd;
	fds[0].events = fds[1].events = fds[2].events = POLLIN;
	while (!init->call) {
		long r = raw5(SYS_ppoll, fds, 3, NULL, NULL, KERNEL_SIGSET);

		if (r == -EINTR)
			continue;
		/* The caller is gone, or something has ended our only child. */
		if (r < 0 || fds[1].revents || fds[2].revents)
			init_exit(1);
		if (fds[0].revents)
			take_call(init);
	}
}

void park(struct init *init)
{
	struct wire_report report;

	workload_prepare(init);
	init->used_us = park_used(init->main_pid);
	(void)STEP(init, STEP_GUARD, NULL, guard_install_parked(init));
	memset(&report, 0, sizeof(report));
	report.message = WIRE_PARKED;
	report_send(init, &report);
	wait_for_call(init);
	workload_let_go(init);
}

void park_linger(const struct init *init)
{
	struct {
		int64_t s, ns;
	} most = {0, LINGER_NS};
	struct pollfd fds[2];

	if (init->plan->room == 0 && init->plan->source_fd < 0)
		return;
	memset(fds, 0, sizeof(fds));
	fds[0].fd = init->plan->channel_fd;
	fds[1].fd = init->plan->caller_fd;
	fds[0].events = fds[1].events = POLLIN;
	(void)raw5(SYS_ppoll, fds, 2, &most, NULL, KERNEL_SIGSET);
}

/* The clock of a process's CPU time, as clock_getcpuclockid(3) makes it. */
uint64_t park_used(int pid)
{
	struct {
		int64_t s, ns;
	} used = {0, 0};

	if (raw2(SYS_clock_gettime, (long)(int)((~(unsigned)pid << 3) | 2), &used) < 0)
		return 0;
	return (uint64_t)used.s * 1000000 + (uint64_t)used.ns / 1000;
}

/* Under the guard's filter: there is something to be read, and no descriptor is taken. */
int park_obey(struct init *init)
{
	struct wire_request request = {0, 0, 0};

	if (raw3(SYS_read, init->plan->channel_fd, &request, sizeof(request)) !=
	    (long)sizeof(request))
		return 1;
	switch (request.order) {
	case WIRE_HOLD:
		init->used_us = init->reaped_us + park_used(init->main_pid);
		init->deadline_us = UINT64_MAX;
		return 0;
	case WIRE_GO:
		init->deadline_us = request.deadline_us;
		return 0;
	default:
		return 1;
	}
}
