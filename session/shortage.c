/* SPDX-License-Identifier: Apache-2.0 */
#include "session/shortage.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include "base/clock.h"
#include "session/session.h"

enum { SLICE_US = 50000 };

void shortage_init(struct shortage *shortage)
{
	pthread_condattr_t attr;

	*shortage = (struct shortage){.waiting = 0};
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&shortage->ended, &attr);
	(void)pthread_condattr_destroy(&attr);
}

void shortage_deinit(struct shortage *shortage)
{
	(void)pthread_cond_destroy(&shortage->ended);
}

struct shortage_wait shortage_begin(const struct box_call *call)
{
	return (struct shortage_wait){.until_us = clock_us() + call->timeout_us};
}

static bool is_stopped(const struct box_call *call, const struct shortage_wait *wait)
{
	struct pollfd fds[] = {{.fd = call->cancel_fd, .events = POLLIN},
			       {.fd = call->cancel_fd2, .events = POLLIN}};

	return clock_us() >= wait->until_us || poll(fds, 2, 0) > 0 ||
	       (call->on_wait && call->on_wait(call->user) != 0);
}

static void sleep_a_slice(struct husk_session *session)
{
	uint64_t end = clock_us() + SLICE_US;
	struct timespec at = {.tv_sec = (time_t)(end / 1000000),
			      .tv_nsec = (long)(end % 1000000) * 1000};

	(void)pthread_cond_timedwait(&session->shortage.ended, &session->lock, &at);
}

/* The lock is held. Whoever waits holds nothing: where all others wait, there is more
 * left than before, and nobody who would wake this one. */
static bool all_others_wait(const struct husk_session *session)
{
	return session->running == session->shortage.waiting;
}

/* The lock is held, and given up meanwhile. */
static bool wait_for_others(struct husk_session *session, const struct box_call *call,
			    struct shortage_wait *wait)
{
	struct shortage *shortage = &session->shortage;
	bool again = false, stopped = false;

	shortage->waiting++;
	while (!again && !stopped) {
		if (shortage->woken > 0) {
			shortage->woken--;
			again = true;
		} else if (all_others_wait(session)) {
			again = !wait->alone;
			stopped = wait->alone;
			wait->alone = true;
		} else {
			sleep_a_slice(session);
			(void)pthread_mutex_unlock(&session->lock);
			stopped = is_stopped(call, wait);
			(void)pthread_mutex_lock(&session->lock);
		}
	}
	shortage->waiting--;
	if (shortage->woken > shortage->waiting)
		shortage->woken = shortage->waiting;
	return again;
}

bool shortage_again(struct husk_session *session, const struct box_call *call,
		    struct shortage_wait *wait, int sys_errno)
{
	bool again = false;

	if (sys_errno != EMFILE && sys_errno != ENFILE)
		return false;
	(void)pthread_mutex_lock(&session->lock);
	if (session->running > 1)
		again = wait_for_others(session, call, wait);
	(void)pthread_mutex_unlock(&session->lock);
	return again;
}

void shortage_call_ended(struct shortage *shortage)
{
	if (shortage->waiting > shortage->woken) {
		shortage->woken++;
		(void)pthread_cond_signal(&shortage->ended);
	}
}
