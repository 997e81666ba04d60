/* SPDX-License-Identifier: Apache-2.0 */
/* Who we are at one registry, as far as it has asked: credentials are looked up at its
 * first challenge, a token is kept until it expires or is refused. Where tokens are
 * refused again and again before their time, each request gets one of its own. One object
 * for each registry object and place; any thread. */
#ifndef OCI_AUTH_H
#define OCI_AUTH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "oci/credentials.h"
#include "oci/http.h"
#include "oci/token.h"

struct auth_settings {
	const char *registry, *repository; /* as in a reference; whose credentials */
	struct credential_places places;
	struct http *http;
	bool allow_plain_http;
	unsigned pause_ms;
};

struct auth {
	struct auth_settings settings;
	pthread_mutex_t lock;
	bool looked; /* credentials are filled in */
	struct credentials credentials;
	char *header;		       /* heap; what to send; NULL: nothing yet */
	char *realm, *service, *scope; /* heap; of the token in header, if it is one */
	int64_t until_ms;	       /* it is good until (monotonic); 0: for ever */
	unsigned generation;	       /* of header; 0: none */
	unsigned shown;		       /* how many requests have been given header */
	unsigned early;		       /* how often a token was refused before its time */
};

/* What a request was given. */
struct auth_shown {
	unsigned generation; /* of the header */
	bool own;	     /* made for this request alone */
};

void auth_init(struct auth *auth, const struct auth_settings *settings);
void auth_deinit(struct auth *auth);

/* What to send with a request to origin: a secret on the heap, or NULL where nothing is
 * known to be wanted. A token that has expired is replaced first. */
int auth_header(struct auth *auth, const struct url *origin, char **ret,
		struct auth_shown *ret_shown, struct husk_error *err);

/* May another request have been given the same? Then a refusal says little: where tokens
 * are good for one request, that one may have used it up. */
bool auth_was_shared(struct auth *auth, const struct auth_shown *shown);

/* origin has answered 401 to a request with that header: get what it wants. 0: try again.
 * HUSK_E_REGISTRY: there is nothing to try. */
int auth_challenged(struct auth *auth, const struct url *origin,
		    const struct http_answer *answer, const struct auth_shown *shown,
		    struct husk_error *err);

/* Does it know any credentials? For messages. */
bool auth_has_credentials(struct auth *auth);

#endif
