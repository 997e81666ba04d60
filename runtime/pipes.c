/* SPDX-License-Identifier: Apache-2.0 */
/* The channel to init, and one pipe for each of the workload's streams. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/run.h"

/* Pipes whose ends never sit on 0, 1 or 2: a caller may have closed those, and init wants
 * them for the workload. */
static int high_pipe(int fds[2])
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		if (pair[i] > STDERR_FILENO) {
			fds[i] = pair[i];
			continue;
		}
		fds[i] = fcntl(pair[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		(void)close(pair[i]);
		if (fds[i] < 0)
			return -errno;
	}
	return 0;
}

/* A pipe can be opened again by name (/dev/stdout) by its owner alone: the box's id,
 * where that is not the caller. */
static int give(const struct run *run, int fd)
{
	const struct ids *ids = &run->spec->ids;

	if (ids->foreign && fchown(fd, ids->uid, ids->gid) < 0)
		return -errno;
	return 0;
}

static int give_pipes(const struct run *run)
{
	int r = give(run, run->box_out);

	return r < 0 ? r : give(run, run->box_err);
}

int run_make_input(struct run *run)
{
	int pair[2] = {-1, -1}, r = high_pipe(pair);

	if (r < 0)
		return r;
	run->box_in = pair[0];
	run->in = pair[1];
	if (fcntl(run->in, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return give(run, run->box_in);
}

int run_make_pipes(struct run *run)
{
	int pair[2] = {-1, -1}, r = run_injected(run, STEP_PIPES);

	if (r == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		r = -errno;
	run->channel = pair[0];
	run->box_channel = pair[1];
	/* Init sends a terminal's other side; a template has no streams. */
	if (r < 0 || run->call->terminal || run->part == LAYOUT_TEMPLATE)
		return r;
	if ((r = high_pipe(pair)) == 0) {
		run->out = pair[0];
		run->box_out = pair[1];
		r = high_pipe(pair);
	}
	if (r == 0) {
		run->err = pair[0];
		run->box_err = pair[1];
	}
	if (r == 0)
		r = give_pipes(run);
	if (r == 0 && run->call->stdin_kind != BOX_STDIN_EMPTY)
		r = run_make_input(run);
	if (r == 0 && (fcntl(run->out, F_SETFL, O_NONBLOCK) < 0 ||
		       fcntl(run->err, F_SETFL, O_NONBLOCK) < 0))
		r = -errno;
	return r;
}

int run_send_joins(const struct run *run, uint64_t nproc)
{
	struct wire_joins joins = {.count = run->join_count,
				   .nproc =
				       nproc < UINT32_MAX ? (uint32_t)nproc : UINT32_MAX};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(run->join_fds))];
	} control = {.space = {0}};
	struct iovec part = {.iov_base = &joins, .iov_len = sizeof(joins)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	size_t size = joins.count * sizeof(run->join_fds[0]);

	if (size > 0) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(size);
		control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(size),
						  .cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), run->join_fds, size);
	}
	return sendmsg(run->channel, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

ssize_t run_receive(int channel, struct wire_report *report, int *fds, size_t count)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(RECEIVE_FDS * sizeof(int))];
	} control;
	struct iovec part = {.iov_base = report, .iov_len = sizeof(*report)};
	struct msghdr message = {
	    .msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};
	const struct cmsghdr *rights;
	ssize_t n;

	/* Where init ended and had not read all of ours, that is said once, before what
	 * it has sent is to be had. */
	do {
		n = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == ECONNRESET);
	rights = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (rights && rights->cmsg_level == SOL_SOCKET &&
	    rights->cmsg_type == SCM_RIGHTS &&
	    rights->cmsg_len == CMSG_LEN(count * sizeof(int)))
		memcpy(fds, CMSG_DATA(rights), count * sizeof(int));
	return n;
}
