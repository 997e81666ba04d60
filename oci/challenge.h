/* SPDX-License-Identifier: Apache-2.0 */
/* What a registry wants to see before it answers: WWW-Authenticate (RFC 9110 section
 * 11.6.1). Several challenges may stand in one header and several headers in one answer;
 * schemes that are not known are skipped, and what is malformed up to the next comma. */
#ifndef OCI_CHALLENGE_H
#define OCI_CHALLENGE_H

#include <stdbool.h>

struct challenges {
	bool basic;
	bool bearer;	       /* with a realm; the first one counts */
	char *realm;	       /* heap; of bearer: where tokens are given */
	char *service, *scope; /* heap or NULL */
	char *error;	       /* heap or NULL: "invalid_token", "insufficient_scope" */
};

/* Add what one header says. 0 or -ENOMEM. */
int challenges_add(struct challenges *challenges, const char *value);
void challenges_deinit(struct challenges *challenges);
#define CLEANUP_CHALLENGES __attribute__((cleanup(challenges_deinit)))

#endif
