/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded ring of buffers between the thread that decompresses and the one that places
 * files, so that both work at once and neither runs away from the other. */
#ifndef OCI_RING_H
#define OCI_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

enum { RING_SLOTS = 8, RING_SLOT = 256 * 1024 };

enum ring_state {
	RING_OPEN,
	RING_DONE, /* this side needs no more, or has no more */
	RING_FAILED,
};

struct ring {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned char *memory; /* all slots */
	size_t sizes[RING_SLOTS];
	size_t put, taken; /* counts of slots, never reset; put - taken are full */
	bool holding;	   /* the reader looks at the slot `taken` */
	enum ring_state writer, reader;
};

int ring_init(struct ring *ring, const char *where, struct husk_error *err);
void ring_deinit(struct ring *ring);

/* -- the writer's side */

/* RING_SLOT bytes to fill in; waits for room. What ring_put is not called for is not
 * sent. After the reader is done it is still a buffer to use; NULL once it failed. */
unsigned char *ring_space(struct ring *ring);
void ring_put(struct ring *ring, size_t size);
void ring_close(struct ring *ring, enum ring_state state);

/* -- the reader's side */

/* The next full buffer, valid until the next call. 0 at the end, -1 where the writer
 * failed. */
ssize_t ring_next(struct ring *ring, const void **ret);
void ring_leave(struct ring *ring, enum ring_state state);

#endif
