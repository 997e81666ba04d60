/* SPDX-License-Identifier: Apache-2.0 */
/* The host's ends of the workload's streams: bounded capture, callbacks, standard input.
 */
#ifndef RUNTIME_STREAMS_H
#define RUNTIME_STREAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "runtime/run.h"

struct streams {
	struct run *run;
	const char *pending; /* standard input that the pipe has not taken yet */
	size_t pending_size;
	char *copy; /* what was read from stdin_fd; heap, or spare_copy */
	size_t copy_size;
	char *discard; /* where bytes beyond the cap go; heap, or spare_discard */
	size_t discard_size;
	/* Where there is no memory for larger ones: the box is on its way by then. */
	char spare_copy[512], spare_discard[512];
	bool ended;	    /* the end of the input is typed on the terminal */
	uint64_t retype_at; /* and again then, by clock_us() */
	uint64_t retype_us; /* which is so long after the last time */
	bool refused;	    /* the callback asked for an end */
	bool grown[2];	    /* the pipes were enlarged */
	bool quiet[2];	    /* nothing is in the pipes, nor will be */
};

/* What is set up stays where it is. */
void streams_init(struct streams *streams, struct run *run);
void streams_deinit(struct streams *streams);

/* Take what is there from one stream (HUSK_STDOUT 1, HUSK_STDERR 2), at most `rounds`
 * reads. Closes the descriptor at its end. */
void streams_take(struct streams *streams, int stream, int rounds);

/* Is there input to be written, or must some be read first? */
bool streams_want_write(const struct streams *streams);
bool streams_want_read(const struct streams *streams);
void streams_feed(struct streams *streams);   /* the pipe can take input */
void streams_refill(struct streams *streams); /* stdin_fd has something, or its end */

/* The end of the input on a terminal is typed from time to time: wait no longer than to
 * the next time, and type it where that has come. */
void streams_shorten(const struct streams *streams, struct timespec *left);
void streams_retype(struct streams *streams);

#endif
