/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that the registry client asks: http and https, nothing else, and never with a
 * user or a password in them. */
#ifndef OCI_URL_H
#define OCI_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum {
	URL_HOST = 256,
	URL_MAX = 16384,
	URL_SHOWN = 200,
};

struct url {
	bool tls;
	unsigned port;
	char host[URL_HOST];	      /* lower-case; an IPv6 address with its brackets */
	char authority[URL_HOST + 8]; /* host, with the port where it is not the usual */
	char *target; /* heap; path and query, byte for byte as they were written */
};

/* An absolute address. 0, -EINVAL, -ENOMEM, -EPROTONOSUPPORT (another scheme), -EPERM (it
 * holds a user), -E2BIG. */
int url_parse(const char *text, struct url *ret);
/* What location means in an answer of base (RFC 3986 section 5.2): absolute, without a
 * scheme, or relative. As url_parse. */
int url_resolve(const struct url *base, const char *location, struct url *ret);
/* host[:port] and a target as one address. 0, -EINVAL or -ENOMEM. */
int url_make(bool tls, const char *host, const char *target, struct url *ret);
int url_copy(const struct url *url, struct url *ret);
void url_deinit(struct url *url);
#define CLEANUP_URL __attribute__((cleanup(url_deinit)))

/* The same scheme, host and port: the only place that may see what was meant for it. */
bool url_same_origin(const struct url *a, const struct url *b);
bool url_is_loopback(const struct url *url);
/* Append the whole address, for the wire. 0 or -errno. */
int url_text(const struct url *url, struct buffer *to);
/* For messages: without the query, where secrets are. Returns text. */
const char *url_show(const struct url *url, char text[URL_SHOWN]);

#endif
