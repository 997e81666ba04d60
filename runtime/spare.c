/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/spare.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/memory.h"
#include "runtime/caller_state.h"
#include "runtime/past.h"
#include "runtime/places.h"
#include "runtime/run.h"
#include "runtime/template.h"

enum {
	SAID_MAX = 64 << 10, /* bytes of what an interpreter says when it is ready */
	SAID_HEAD = 5,
	PATIENCE_US = 1000000, /* for a box to end by itself */
};

struct box_spare {
	struct run *run;
	struct box_call call;	     /* what it was made with */
	struct box_outcome outcome;  /* of its start */
	struct cgroup_counters used; /* before its call */
	bool held;
	uint64_t stamp; /* of what the host showed when it was made */
	pid_t maker;	/* the thread that made it, */
	uint64_t state; /* and what it took from that and its process */
	uint64_t
	    end_us; /* monotonic clock: when it was told to end, or had reported; 0 */
	struct buffer said; /* the head included */
};

static int start_error(const struct box_outcome *outcome, struct husk_error *err)
{
	error_set(err, HUSK_E_SYSTEM, "spare box", "%.500s", outcome->reason);
	error_hint(err, "%s", outcome->hint);
	if (err)
		err->sys_errno = outcome->error;
	return HUSK_E_SYSTEM;
}

static int make_source(struct run *run, struct husk_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, errno, "spare box", "cannot make a socket");
	run->source = pair[0];
	run->box_source = pair[1];
	return 0;
}

static void fill_call(struct box_call *call, const struct box_hold *hold)
{
	*call = (struct box_call){
	    .cancel_fd = -1, .cancel_fd2 = -1, .resize_fd = -1, .stdin_fd = -1};
	if (!hold)
		return;
	call->argv = hold->argv;
	call->envp = hold->envp;
	call->search = hold->search;
	call->workdir = hold->workdir;
	call->timeout_us = BOX_HOLD_US;
	call->code = hold->code;
	call->code_size = hold->code_size;
	call->code_name = hold->code_name;
}

static int launch(struct box_spare *spare, struct husk_error *err)
{
	struct run *run = spare->run;
	int r = spare->held ? make_source(run, err) : 0;

	if (r < 0)
		return r;
	if (template_get(run->spec, &spare->call, &run->template))
		run->part = LAYOUT_BOX;
	return run_launch(run, err);
}

int box_park(const struct box_spec *spec, const struct box_hold *hold,
	     struct box_spare **ret, struct husk_error *err)
{
	struct box_spare *spare = calloc(1, sizeof(*spare));
	int r;

	if (!spare)
		return error_oom(err, "spare box");
	spare->held = hold != NULL;
	spare->stamp = places_stamp(spec);
	spare->maker = gettid();
	spare->state = caller_state_stamp(spare->maker);
	spare->said = BUFFER_INIT(SAID_MAX);
	fill_call(&spare->call, hold);
	spare->run = run_new(spec, &spare->call, &spare->outcome);
	r = spare->run ? launch(spare, err) : error_oom(err, "spare box");
	if (r > 0)
		r = start_error(&spare->outcome, err);
	if (r < 0)
		box_spare_bury(spare);
	else
		*ret = spare;
	return r;
}

/* 1: it is complete; 0: not yet; -1: it will never be. */
static int hear(struct box_spare *spare)
{
	struct buffer *said = &spare->said;
	uint32_t size;
	ssize_t n;
	char *to = buffer_reserve(said, 4096);

	if (!to)
		return -1;
	n = recv(spare->run->source, to, 4096, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n == 0)
		return -1;
	said->size += (size_t)n;
	said->data[said->size] = '\0';
	if (said->data[0] != 'r')
		return -1;
	if (said->size < SAID_HEAD)
		return 0;
	size = (uint32_t)(unsigned char)said->data[1] |
	       (uint32_t)(unsigned char)said->data[2] << 8 |
	       (uint32_t)(unsigned char)said->data[3] << 16 |
	       (uint32_t)(unsigned char)said->data[4] << 24;
	if (size > SAID_MAX - 8192)
		return -1;
	return said->size >= SAID_HEAD + size;
}

/* The same for a parked one, or a start that failed. */
static int hear_init(struct box_spare *spare)
{
	struct wire_report report;
	ssize_t n = recv(spare->run->channel, &report, sizeof(report), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n == (ssize_t)sizeof(report) && report.message == WIRE_PARKED)
		return 1;
	if (n == (ssize_t)sizeof(report) && report.message == WIRE_FAILED) {
		report.subject[sizeof(report.subject) - 1] = '\0';
		run_failed(spare->run, report.step, report.error, report.subject);
		if (report.step == STEP_TEMPLATE)
			template_refuse(spare->run->spec);
	}
	return -1;
}

