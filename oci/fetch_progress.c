/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>

#include "base/clock.h"
#include "oci/fetch_own.h"

enum { TELL_MS = 100 };

static void tell_locked(struct fetch *fetch, struct husk_progress *event)
{
	const struct fetch_options *options = fetch->options;
	char digest[DIGEST_TEXT];
	struct husk_error why;

	/* Who has said no is not asked again. */
	if (event->kind != HUSK_PROGRESS_DONE && fetch_is_stopped(fetch))
		return;
	digest_text(event->layer < 0 ? &fetch->manifest_digest
				     : &fetch->manifest.layers[event->layer].digest,
		    digest);
	event->size = sizeof(*event);
	event->image = options->name;
	event->digest = digest;
	if (options->on_progress(options->progress_user, event) == 0 ||
	    event->kind == HUSK_PROGRESS_DONE)
		return;
	(void)error_set(&why, HUSK_E_CANCELLED, fetch->where,
			"stopped by who was told of its progress");
	fetch_stop(fetch, &why);
}

void fetch_tell(struct fetch *fetch, int32_t kind, int32_t layer, uint64_t done,
		uint64_t total)
{
	struct husk_progress event = {
	    .kind = kind, .layer = layer, .done = done, .total = total};

	if (!fetch->options->on_progress)
		return;
	(void)pthread_mutex_lock(&fetch->progress_lock);
	tell_locked(fetch, &event);
	(void)pthread_mutex_unlock(&fetch->progress_lock);
}

void fetch_tell_bytes(struct fetch *fetch, size_t layer, uint64_t done)
{
	struct husk_progress event = {
	    .kind = HUSK_PROGRESS_LAYER,
	    .layer = (int32_t)layer,
	    .done = done,
	    .total = fetch->manifest.layers[layer].size,
	};
	uint64_t now;

	if (!fetch->options->on_progress)
		return;
	now = (uint64_t)clock_ms();
	(void)pthread_mutex_lock(&fetch->progress_lock);
	if (now - fetch->told_ms[layer] >= TELL_MS) {
		fetch->told_ms[layer] = now;
		tell_locked(fetch, &event);
	}
	(void)pthread_mutex_unlock(&fetch->progress_lock);
}

int fetch_tell_waiting(void *user)
{
	struct fetch_layer *layer = user;
	bool is_root = layer->index >= layer->fetch->manifest.layer_count;

	if (!layer->was_told)
		fetch_tell(layer->fetch, HUSK_PROGRESS_WAITING,
			   is_root ? -1 : (int32_t)layer->index, 0, 0);
	layer->was_told = true;
	return fetch_is_cancelled(layer->fetch);
}

int fetch_start_thread(pthread_t *ret, void *(*run)(void *user), void *user)
{
	sigset_t all, old;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(ret, NULL, run, user);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}
