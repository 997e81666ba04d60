/* SPDX-License-Identifier: Apache-2.0 */
#include "session/spares.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "session/session.h"
#include "session/spare_code.h"

enum {
	KEEPER_STACK = 256 << 10,
	TEST_NAPS = 1500,
	FAILURES_MAX = 3, /* of a kind that then is not tried any more */
	SLOW_MS = 1000,	  /* between two looks at what does not say anything */
};

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

static void push(struct spare_slot **list, struct spare_slot *slot)
{
	slot->next = *list;
	*list = slot;
}

static struct spare_slot *pop(struct spare_slot **list)
{
	struct spare_slot *slot = *list;

	if (slot)
		*list = slot->next;
	return slot;
}

static void wake(struct spares *spares)
{
	static const uint64_t one = 1;

	(void)!write(spares->wake_fd, &one, sizeof(one));
}

/* Only its own process may touch them: after a fork, the locks may be those of a thread
 * that is not there. */
static bool is_ours(const struct spares *spares)
{
	return spares && spares->owner == getpid();
}

static void note_failure(struct spares *spares, enum spare_kind kind, const char *text)
{
	pthread_mutex_lock(&spares->lock);
	spares->failures[kind]++;
	(void)snprintf(spares->trouble, sizeof(spares->trouble), "%s", text);
	pthread_mutex_unlock(&spares->lock);
}

/* -- the keeper -----------------------------------------------------------------------
 */

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
		push(&spares->graves, slot);
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
		push(&spares->starting, slot);
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
		push(&spares->graves, slot);
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
		push(&spares->ready, slot);
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
		push(&spares->graves, slot);
		wake(spares);
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
		push(&spares->graves, slot);
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

/* Tests only: HUSK_TEST_PREWARM keeps so many spares in every session, and lets a call
 * wait for one, so that programs that know nothing of spares are run in them. */
static unsigned wanted_by_test(void)
{
#ifdef HUSK_TEST_HOOKS
	const char *text = secure_getenv("HUSK_TEST_PREWARM");

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
#else
	return 0;
#endif
}

/* -- making and ending it -------------------------------------------------------------
 */

static int start_keeper(struct spares *spares)
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

int spares_new(struct husk_session *session, struct spares **ret, struct husk_error *err)
{
	const struct settings *settings = &session->settings;
	unsigned wanted = settings->prewarm ? settings->prewarm : wanted_by_test();
	struct spares *spares;
	int r;

	if (wanted == 0)
		return 0;
	spares = calloc(1, sizeof(*spares));
	if (!spares)
		return error_oom(err, "spares");
	spares->session = session;
	spares->wanted = wanted;
	spares->owner = getpid();
	spares->want_more = true;
	pthread_mutex_init(&spares->lock, NULL);
	pthread_mutex_init(&spares->making, NULL);
	for (unsigned i = 0; settings->preload && i < spares->wanted; i++)
		spares->last[i] = spare_code_allowed(session, SPARE_PYTHON)
				      ? SPARE_PYTHON
				      : SPARE_PROGRAM;
	spares->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = spares->wake_fd < 0 ? errno : start_keeper(spares);
	if (r == 0) {
		*ret = spares;
		return 0;
	}
	fd_close(&spares->wake_fd);
	free(spares);
	return error_sys(err, r, "spares", "cannot start the thread that keeps them");
}

/* They are the other process's; what this one has of them is descriptors. */
static void abandon(struct spares *spares)
{
	for (struct spare_slot *slot = spares->ready; slot; slot = slot->next)
		box_spare_abandon(slot->box);
	fd_close(&spares->wake_fd);
}

