/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/template.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "runtime/places.h"
#include "runtime/run.h"

enum {
	NAMESPACES = 2,
	MAKE_MS = 10000, /* longer than any mount takes */
	LOCK_TRIES = 256,
	KILL_RETRY_MS = 50,
};

enum state { STATE_NONE, STATE_MAKING, STATE_READY, STATE_REFUSED };

struct box_template {
	pthread_mutex_t lock; /* of the rest; held for no longer than a few calls */
	enum state state;
	unsigned boxes;
	int fds[NAMESPACES];
	uint64_t stamp; /* of what the host showed when it was made */
};

struct box_template *template_new(void)
{
	struct box_template *template = calloc(1, sizeof(*template));

	if (!template)
		return NULL;
	(void)pthread_mutex_init(&template->lock, NULL);
	template->fds[0] = template->fds[1] = -1;
	return template;
}

void template_free(struct box_template *template)
{
	if (!template)
		return;
	fd_close(&template->fds[0]);
	fd_close(&template->fds[1]);
	(void)pthread_mutex_destroy(&template->lock);
	free(template);
}

/* Init's message: 0 with both descriptors, else -EPROTO. */
static int receive(int channel, int fds[NAMESPACES])
{
	struct wire_report report;
	ssize_t n = run_receive(channel, &report, fds, NAMESPACES);

	return n == (ssize_t)sizeof(report) && report.message == WIRE_NAMESPACES &&
		       fds[NAMESPACES - 1] >= 0
		   ? 0
		   : -EPROTO;
}

/* Init is of no more use, whatever became of it: the descriptors hold what it made. */
static void end(struct run *run)
{
	struct pollfd init = {.fd = run->stub.init_pidfd, .events = POLLIN};
	siginfo_t info;

	while (init.fd >= 0 && poll(&init, 1, 0) == 0) {
		run_kill(run);
		(void)poll(&init, 1, KILL_RETRY_MS);
	}
	while (syscall(SYS_waitid, P_PIDFD, run->shim_fd, &info, WEXITED | __WALL, NULL) <
		   0 &&
	       errno == EINTR) {
	}
}

/* On the heap: the caller's stack may be a small one. */
struct making {
	struct box_call call;
	struct box_outcome outcome;
	struct husk_error err;
};

static int make_in(const struct box_spec *spec, struct making *making,
		   int fds[NAMESPACES])
{
	struct run *run = run_new(spec, &making->call, &making->outcome);
	struct pollfd wait[2];
	int r;

	if (!run)
		return -ENOMEM;
	run->part = LAYOUT_TEMPLATE;
	r = run_launch(run, &making->err) == 0 ? 0 : -ECANCELED;
	if (r == 0) {
		wait[0] = (struct pollfd){.fd = run->channel, .events = POLLIN};
		wait[1] = (struct pollfd){.fd = run->shim_fd, .events = POLLIN};
		while (poll(wait, 2, MAKE_MS) < 0 && errno == EINTR) {
		}
		r = receive(run->channel, fds);
		end(run);
	}
	run_free(run);
	return r;
}

static int make(const struct box_spec *spec, const struct box_call *first,
		int fds[NAMESPACES])
{
	static const char *const nothing[] = {"template", NULL};
	struct making *making = calloc(1, sizeof(*making));
	int r;

	if (!making)
		return -ENOMEM;
	making->call = (struct box_call){
	    .argv = nothing,
	    .envp = nothing + 1,
	    .search = "/",
	    .workdir = "/",
	    .timeout_us = (uint64_t)MAKE_MS * 1000,
	    .stdin_fd = -1,
	    .cancel_fd = -1,
	    .cancel_fd2 = -1,
	    .resize_fd = -1,
	    .discard = true,
	    .inject_step = first ? first->inject_step : 0,
	    .inject_errno = first ? first->inject_errno : 0,
	};
	r = make_in(spec, making, fds);
	free(making);
	return r;
}

static void drop(struct box_template *template, enum state state)
{
	fd_close(&template->fds[0]);
	fd_close(&template->fds[1]);
	template->state = state;
}

/* In a process that was forked while another thread held it, the lock stays held: there
 * every box is built by itself. */
static bool lock(struct box_template *template)
{
	for (int i = 0; template && i < LOCK_TRIES; i++) {
		if (pthread_mutex_trylock(&template->lock) == 0)
			return true;
		(void)sched_yield();
	}
	return false;
}

/* The lock is held, and given up while the mounts are being made. */
static void make_unlocked(const struct box_spec *spec, const struct box_call *first)
{
	struct box_template *template = spec->template;
	uint64_t stamp = places_stamp(spec);
	int fds[NAMESPACES] = {-1, -1}, r;

	template->state = STATE_MAKING;
	(void)pthread_mutex_unlock(&template->lock);
	r = layout_can_share(spec) ? make(spec, first, fds) : -ENOTSUP;
	/* Root's boxes are owned by the caller's own user namespace: an id that is not
	 * mapped in the template's may not make another there, clone(2). */
	if (spec->ids.foreign)
		fd_close(&fds[0]);
	(void)pthread_mutex_lock(&template->lock);
	template->state = r < 0 ? STATE_REFUSED : STATE_READY;
	template->stamp = stamp;
	memcpy(template->fds, fds, sizeof(fds));
}

/* The lock is held. A file of the host's that was replaced is another file; what is
 * mounted is the old one. */
static void refresh(const struct box_spec *spec, const struct box_call *first)
{
	struct box_template *template = spec->template;

	if (template->state == STATE_READY && template->stamp != places_stamp(spec))
		drop(template, STATE_NONE);
	if (template->state == STATE_NONE && template->boxes > 0)
		make_unlocked(spec, first);
	template->boxes++;
}

void template_prepare(const struct box_spec *spec)
{
	if (!lock(spec->template))
		return;
	spec->template->boxes++;
	refresh(spec, NULL);
	(void)pthread_mutex_unlock(&spec->template->lock);
}

/* Copies, which stay what they are whatever becomes of the template. */
static bool copy(const struct box_template *template, struct template_fds *ret)
{
	ret->user = -1;
	ret->mount = fcntl(template->fds[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (ret->mount >= 0 && template->fds[0] >= 0) {
		ret->user = fcntl(template->fds[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (ret->user < 0)
			fd_close(&ret->mount);
	}
	return ret->mount >= 0;
}

bool template_get(const struct box_spec *spec, const struct box_call *call,
		  struct template_fds *ret)
{
	bool there;

	if (!lock(spec->template))
		return false;
	refresh(spec, call);
	there = spec->template->state == STATE_READY && copy(spec->template, ret);
	(void)pthread_mutex_unlock(&spec->template->lock);
	return there;
}

void template_refuse(const struct box_spec *spec)
{
	if (!lock(spec->template))
		return;
	if (spec->template->state == STATE_READY)
		drop(spec->template, STATE_REFUSED);
	(void)pthread_mutex_unlock(&spec->template->lock);
}

void box_spec_changed(const struct box_spec *spec)
{
	if (!lock(spec->template))
		return;
	if (spec->template->state == STATE_READY)
		drop(spec->template, STATE_NONE);
	(void)pthread_mutex_unlock(&spec->template->lock);
}
