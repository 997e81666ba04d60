/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls' side of the spares (spares.c) and their keeper (spares_keeper.c) share.
 */
#ifndef SESSION_SPARES_OWN_H
#define SESSION_SPARES_OWN_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "session/spares.h"

struct spares {
	struct husk_session *session;
	unsigned wanted;
	pid_t owner; /* the process whose keeper this is */
	int wake_fd; /* eventfd */
	pthread_t keeper;
	pthread_mutex_t
	    making;	      /* held while a box is made: it reads the session's spec */
	pthread_mutex_t lock; /* of all below; never held across a system call that may
			       * take long */
	struct spare_slot *ready;
	struct spare_slot *returned;
	enum spare_kind last[HUSK_PREWARM_MAX]; /* what the last calls wanted */
	unsigned last_at;
	uint64_t generation;
	bool want_more; /* a call has ended since the last attempt */
	bool stop;
	unsigned starting_count;
	unsigned failures[SPARE_KINDS]; /* one after the other */
	char trouble[512]; /* why the last one could not be made, or what it lacks */
	/* The keeper's alone: */
	struct spare_slot *starting;
	struct spare_slot *graves;
};

/* To a list of them. */
static inline void spares_push(struct spare_slot **list, struct spare_slot *slot)
{
	slot->next = *list;
	*list = slot;
}

/* -- spares_keeper.c -- */

/* Start the thread. 0 or an errno, positive. */
int spares_keeper_start(struct spares *spares);

/* There is something for it to do. */
void spares_keeper_wake(struct spares *spares);

#endif
