/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a fetch share.
 *
 * Threads: the caller's one reads the documents, starts up to FETCH_WORKERS workers,
 * watches for cancellation while they run, joins them and puts the layers together. A
 * worker takes one layer after another: it lets the source fill the blob, and a second
 * thread of its own unpacks behind it. The first failure is kept in `why` and stops all
 * others, through their blobs and through fetch_is_stopped. */
#ifndef OCI_FETCH_OWN_H
#define OCI_FETCH_OWN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "oci/config.h"
#include "oci/fetch.h"

enum { FETCH_WORKERS = 4, FETCH_WHERE = 200 };

struct fetch {
	struct store *store;
	const struct fetch_source *source;
	const struct fetch_options *options;
	char where[FETCH_WHERE]; /* the name, fit for a message */
	struct digest top;
	struct digest manifest_digest;
	struct manifest manifest;
	struct image_config config;
	pthread_mutex_t lock; /* over all below, up to the next lock */
	size_t next;	      /* layer to be taken by a worker */
	bool is_stopped;
	struct husk_error why; /* is_stopped */
	struct blob *active[FETCH_WORKERS];
	int done_fd;		       /* eventfd: a worker has ended */
	size_t ended;		       /* workers; under lock */
	pthread_mutex_t progress_lock; /* events come one at a time */
	uint64_t *told_ms;	       /* of each layer: when its last event was */
};

/* One layer's place in the fetch; what callbacks get. */
struct fetch_layer {
	struct fetch *fetch;
	size_t index;
	size_t slot;	   /* of the worker */
	struct blob *blob; /* being filled, or NULL */
	bool was_told;	   /* that somebody else is at it */
	bool was_resumed;  /* the blob had bytes before */
	bool was_stored;   /* the blob came from the store */
	char where[FETCH_WHERE];
};

/* -- fetch.c -- */

/* Stop all, with this outcome unless there was one before. */
void fetch_stop(struct fetch *fetch, const struct husk_error *why);
bool fetch_is_stopped(struct fetch *fetch);
/* The same, looking at the caller's cancel descriptor too. */
bool fetch_is_cancelled(struct fetch *fetch);
/* The outcome of a fetch that was stopped. */
int fetch_outcome(struct fetch *fetch, struct husk_error *err);

/* -- fetch_documents.c -- */

/* From the top to manifest and config, all into the store. */
int fetch_documents(struct fetch *fetch, const struct descriptor *top,
		    const struct buffer *top_data, struct husk_error *err);

/* -- fetch_layers.c, fetch_layer.c -- */

int fetch_layers(struct fetch *fetch, struct husk_error *err);
int fetch_one_layer(struct fetch *fetch, size_t index, size_t slot,
		    struct husk_error *err);

/* -- fetch_progress.c -- */

/* layer: -1 where none is meant; digest: NULL for the manifest's. A caller that wants no
 * more stops the fetch. */
void fetch_tell(struct fetch *fetch, int32_t kind, int32_t layer, uint64_t done,
		uint64_t total);
/* HUSK_PROGRESS_LAYER, as often as is worth it. */
void fetch_tell_bytes(struct fetch *fetch, size_t layer, uint64_t done);
/* For the store's waiting callbacks; user: struct fetch_layer. Not 0: stop. */
int fetch_tell_waiting(void *user);

/* A thread that takes no signals: those are the program's. 0 or an errno. */
int fetch_start_thread(pthread_t *ret, void *(*run)(void *user), void *user);

#endif
