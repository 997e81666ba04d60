/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request and its answer, over libcurl: no redirect followed, nothing decoded,
 * nothing read from the environment, no cookie, no credential of libcurl's own finding.
 *
 * A struct http keeps connections for the requests of one registry object. They are never
 * shared between objects, and so never between identities. */
#ifndef OCI_HTTP_H
#define OCI_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "oci/url.h"

/* All borrowed for the life of the object; NULL: none. */
struct http_settings {
	const char *http_proxy, *https_proxy, *no_proxy; /* as curl takes them; a
							  * loopback host is never asked
							  * through one */
	const char *ca_file; /* PEM; "" refuses every https address */
	const char *client_certificate, *client_key; /* PEM files */
	int (*stopped)(void *user);		     /* asked every 100 ms or so */
	void *user;
	unsigned connect_timeout_s, stall_timeout_s; /* 0: those of oci/bounds.h */
};

struct http;
int http_new(const struct http_settings *settings, struct http **ret,
	     struct husk_error *err);
struct http *http_free(struct http *http);

/* Why there is no answer, for those who try again. */
enum http_failure {
	HTTP_NO_FAILURE,
	HTTP_REFUSED, /* nobody listens there */
	HTTP_NOT_TLS, /* the other side does not speak TLS at all */
	HTTP_CUT,     /* the connection broke, before or within the answer */
	HTTP_STALLED, /* connected, and then nothing more came */
	HTTP_AGAIN,   /* the sink wants the request repeated */
	HTTP_OTHER,   /* it would fail the same way again */
};

struct http_answer {
	long status;
	struct buffer challenges; /* WWW-Authenticate values, each ended by a NUL */
	struct buffer body;	  /* all that the sink did not take */
	char *location;		  /* heap or NULL */
	char content_type[128];
	char content_range[96];
	char content_encoding[32];
	char retry_after[64];
	enum http_failure failure;
};

void http_answer_init(struct http_answer *answer);
void http_answer_deinit(struct http_answer *answer);
#define CLEANUP_ANSWER __attribute__((cleanup(http_answer_deinit)))

/* Takes the body of a 200 or 206 as it comes. */
struct http_sink {
	/* The headers are here. Negative, with err filled in: stop for good. Positive:
	 * this answer is of no use, ask again (HTTP_AGAIN). Called for every status. */
	int (*begin)(void *user, const struct http_answer *answer,
		     struct husk_error *err);
	int (*write)(void *user, const void *data, size_t size, struct husk_error *err);
	void *user;
};

struct http_request {
	const struct url *url;
	const char *accept, *authorization; /* header values or NULL */
	uint64_t range_from;		    /* 0: everything */
	const char *form;		    /* POST this form; NULL: GET */
	const struct http_sink *sink;	    /* NULL: the body goes into the answer */
	size_t max_body;		    /* of what goes into the answer */
	unsigned timeout_s;		    /* for all of it; 0: none */
	bool client_certificate;	    /* show the client's, if there is one */
};

/* Send it and wait for the whole answer. 0: there is one, whatever its status. Negative:
 * there is none, answer->failure says why and err in words: HUSK_E_REGISTRY,
 * HUSK_E_TOO_BIG, HUSK_E_CANCELLED, HUSK_E_MEMORY, HUSK_E_SYSTEM (no libcurl), or what
 * the sink said. Any thread. */
int http_send(struct http *http, const struct http_request *request,
	      struct http_answer *answer, struct husk_error *err);

/* The value as a form or a query wants it; heap. NULL: out of memory. */
char *http_escape(const char *value);

#endif
