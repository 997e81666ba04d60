/* SPDX-License-Identifier: Apache-2.0 */
/* The workers, and the watch over them. */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/fetch_own.h"

enum { LOOK_MS = 1000 };

struct worker {
	struct fetch *fetch;
	size_t slot;
	pthread_t thread;
};

static bool take(struct fetch *fetch, size_t *ret_index)
{
	bool has = false;

	(void)pthread_mutex_lock(&fetch->lock);
	if (!fetch->is_stopped && fetch->next < fetch->manifest.layer_count) {
		*ret_index = fetch->next++;
		has = true;
	}
	(void)pthread_mutex_unlock(&fetch->lock);
	return has;
}

static void *work(void *user)
{
	struct worker *worker = user;
	struct fetch *fetch = worker->fetch;
	const uint64_t one = 1;
	size_t index;

	while (take(fetch, &index)) {
		struct husk_error why = {0};

		if (fetch_one_layer(fetch, index, worker->slot, &why) < 0)
			fetch_stop(fetch, &why);
	}
	(void)pthread_mutex_lock(&fetch->lock);
	fetch->ended++;
	(void)pthread_mutex_unlock(&fetch->lock);
	(void)fd_write_all(fetch->done_fd, &one, sizeof(one));
	return NULL;
}

static size_t count_ended(struct fetch *fetch)
{
	size_t ended;

	(void)pthread_mutex_lock(&fetch->lock);
	ended = fetch->ended;
	(void)pthread_mutex_unlock(&fetch->lock);
	return ended;
}

/* Until all workers have ended. The descriptor is there to wake us, and for nothing else:
 * a worker whose word did not come through is not waited for. */
static void watch(struct fetch *fetch, size_t running)
{
	while (count_ended(fetch) < running) {
		struct pollfd fds[2] = {
		    {.fd = fetch->done_fd, .events = POLLIN},
		    {.fd = fetch_is_stopped(fetch) ? -1 : fetch->options->cancel_fd,
		     .events = POLLIN},
		};
		uint64_t words;

		if (poll(fds, 2, LOOK_MS) < 0 && errno != EINTR)
			return; /* joining waits as well */
		if (fds[1].revents)
			(void)fetch_is_cancelled(fetch);
		if (fds[0].revents & POLLIN &&
		    read(fetch->done_fd, &words, sizeof(words)) < 0 && errno != EINTR)
			return;
	}
}

int fetch_layers(struct fetch *fetch, struct husk_error *err)
{
	struct worker workers[FETCH_WORKERS];
	CLEANUP_FD int done = eventfd(0, EFD_CLOEXEC);
	size_t wanted = fetch->manifest.layer_count, count = 0;
	int r = 0;

	if (done < 0)
		return error_sys(err, errno, fetch->where, "cannot make an eventfd");
	fetch->done_fd = done;
	if (wanted > FETCH_WORKERS)
		wanted = FETCH_WORKERS;
	for (; count < wanted && r == 0; count += r == 0) {
		workers[count] = (struct worker){.fetch = fetch, .slot = count};
		r = fetch_start_thread(&workers[count].thread, work, &workers[count]);
	}
	/* Fewer than wanted do as well. */
	if (wanted > 0 && count == 0)
		return error_sys(err, r, fetch->where, "cannot start a thread");
	watch(fetch, count);
	for (size_t i = 0; i < count; i++)
		(void)pthread_join(workers[i].thread, NULL);
	return fetch_outcome(fetch, err);
}
