/* SPDX-License-Identifier: Apache-2.0 */
/* Passing the box's streams through to husk's own, as they come.
 *
 * The library calls back on the thread that also keeps the deadline. A reader of husk's
 * stdout that stands still must not make the box outlive its deadline, so no write here
 * blocks for ever: it waits until shortly after the deadline, or until husk is told to
 * stop, and then the rest of that stream is dropped. */
#ifndef CLI_RELAY_H
#define CLI_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_relay_stream {
	int fd;	      /* 1 or 2 */
	int own;      /* the same file opened again, not blocking; -1: there is none */
	bool ready;   /* own was settled */
	bool small;   /* fd may block: write little, and only after poll said so */
	bool dropped; /* nobody reads: the rest of the stream goes nowhere */
};

struct cli_relay {
	struct cli_relay_stream out, err;
	uint64_t give_up_ms; /* monotonic clock */
	int failed;	     /* errno of a write that failed, 0: none */
	const char *failed_stream;
};

/* For a box that may run for timeout_ms from now on. */
void cli_relay_init(struct cli_relay *relay, uint64_t timeout_ms);
void cli_relay_deinit(struct cli_relay *relay);
#define CLEANUP_RELAY __attribute__((cleanup(cli_relay_deinit)))

/* The callback (husk_output_fn); user is the relay. Cancels the box where a write
 * fails. */
int cli_relay_output(void *user, int stream, const void *data, size_t size);

#endif
