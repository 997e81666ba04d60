/* SPDX-License-Identifier: Apache-2.0 */
#include "session/spares.h"

#include <errno.h>
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
#include "session/spares_own.h"

enum { TEST_NAPS = 1500 };

/* Only its own process may touch them: after a fork, the locks may be those of a thread
 * that is not there. */
static bool is_ours(const struct spares *spares)
{
	return spares && spares->owner == getpid();
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
	r = spares->wake_fd < 0 ? errno : spares_keeper_start(spares);
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
	spares_keeper_wake(spares);
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
	spares_push(&spares->returned, slot);
	pthread_mutex_unlock(&spares->lock);
}

void spares_wake(struct spares *spares)
{
	if (!is_ours(spares))
		return;
	pthread_mutex_lock(&spares->lock);
	spares->want_more = true;
	pthread_mutex_unlock(&spares->lock);
	spares_keeper_wake(spares);
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
