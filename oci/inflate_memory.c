/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/inflate_memory.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "oci/bounds.h"

enum { LOOK_MS = 100 }; /* how often somebody who waits is asked */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
static uint64_t taken;

static struct timespec soon(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += LOOK_MS * 1000000L;
	if (time.tv_nsec >= 1000000000L) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000L;
	}
	return time;
}

int inflate_memory_take(uint64_t bytes, int (*waiting)(void *user, uint64_t done),
			void *user, uint64_t done)
{
	int r = 0;

	(void)pthread_mutex_lock(&lock);
	while (r == 0 && taken > 0 && bytes > OCI_MAX_WINDOWS - taken) {
		struct timespec until = soon();

		if (pthread_cond_clockwait(&given, &lock, CLOCK_MONOTONIC, &until) !=
			ETIMEDOUT ||
		    !waiting)
			continue;
		(void)pthread_mutex_unlock(&lock);
		r = waiting(user, done) ? -ECANCELED : 0;
		(void)pthread_mutex_lock(&lock);
	}
	if (r == 0)
		taken += bytes;
	(void)pthread_mutex_unlock(&lock);
	return r;
}

void inflate_memory_give(uint64_t bytes)
{
	(void)pthread_mutex_lock(&lock);
	taken -= bytes;
	(void)pthread_cond_broadcast(&given);
	(void)pthread_mutex_unlock(&lock);
}