struct spares *spares_free(struct spares *spares)
{
	if (!spares)
		return NULL;
	if (!is_ours(spares)) {
		abandon(spares);
		return NULL;
	}
	pthread_mutex_lock(&spares->lock);
	spares->stop = true;
	pthread_mutex_unlock(&spares->lock);
	wake(spares);
	pthread_join(spares->keeper, NULL);
	fd_close(&spares->wake_fd);
	pthread_mutex_destroy(&spares->lock);
	pthread_mutex_destroy(&spares->making);
	free(spares);
	return NULL;
}

/* -- for the calls --------------------------------------------------------------------
 */

static struct spare_slot *take_one(struct spares *spares, enum spare_kind kind)
{
	struct spare_slot **at, *slot;

	pthread_mutex_lock(&spares->lock);
	for (at = &spares->ready; (slot = *at); at = &slot->next) {
		if (slot->kind == kind && slot->generation == spares->generation) {
			*at = slot->next;
			break;
		}
	}
	pthread_mutex_unlock(&spares->lock);
	return slot;
}

static bool is_usable(struct spares *spares, struct spare_slot *slot)
{
	return box_spare_alive(slot->box) &&
	       (slot->kind == SPARE_PROGRAM || spare_code_fresh(spares->session, slot));
}

static struct spare_slot *take_or_await(struct spares *spares, enum spare_kind kind)
{
	struct spare_slot *slot = take_one(spares, kind);
	int naps = wanted_by_test() > 0 ? TEST_NAPS : 0;

	while (!slot && naps-- > 0) {
		static const struct timespec nap = {.tv_nsec = 2000000};

		spares_wake(spares);
		(void)nanosleep(&nap, NULL);
		slot = take_one(spares, kind);
	}
	return slot;
}

struct spare_slot *spares_take(struct spares *spares, enum spare_kind kind)
{
	struct spare_slot *slot;

	if (!is_ours(spares))
		return NULL;
	slot = take_or_await(spares, kind);
	/* The next one may be of no use for the same reason: it is not waited for. */
	while (slot && !is_usable(spares, slot)) {
		spares_return(spares, slot);
		slot = take_one(spares, kind);
	}
	return slot;
}

void spares_note(struct spares *spares, enum spare_kind kind)
{
	if (!is_ours(spares))
		return;
	pthread_mutex_lock(&spares->lock);
	spares->last[spares->last_at] = kind;
	spares->last_at = (spares->last_at + 1) % spares->wanted;
	pthread_mutex_unlock(&spares->lock);
}

void spares_return(struct spares *spares, struct spare_slot *slot)
{
	pthread_mutex_lock(&spares->lock);
	push(&spares->returned, slot);
	pthread_mutex_unlock(&spares->lock);
}

void spares_wake(struct spares *spares)
{
	if (!is_ours(spares))
		return;
	pthread_mutex_lock(&spares->lock);
	spares->want_more = true;
	pthread_mutex_unlock(&spares->lock);
	wake(spares);
}

void spares_hold(struct spares *spares)
{
	if (is_ours(spares))
		pthread_mutex_lock(&spares->making);
}

void spares_renew(struct spares *spares)
{
	if (!is_ours(spares))
		return;
	pthread_mutex_lock(&spares->lock);
	spares->generation++;
	memset(spares->failures, 0, sizeof(spares->failures));
	pthread_mutex_unlock(&spares->lock);
	pthread_mutex_unlock(&spares->making);
	spares_wake(spares);
}

void spares_count(struct spares *spares, struct husk_spares *ret)
{
	if (!is_ours(spares))
		return;
	pthread_mutex_lock(&spares->lock);
	ret->wanted = spares->wanted;
	ret->starting = spares->starting_count;
	for (const struct spare_slot *slot = spares->ready; slot; slot = slot->next) {
		if (slot->kind == SPARE_PROGRAM)
			ret->programs++;
		else
			ret->interpreters++;
		ret->memory_bytes += box_spare_memory(slot->box);
	}
	(void)snprintf(ret->trouble, sizeof(ret->trouble), "%s", spares->trouble);
	pthread_mutex_unlock(&spares->lock);
}