static int ended_early(struct box_spare *spare, struct husk_error *err)
{
	if (spare->run->stub.step)
		run_failed(spare->run, spare->run->stub.step, spare->run->stub.error,
			   NULL);
	if (spare->outcome.reason[0])
		return start_error(&spare->outcome, err);
	return error_set(err, HUSK_E_SYSTEM, "spare box", "%s",
			 spare->held ? "its interpreter ended before it had any code"
				     : "it ended before it was used");
}

/* What making it took is not the call's. */
static int settle(struct box_spare *spare, struct husk_error *err)
{
	struct wire_request request = {.order = WIRE_HOLD};
	struct run *run = spare->run;

	if (run->cgroup)
		cgroup_box_counters(run->cgroup, &spare->used);
	if (!spare->held)
		return 1;
	if (past_check(run, &spare->used, err) < 0)
		return HUSK_E_SYSTEM;
	if (send(run->channel, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) <
	    0)
		return ended_early(spare, err);
	return 1;
}

int box_spare_ready(struct box_spare *spare, struct husk_error *err)
{
	const struct run *run = spare->run;
	int ready = hear_init(spare);

	if (ready == 0 && spare->held)
		ready = hear(spare);
	if (ready == 0 && box_spare_ended(spare))
		ready = -1;
	if (ready == 0 && clock_us() >= run->begin_us + BOX_HOLD_US)
		return error_set(err, HUSK_E_SYSTEM, "spare box",
				 "it was not ready within a minute");
	if (ready > 0)
		return settle(spare, err);
	return ready < 0 ? ended_early(spare, err) : 0;
}

void box_spare_fds(const struct box_spare *spare, int fds[BOX_SPARE_FDS])
{
	fds[0] = spare->run->channel;
	fds[1] = spare->run->source;
	fds[2] = spare->run->shim_fd;
}

bool box_spare_ended(const struct box_spare *spare)
{
	struct pollfd shim = {.fd = spare->run->shim_fd, .events = POLLIN};

	return shim.fd < 0 || poll(&shim, 1, 0) > 0;
}

const char *box_spare_said(const struct box_spare *spare)
{
	return spare->said.size > SAID_HEAD ? spare->said.data + SAID_HEAD : "";
}

bool box_spare_alive(const struct box_spare *spare)
{
	/* Neither has a word to say while it waits. */
	struct pollfd fds[] = {{.fd = spare->run->channel, .events = POLLIN},
			       {.fd = spare->run->source, .events = POLLIN},
			       {.fd = spare->run->shim_fd, .events = POLLIN}};

	return spare->stamp == places_stamp(spare->run->spec) &&
	       spare->state == caller_state_stamp(spare->maker) &&
	       !(spare->held && past_was_denied(spare->run)) && poll(fds, 3, 0) == 0;
}

static int send_call(struct run *run)
{
	struct wire_request request = {.order = WIRE_GO, .input = run->box_in >= 0};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(run->box_in))];
	} control = {.space = {0}};
	struct iovec part = {.iov_base = &request, .iov_len = sizeof(request)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (request.input) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.space);
		control.header =
		    (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(run->box_in)),
				     .cmsg_level = SOL_SOCKET,
				     .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), &run->box_in, sizeof(run->box_in));
	}
	return sendmsg(run->channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? 1 : 0;
}

/* 0; 1: the spare is of no use; negative: the call is not. */
static int go_parked(struct run *run, struct husk_error *err)
{
	CLEANUP_PLAN struct plan plan = {0};
	int r = plan_init(&plan, err);

	if (r < 0)
		return r;
	plan_call(&plan, run->call, run_init_deadline(run));
	r = plan_finish(&plan, err);
	if (r < 0)
		return r;
	if (run_hand_over_call(run, &plan) < 0)
		return 1;
	if (run->call->stdin_kind == BOX_STDIN_DATA && run_make_input(run) < 0)
		return 1;
	r = send_call(run);
	fd_close(&run->box_in);
	return r;
}

