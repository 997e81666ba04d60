/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that makes spares and takes down what is left of them. */
#include "session/spares_own.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "session/session.h"
#include "session/spare_code.h"

enum {
	KEEPER_STACK = 256 << 10,
	FAILURES_MAX = 3, /* of a kind that then is not tried any more */
	SLOW_MS = 1000,	  /* between two looks at what does not say anything */
};

static struct spare_slot *pop(struct spare_slot **list)
{
	struct spare_slot *slot = *list;

	if (slot)
		*list = slot->next;
	return slot;
}

void spares_keeper_wake(struct spares *spares)
{
	static const uint64_t one = 1;

	(void)!write(spares->wake_fd, &one, sizeof(one));
}

static void note_failure(struct spares *spares, enum spare_kind kind, const char *text)
{
	pthread_mutex_lock(&spares->lock);
	spares->failures[kind]++;
	(void)snprintf(spares->trouble, sizeof(spares->trouble), "%s", text);
	pthread_mutex_unlock(&spares->lock);
}

/* Move what the session has no use for any more from ready to graves, under lock: spares
 * of older settings, what something has killed, and those of a kind of which there are
 * too many. */
static void sort_out(struct spares *spares, const unsigned target[SPARE_KINDS])
{
	unsigned seen[SPARE_KINDS] = {0};
	struct spare_slot **at = &spares->ready, *slot;

	while ((slot = *at)) {
		if (slot->generation == spares->generation &&
		    box_spare_alive(slot->box) &&
		    ++seen[slot->kind] <= target[slot->kind]) {
			at = &slot->next;
			continue;
		}
		*at = slot->next;
		box_spare_end(slot->box);
		spares_push(&spares->graves, slot);
	}
}

/* How many of each kind are missing. */
static void find_missing(struct spares *spares, unsigned missing[SPARE_KINDS])
{
	unsigned have[SPARE_KINDS] = {0}, target[SPARE_KINDS] = {0};

	for (unsigned i = 0; i < spares->wanted; i++) {
		enum spare_kind kind = spares->last[i];

		/* An image may have no such interpreter. */
		target[spares->failures[kind] < FAILURES_MAX ? kind : SPARE_PROGRAM]++;
	}
	sort_out(spares, target);
	for (const struct spare_slot *slot = spares->ready; slot; slot = slot->next)
		have[slot->kind]++;
	for (const struct spare_slot *slot = spares->starting; slot; slot = slot->next)
		have[slot->kind]++;
	for (int kind = 0; kind < SPARE_KINDS; kind++)
		missing[kind] = target[kind] > have[kind] ? target[kind] - have[kind] : 0;
}

static struct spare_slot *make_slot(struct spares *spares, enum spare_kind kind,
				    struct husk_error *err)
{
	struct spare_slot *slot = calloc(1, sizeof(*slot));
	int r;

	if (!slot) {
		error_oom(err, "spare box");
		return NULL;
	}
	slot->kind = kind;
	pthread_mutex_lock(&spares->making);
	pthread_mutex_lock(&spares->lock);
	slot->generation = spares->generation;
	pthread_mutex_unlock(&spares->lock);
	r = kind == SPARE_PROGRAM
		? box_park(&spares->session->spec, NULL, &slot->box, err)
		: spare_code_park(spares->session, slot, err);
	pthread_mutex_unlock(&spares->making);
	if (r == 0)
		return slot;
	free(slot);
	return NULL;
}

static void begin(struct spares *spares, enum spare_kind kind, unsigned count)
{
	struct husk_error why = {0};

	for (; count > 0; count--) {
		struct spare_slot *slot = make_slot(spares, kind, &why);

		if (!slot) {
			note_failure(spares, kind, why.message);
			return; /* the next call's end is the next attempt */
		}
		spares_push(&spares->starting, slot);
	}
}

static void count_starting(struct spares *spares)
{
	unsigned count = 0;

	for (const struct spare_slot *slot = spares->starting; slot; slot = slot->next)
		count++;
	pthread_mutex_lock(&spares->lock);
	spares->starting_count = count;
	pthread_mutex_unlock(&spares->lock);
}

/* Returns false where all is to end. */
static bool take_orders(struct spares *spares)
{
	unsigned missing[SPARE_KINDS] = {0};
	struct spare_slot *slot;
	bool stop;

	pthread_mutex_lock(&spares->lock);
	while ((slot = pop(&spares->returned))) {
		box_spare_end(slot->box);
		spares_push(&spares->graves, slot);
	}
	stop = spares->stop;
	if (spares->want_more && !stop) {
		spares->want_more = false;
		find_missing(spares, missing);
	}
	pthread_mutex_unlock(&spares->lock);
	for (int kind = 0; kind < SPARE_KINDS && !stop; kind++)
		begin(spares, kind, missing[kind]);
	count_starting(spares);
	return !stop;
}

