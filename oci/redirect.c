/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/redirect.h"

#include "oci/bounds.h"

#include <errno.h>
#include <string.h>

static int refuse(int rc, const struct url *from, struct husk_error *err)
{
	const char *why = "no address that can be followed";

	if (rc == -ENOMEM)
		return error_oom(err, from->authority);
	if (rc == -EPROTONOSUPPORT)
		why = "an address that is neither http nor https";
	else if (rc == -EPERM)
		why = "an address with a user in it";
	else if (rc == -E2BIG)
		why = "an address that is too long";
	return error_set(err, HUSK_E_REGISTRY, from->authority, "it redirects to %s",
			 why);
}

int redirect_next(const struct url *from, const char *location, bool allow_plain_http,
		  struct url *ret, struct husk_error *err)
{
	CLEANUP_URL struct url to = {0};
	char text[URL_SHOWN];
	int rc = url_resolve(from, location, &to);

	if (rc < 0)
		return refuse(rc, from, err);
	if (!to.tls && from->tls) {
		rc = error_set(err, HUSK_E_REGISTRY, from->authority,
			       "it redirects from https to %s", url_show(&to, text));
		error_hint(err, "what comes over plain HTTP can be changed on the way; "
				"the registry must redirect to https");
		return rc;
	}
	if (!to.tls && !allow_plain_http &&
	    !(url_is_loopback(from) && url_is_loopback(&to))) {
		rc = error_set(err, HUSK_E_REGISTRY, from->authority,
			       "it redirects to %s, and plain HTTP is not allowed",
			       url_show(&to, text));
		error_hint(err, "allow plain HTTP for this registry if its network can "
				"be trusted");
		return rc;
	}
	*ret = to;
	to.target = NULL;
	return 0;
}

bool redirect_is_upward(const struct url *from, const struct url *to)
{
	return !from->tls && to->tls && strcmp(from->host, to->host) == 0 &&
	       (from->port == to->port || (from->port == 80 && to->port == 443)) &&
	       strcmp(from->target, to->target) == 0;
}

static bool leads_on(const struct http_answer *answer)
{
	switch (answer->status) {
	case 301:
	case 302:
	case 303:
	case 307:
	case 308:
		return true;
	default:
		return false;
	}
}

/* One step: *at becomes the next address. */
static int step(struct url *at, bool allow_plain_http, const struct http_answer *answer,
		struct redirect_end *end, struct husk_error *err)
{
	CLEANUP_URL struct url next = {0};
	int rc;

	if (!answer->location)
		return error_set(err, HUSK_E_REGISTRY, at->authority,
				 "it answers %ld without saying where to",
				 answer->status);
	rc = redirect_next(at, answer->location, allow_plain_http, &next, err);
	if (rc < 0)
		return rc;
	end->upward = redirect_is_upward(at, &next);
	end->same_origin = end->same_origin && url_same_origin(at, &next);
	url_deinit(at);
	*at = next;
	next.target = NULL;
	return 0;
}

int redirect_send(struct http *http, const struct http_request *request,
		  bool allow_plain_http, struct http_answer *answer,
		  struct redirect_end *ret, struct husk_error *err)
{
	struct redirect_end end = {.same_origin = true};
	CLEANUP_URL struct url at = {0};
	struct http_request now = *request;
	int rc = url_copy(request->url, &at);

	if (rc < 0)
		return error_oom(err, request->url->authority);
	for (int steps = 0;; steps++) {
		now.url = &at;
		if (!end.same_origin) {
			now.authorization = NULL;
			now.client_certificate = false;
		}
		rc = http_send(http, &now, answer, err);
		if (rc < 0)
			return rc;
		/* A form is not sent a second time: it holds a secret. */
		if (!leads_on(answer) || request->form)
			break;
		answer->failure = HTTP_OTHER;
		if (steps == OCI_MAX_REDIRECTS)
			return error_set(err, HUSK_E_REGISTRY, request->url->authority,
					 "it redirects more than %d times",
					 OCI_MAX_REDIRECTS);
		rc = step(&at, allow_plain_http, answer, &end, err);
		if (rc < 0)
			return rc;
		if (end.upward && steps == 0)
			break;
	}
	end.url = at;
	at.target = NULL;
	*ret = end;
	return 0;
}