static int go_held(struct run *run)
{
	const struct box_call *call = run->call;
	struct wire_request request = {.order = WIRE_GO,
				       .deadline_us = run_init_deadline(run)};
	uint64_t size = call->code_size;
	struct iovec parts[] = {
	    {.iov_base = &size, .iov_len = sizeof(size)},
	    {.iov_base = (void *)(uintptr_t)call->code, .iov_len = call->code_size}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	if (send(run->channel, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) <
	    0)
		return 1;
	return sendmsg(run->source, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
		       (ssize_t)(sizeof(size) + call->code_size)
		   ? 0
		   : 1;
}

/* Did the call begin? Where init died, or the interpreter did not take the source,
 * nothing of it has run. */
static bool was_taken(const struct box_spare *spare)
{
	const struct run *run = spare->run;
	const struct box_outcome *outcome = run->outcome;
	char answer = 0;

	if (outcome->end == BOX_TIMED_OUT || outcome->end == BOX_CANCELLED)
		return true;
	if (spare->held)
		return recv(run->source, &answer, 1, MSG_DONTWAIT) == 1 && answer == 'y';
	return !run->lost || outcome->started;
}

static uint64_t less(uint64_t value, uint64_t before)
{
	if (value == CGROUP_UNKNOWN || before == CGROUP_UNKNOWN)
		return value;
	return value > before ? value - before : 0;
}

static void subtract_used(struct box_spare *spare)
{
	struct cgroup_counters *counters = &spare->run->outcome->counters;

	if (!spare->run->outcome->has_cgroup)
		return;
	counters->cpu_us = less(counters->cpu_us, spare->used.cpu_us);
	counters->pids_denied = less(counters->pids_denied, spare->used.pids_denied);
}

static int run_call(struct box_spare *spare, struct husk_error *err)
{
	struct run *run = spare->run;
	int r;

	run->begin_us = clock_us();
	run->warm = true;
	r = spare->held ? go_held(run) : go_parked(run, err);
	if (r != 0)
		return r;
	run_supervise(run);
	if (!was_taken(spare))
		return 1;
	run_count(run);
	subtract_used(spare);
	run->outcome->wall_us = clock_us() - run->begin_us;
	return 0;
}

int box_spare_run(struct box_spare *spare, const struct box_call *call,
		  struct box_outcome *ret, struct husk_error *err)
{
	struct run *run = spare->run;
	int r, cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	box_outcome_init(ret, call);
	run->call = call;
	run->outcome = ret;
	r = run_call(spare, err);
	if (r != 0)
		box_outcome_deinit(ret);
	/* What was the caller's is not to be looked at any more. */
	run->call = &spare->call;
	run->outcome = &spare->outcome;
	spare->end_us = clock_us();
	pthread_setcancelstate(cancel_state, NULL);
	return r;
}

void box_spare_end(struct box_spare *spare)
{
	struct wire_request request = {.order = WIRE_END};

	if (spare->end_us == 0)
		spare->end_us = clock_us();
	if (spare->run->channel < 0 ||
	    send(spare->run->channel, &request, sizeof(request),
		 MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		run_kill(spare->run);
}

bool box_spare_overdue(const struct box_spare *spare)
{
	return spare->end_us != 0 && clock_us() - spare->end_us > PATIENCE_US;
}

struct box_spare *box_spare_bury(struct box_spare *spare)
{
	if (!spare)
		return NULL;
	if (spare->run) {
		if (!box_spare_ended(spare))
			box_spare_end(spare);
		run_bury(spare->run);
		run_free(spare->run);
	}
	box_outcome_deinit(&spare->outcome);
	buffer_deinit(&spare->said);
	free(spare);
	return NULL;
}

void box_spare_abandon(struct box_spare *spare)
{
	struct run *run = spare->run;
	int *const fds[] = {
	    &run->channel, &run->source,   &run->out,	  &run->err,
	    &run->in,	   &run->block_fd, &run->shim_fd, &run->stub.init_pidfd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		fd_close(fds[i]);
}

/* -- memory ----------------------------------------------------------------------------
 */

/* What /proc/PID/statm says is not shared, in bytes; proc_pid_statm(5). */
static uint64_t private_bytes(long pid)
{
	unsigned long long size, resident, shared;
	char path[64], text[256];

	(void)snprintf(path, sizeof(path), "/proc/%ld/statm", pid);
	if (fd_read_text(AT_FDCWD, path, text, sizeof(text)) <= 0 ||
	    sscanf(text, "%llu %llu %llu", &size, &resident, &shared) != 3 ||
	    resident < shared)
		return 0;
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The number of the process behind a pidfd, as this process sees it; -1: none. */
static long pidfd_number(int fd)
{
	char path[64], text[1024];
	const char *line;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (fd_read_text(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	line = strstr(text, "\nPid:");
	return line ? strtol(line + 5, NULL, 10) : -1;
}

uint64_t box_spare_memory(const struct box_spare *spare)
{
	long init = pidfd_number(spare->run->stub.init_pidfd);
	char path[64], text[256], *at = text;
	uint64_t sum;

	if (init <= 0)
		return 0;
	sum = private_bytes(init);
	if (!spare->held)
		return sum; /* its child has no memory of its own yet */
	(void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", init, init);
	if (fd_read_text(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return sum;
	for (long child = strtol(at, &at, 10); child > 0; child = strtol(at, &at, 10))
		sum += private_bytes(child);
	return sum;
}
