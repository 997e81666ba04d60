/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box that is made ahead of its call: what the call decides comes over the channel.
 * Until then nothing of it runs (parked), or an interpreter that has no source yet
 * (held).
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
	RIGHTS_MAX = 2, /* the call's block, and a pipe to read */
};

/* Descriptors as ancillary data, cmsg(3). */
struct rights {
	size_t length;
	int level, type;
	int fds[RIGHTS_MAX];
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

/* How many descriptors came. */
static size_t count(const struct rights *rights)
{
	if (rights->length < offsetof(struct rights, fds))
		return 0;
	return (rights->length - offsetof(struct rights, fds)) / sizeof(int);
}

/* Nobody will see what a box does that was never let go. */
static void take_call(struct init *init)
{
	struct wire_request request = {0, 0, 0};
	struct rights rights;
	struct wire_header *block;

	if (!receive(init, &request, &rights))
		return;
	if (request.order != WIRE_GO || count(&rights) != 1 + (request.input != 0))
		init_exit(1);
	block = park_map(rights.fds[0]);
	if (!block || !block->call)
		init_exit(1);
	init->plan->stdin_fd = request.input ? rights.fds[1] : -1;
	park_adopt(init, block);
}

void park_wait(struct init *init)
{
	struct wire_report report;
	struct pollfd fds[2];

	memset(&report, 0, sizeof(report));
	report.message = WIRE_PARKED;
	report_send(init, &report);
	memset(fds, 0, sizeof(fds));
	fds[0].fd = init->plan->channel_fd;
	fds[1].fd = init->plan->caller_fd;
	fds[0].events = fds[1].events = POLLIN;
	while (!init->call) {
		long r = raw5(SYS_ppoll, fds, 2, NULL, NULL, KERNEL_SIGSET);

		if (r == -EINTR)
			continue;
		if (r < 0 || fds[1].revents)
			init_exit(1);
		if (fds[0].revents)
			take_call(init);
	}
}

/* The clock of a process's CPU time, as clock_getcpuclockid(3) makes it. */
static uint64_t process_us(int pid)
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
		init->used_us = init->reaped_us + process_us(init->main_pid);
		init->deadline_us = UINT64_MAX;
		return 0;
	case WIRE_GO:
		init->deadline_us = request.deadline_us;
		return 0;
	default:
		return 1;
	}
}