static void make_ready(struct spares *spares, struct spare_slot *slot)
{
	char trouble[sizeof(spares->trouble)] = "";

	if (slot->kind != SPARE_PROGRAM)
		spare_code_ready(slot, trouble, sizeof(trouble));
	pthread_mutex_lock(&spares->lock);
	if (slot->generation == spares->generation) {
		spares_push(&spares->ready, slot);
		spares->failures[slot->kind] = 0;
		/* What stands in for interpreters says nothing of what keeps them away.
		 */
		if (slot->kind != SPARE_PROGRAM || spares->failures[SPARE_PYTHON] == 0)
			(void)snprintf(spares->trouble, sizeof(spares->trouble), "%s",
				       trouble);
		slot = NULL;
	} else {
		spares->want_more = true; /* the settings have changed meanwhile */
	}
	pthread_mutex_unlock(&spares->lock);
	if (slot) {
		box_spare_end(slot->box);
		spares_push(&spares->graves, slot);
		spares_keeper_wake(spares);
	}
}

static void look_at_starting(struct spares *spares)
{
	struct spare_slot **at = &spares->starting, *slot;

	while ((slot = *at)) {
		struct husk_error why = {0};
		int r = box_spare_ready(slot->box, &why);

		if (r == 0) {
			at = &slot->next;
			continue;
		}
		*at = slot->next;
		if (r > 0) {
			make_ready(spares, slot);
			continue;
		}
		note_failure(spares, slot->kind, why.message);
		box_spare_end(slot->box);
		spares_push(&spares->graves, slot);
	}
}

static void bury_ended(struct spares *spares)
{
	struct spare_slot **at = &spares->graves, *slot;

	while ((slot = *at)) {
		/* What has been told to go and does not is ended by force. */
		if (!box_spare_ended(slot->box) && !box_spare_overdue(slot->box)) {
			at = &slot->next;
			continue;
		}
		*at = slot->next;
		box_spare_bury(slot->box);
		free(slot);
	}
}

static size_t add_fds(const struct spare_slot *list, int only, struct pollfd *fds,
		      size_t count, size_t max)
{
	for (; list; list = list->next) {
		int three[BOX_SPARE_FDS];

		box_spare_fds(list->box, three);
		for (int i = 0; i < BOX_SPARE_FDS && count < max; i++) {
			if (three[i] >= 0 && (only < 0 || only == i))
				fds[count++] =
				    (struct pollfd){.fd = three[i], .events = POLLIN};
		}
	}
	return count;
}

/* What does not fit is looked at when the time is up. */
static void sleep_on(struct spares *spares)
{
	struct pollfd fds[256] = {{.fd = spares->wake_fd, .events = POLLIN}};
	size_t max = sizeof(fds) / sizeof(fds[0]), count = 1;
	uint64_t unused;

	count = add_fds(spares->graves, BOX_SPARE_FDS - 1, fds, count, max);
	count = add_fds(spares->starting, -1, fds, count, max);
	(void)poll(fds, count,
		   count == max				? 10
		   : spares->starting || spares->graves ? SLOW_MS
							: -1);
	(void)!read(spares->wake_fd, &unused, sizeof(unused));
}

static void bury_list(struct spare_slot **list)
{
	struct spare_slot *slot;

	for (slot = *list; slot; slot = slot->next)
		box_spare_end(slot->box);
	while ((slot = pop(list))) {
		box_spare_bury(slot->box);
		free(slot);
	}
}

static void *keep(void *data)
{
	struct spares *spares = data;

	while (take_orders(spares)) {
		sleep_on(spares);
		look_at_starting(spares);
		bury_ended(spares);
	}
	bury_list(&spares->starting);
	bury_list(&spares->ready);
	bury_list(&spares->returned);
	bury_list(&spares->graves);
	return NULL;
}

int spares_keeper_start(struct spares *spares)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int r = pthread_attr_init(&attributes);

	if (r != 0)
		return r;
	r = pthread_attr_setstacksize(&attributes, KEEPER_STACK);
	/* No handler of the caller may ever run on this thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (r == 0)
		r = pthread_create(&spares->keeper, &attributes, keep, spares);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return r;
}
