/* SPDX-License-Identifier: Apache-2.0 */
/* Redirects are followed by us, not by libcurl, by these rules:
 *
 *  - Authorization and the client's certificate go to the first origin (scheme, host and
 *    port) only. Once another one was visited they are gone for the rest of the way.
 *  - From https only to https. From http to https always; from http to http only between
 *    loopback hosts, or where the caller allows plain HTTP.
 *  - Other schemes, and addresses with a user in them, are refused.
 *  - At most OCI_MAX_REDIRECTS. The address is used byte for byte: signed ones would not
 *    survive a second encoding.
 */
#ifndef OCI_REDIRECT_H
#define OCI_REDIRECT_H

#include <stdbool.h>

#include "base/error.h"
#include "oci/http.h"
#include "oci/url.h"

/* Where an answer that came from `from` leads. HUSK_E_REGISTRY where that is not allowed.
 */
int redirect_next(const struct url *from, const char *location, bool allow_plain_http,
		  struct url *ret, struct husk_error *err);

/* Is this the same thing asked for, on the same host, over https instead of http? */
bool redirect_is_upward(const struct url *from, const struct url *to);

struct redirect_end {
	struct url url;	  /* where the answer came from; to be released */
	bool same_origin; /* it never left the first origin */
	bool upward;	  /* the first answer led upward (above); it was not followed */
};

/* Send a request and follow. *answer is the last one. As http_send. */
int redirect_send(struct http *http, const struct http_request *request,
		  bool allow_plain_http, struct http_answer *answer,
		  struct redirect_end *ret, struct husk_error *err);

#endif
