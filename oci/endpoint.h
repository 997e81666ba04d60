/* SPDX-License-Identifier: Apache-2.0 */
/* One place that is asked: the registry or a mirror. It decides between https and http
 * (oci/registry.h), answers challenges, follows redirects, and tries again. */
#ifndef OCI_ENDPOINT_H
#define OCI_ENDPOINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "oci/auth.h"
#include "oci/certs.h"
#include "oci/http.h"
#include "oci/reference.h"
#include "oci/registry.h"
#include "oci/url.h"

struct endpoint {
	char name[REFERENCE_NAME];		/* as the user says it: host[:port] */
	const struct registry_options *options; /* borrowed */
	bool may_be_plain;			/* http is allowed here */
	bool port_given;
	atomic_bool dead; /* it could not be reached: not to be asked again */
	pthread_mutex_t lock;
	struct url base; /* under lock; target is what comes before /v2 */
	bool decided;	 /* under lock: it has answered as base says */
	struct certs certs;
	struct http *http;
	struct auth auth;
};

/* text: "[http[s]://]host[:port][/prefix]"; name: the registry it stands for, whose
 * credentials and certificates are used, or NULL: text's own host[:port]. Everything is
 * borrowed for the life of the endpoint. */
int endpoint_init(struct endpoint *endpoint, const char *text, const char *name,
		  const char *repository, const struct registry_options *options,
		  struct husk_error *err);
void endpoint_deinit(struct endpoint *endpoint);

struct endpoint_request {
	const char *path; /* "/v2/..." */
	const char *accept;
	size_t max_body;
	unsigned timeout_s;
	const struct http_sink *sink; /* NULL: into the answer */
	/* With a sink: from which byte on, and whether all has come; both get user. */
	uint64_t (*from)(void *user);
	bool (*complete)(void *user);
	void *user;
};

/* Ask, by GET. 0: an answer, whose status may be anything but 401. */
int endpoint_get(struct endpoint *endpoint, const struct endpoint_request *request,
		 struct http_answer *answer, struct husk_error *err);

#endif
