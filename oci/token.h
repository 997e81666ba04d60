/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of a registry's token server (the distribution project's token authentication):
 * GET with Basic credentials or none, POST with an identity token. A POST that the server
 * does not know (400, 404, 405) is followed by a GET.
 *
 * To whom credentials are sent. The registry names its token server (the realm):
 *  - https: yes. The user's choice of the registry covers the server it names, as the
 *    protocol has it, but only these credentials and only under TLS.
 *  - http, and the registry was reached over https: nothing is asked there at all.
 *  - http, and both are loopback hosts: yes.
 *  - http, where plain HTTP is allowed: yes on the registry's own host, else the server
 * is asked only if there are no credentials.
 *  - http otherwise: nothing is asked there. */
#ifndef OCI_TOKEN_H
#define OCI_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "oci/credentials.h"
#include "oci/http.h"

struct token_request {
	struct http *http;
	const struct url *registry;	     /* who named the realm */
	const char *realm, *service, *scope; /* service and scope may be NULL */
	const struct credentials *credentials;
	bool allow_plain_http;
	int (*stopped)(void *user); /* may be NULL */
	void *user;
	unsigned pause_ms; /* as in struct retry */
};

struct token {
	char *value;	/* heap; fit for a header */
	int64_t life_s; /* 60 where the server does not say, or says nothing useful */
};

void token_deinit(struct token *token);
/* HUSK_E_REGISTRY, HUSK_E_TOO_BIG, HUSK_E_CANCELLED, HUSK_E_MEMORY. */
int token_fetch(const struct token_request *request, struct token *ret,
		struct husk_error *err);

/* The realm as an address, if it may be asked by the rules above. HUSK_E_REGISTRY. */
int token_realm(const struct token_request *request, struct url *ret,
		struct husk_error *err);
/* The server's answer. HUSK_E_REGISTRY. */
int token_parse(const char *data, size_t size, const char *host, struct token *ret,
		struct husk_error *err);
/* Is it made of characters that may stand in a header? */
bool token_fit(const char *value);

#endif
