/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/ring.h"

#include <stdlib.h>

int ring_init(struct ring *ring, const char *where, struct husk_error *err)
{
	*ring = (struct ring){.lock = PTHREAD_MUTEX_INITIALIZER,
			      .changed = PTHREAD_COND_INITIALIZER};
	ring->memory = malloc((size_t)RING_SLOTS * RING_SLOT);
	return ring->memory ? 0 : error_oom(err, where);
}

void ring_deinit(struct ring *ring)
{
	free(ring->memory);
	ring->memory = NULL;
}

static unsigned char *slot(const struct ring *ring, size_t number)
{
	return ring->memory + number % RING_SLOTS * RING_SLOT;
}

unsigned char *ring_space(struct ring *ring)
{
	unsigned char *space = NULL;

	(void)pthread_mutex_lock(&ring->lock);
	while (ring->reader == RING_OPEN && ring->put - ring->taken == RING_SLOTS)
		(void)pthread_cond_wait(&ring->changed, &ring->lock);
	if (ring->reader != RING_FAILED)
		space = slot(ring, ring->put);
	(void)pthread_mutex_unlock(&ring->lock);
	return space;
}

void ring_put(struct ring *ring, size_t size)
{
	(void)pthread_mutex_lock(&ring->lock);
	if (ring->reader == RING_OPEN) {
		ring->sizes[ring->put % RING_SLOTS] = size;
		ring->put++;
		(void)pthread_cond_broadcast(&ring->changed);
	}
	(void)pthread_mutex_unlock(&ring->lock);
}

void ring_close(struct ring *ring, enum ring_state state)
{
	(void)pthread_mutex_lock(&ring->lock);
	ring->writer = state;
	(void)pthread_cond_broadcast(&ring->changed);
	(void)pthread_mutex_unlock(&ring->lock);
}

ssize_t ring_next(struct ring *ring, const void **ret)
{
	ssize_t size = 0;

	(void)pthread_mutex_lock(&ring->lock);
	if (ring->holding) {
		ring->holding = false;
		ring->taken++;
		(void)pthread_cond_broadcast(&ring->changed);
	}
	while (ring->writer == RING_OPEN && ring->put == ring->taken)
		(void)pthread_cond_wait(&ring->changed, &ring->lock);
	if (ring->writer == RING_FAILED) {
		size = -1;
	} else if (ring->put != ring->taken) {
		ring->holding = true;
		*ret = slot(ring, ring->taken);
		size = (ssize_t)ring->sizes[ring->taken % RING_SLOTS];
	}
	(void)pthread_mutex_unlock(&ring->lock);
	return size;
}

void ring_leave(struct ring *ring, enum ring_state state)
{
	(void)pthread_mutex_lock(&ring->lock);
	ring->reader = state;
	(void)pthread_cond_broadcast(&ring->changed);
	(void)pthread_mutex_unlock(&ring->lock);
}
