/* SPDX-License-Identifier: Apache-2.0 */
/* --json-stream: what happens as it happens, one JSON object a line, for programs that
 * wrap the command:
 *
 *	{"event":"start","verb":"run","name":"build"}
 *	{"event":"stdout","data":"text"}	also stderr; bytes that are no UTF-8
 *become U+FFFD, and data_b64 has the exact ones
 *	{"event":"exit","result":{...}}		the fields of --json but for stdout and
 *stderr
 *
 * A character that comes in two pieces is not torn: its first bytes wait for the rest. */
#ifndef CLI_EVENTS_H
#define CLI_EVENTS_H

#include "cli/relay.h"

#include <husk/result.h>

#include <stddef.h>

struct cli_events {
	struct cli_relay *relay; /* where the lines go: its stdout */
	struct {
		char bytes[4];
		size_t size;
	} waiting[2]; /* of stdout, of stderr */
};

/* The first line. name may be NULL. */
int cli_events_start(struct cli_events *events, struct cli_relay *relay, const char *verb,
		     const char *name);
/* A husk_output_fn; user is the struct cli_events. */
int cli_events_output(void *user, int stream, const void *data, size_t size);
/* The last lines. */
int cli_events_end(struct cli_events *events, const husk_result *result);

#endif
