/* SPDX-License-Identifier: Apache-2.0 */
/* Trying again. What may be over the next time is tried again: 429, 502, 503, 504, a
 * connection that broke, a transfer that stalled. What would only be the same (a name
 * that is not known, a port where nobody listens, a certificate, 4xx) is not.
 *
 * Between two tries: what Retry-After says (seconds or a date) if that is at most
 * OCI_MAX_RETRY_AFTER_S, a longer one ends it with that reason; else a pause that
 * doubles, with jitter. OCI_MAX_TRIES without progress are the end; a stall counts for
 * more, since each has cost its time. */
#ifndef OCI_RETRY_H
#define OCI_RETRY_H

#include <stdint.h>
#include <time.h>

#include "base/error.h"
#include "oci/http.h"

/* Seconds that a Retry-After value asks for, 0 for a date that is past; -1: it is none.
 */
int64_t retry_after(const char *value, time_t now);

struct retry {
	const char *host;
	/* One try: as http_send. */
	int (*attempt)(void *user, struct http_answer *answer, struct husk_error *err);
	/* How far it has got, for whether a try brought anything; may be NULL. */
	uint64_t (*progress)(void *user);
	void *user;
	int (*stopped)(void *user); /* may be NULL */
	void *stopped_user;
	unsigned pause_ms; /* the first pause; 0: the usual one */
};

/* As one attempt; *answer is the last one. A status that was worth a try each time is
 * returned as an answer, not as an error. */
int retry_run(const struct retry *retry, struct http_answer *answer,
	      struct husk_error *err);

#endif
