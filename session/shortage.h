/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process may have fewer descriptors than all the calls that it makes at once need. A
 * call that finds none left, before its box has been started or after it has ended, waits
 * here until another call of the session has given some back, and then tries again.
 */
#ifndef HUSK_SESSION_SHORTAGE_H
#define HUSK_SESSION_SHORTAGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/box.h"

struct husk_session;

/* Of a session; under its lock. */
struct shortage {
	pthread_cond_t ended; /* a call has ended, or nobody but waiting ones is left */
	unsigned waiting;     /* calls */
	unsigned woken;	      /* how many of them may try again */
};

/* Of a call. */
struct shortage_wait {
	uint64_t until_us; /* monotonic clock */
	bool alone;	   /* all others waited already when it tried */
};

void shortage_init(struct shortage *shortage);
void shortage_deinit(struct shortage *shortage);

struct shortage_wait shortage_begin(const struct box_call *call);

/* Whether it is worth while to try again what failed with sys_errno (0: it did not fail).
 * Returns when that may succeed, or with false: it was something else, nobody has any to
 * give back, the call's time has passed, or it was cancelled. */
bool shortage_again(struct husk_session *session, const struct box_call *call,
		    struct shortage_wait *wait, int sys_errno);

/* A call ends; the session's lock is held. */
void shortage_call_ended(struct shortage *shortage);

#endif
