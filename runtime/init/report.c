/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/init/init.h"

#include <errno.h>
#include <sys/socket.h>

enum { TRIES = 8 };

const char *plan_text(const struct init *init, uint32_t offset)
{
	return (const char *)init->plan + offset;
}

const char *call_text(const struct init *init, uint32_t offset)
{
	return (const char *)init->call_block + offset;
}

long step_injected(const struct init *init, uint32_t step)
{
#ifdef HUSK_TEST_HOOKS
	if (init->plan->inject_step == step)
		return -(long)init->plan->inject_errno;
#endif
	(void)init;
	(void)step;
	return 0;
}

static uint64_t now_ns(void)
{
	struct {
		int64_t s, ns;
	} now = {0, 0};

	(void)raw2(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, &now);
	return (uint64_t)now.s * 1000000000 + (uint64_t)now.ns;
}

void step_time(struct init *init, uint32_t step)
{
	struct wire_timing *timing = &init->plan->timing;
	uint64_t now;

	if (!timing->wanted)
		return;
	now = now_ns();
	if (timing->since_ns != 0)
		timing->ns[timing->step] += now - timing->since_ns;
	timing->times[step]++;
	timing->step = step;
	timing->since_ns = now;
}

long step_begin(struct init *init, uint32_t step)
{
	step_time(init, step);
	init->plan->progress.step = step;
	return step_injected(init, step);
}

void init_exit(int status)
{
	raw1(SYS_exit_group, status);
	/* A filter of the user's may answer even that with an error. */
	__builtin_trap();
}

/* The kernel may be out of memory for a moment, and the caller has nothing else to go by.
 */
void report_send(struct init *init, const struct wire_report *report)
{
	long r = -EINTR;

	for (int tries = 0;
	     tries < TRIES && (r == -EINTR || r == -ENOMEM || r == -ENOBUFS); tries++)
		r = raw6(SYS_sendto, init->plan->channel_fd, RAW_PTR(report),
			 sizeof(*report), MSG_NOSIGNAL, 0, 0);
}

/* Descriptors as ancillary data, cmsg(3). */
struct rights {
	size_t length;
	int level, type;
	int fds[2];
};

long report_send_fds(struct init *init, uint32_t kind, const int *fds, unsigned count)
{
	struct wire_report report;
	struct rights rights;
	struct iovec part = {&report, sizeof(report)};
	struct msghdr message;

	memset(&report, 0, sizeof(report));
	report.message = kind;
	memset(&rights, 0, sizeof(rights));
	rights.length = offsetof(struct rights, fds) + count * sizeof(fds[0]);
	rights.level = SOL_SOCKET;
	rights.type = SCM_RIGHTS;
	memcpy(rights.fds, fds, count * sizeof(fds[0]));
	memset(&message, 0, sizeof(message));
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = &rights;
	message.msg_controllen = sizeof(rights);
	return raw3(SYS_sendmsg, init->plan->channel_fd, &message, MSG_NOSIGNAL);
}

void step_fail(struct init *init, uint32_t step, long error, const char *subject)
{
	struct wire_report report;

	memset(&report, 0, sizeof(report));
	report.message = WIRE_FAILED;
	report.step = step;
	report.error = (int32_t)error;
	text_copy(report.subject, sizeof(report.subject), subject ? subject : "");
	report_send(init, &report);
	init_exit(1);
}
