/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/endpoint.h"

#include "base/memory.h"
#include "base/printable.h"
#include "oci/bounds.h"
#include "oci/redirect.h"
#include "oci/retry.h"
#include "oci/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* One request under way. */
struct exchange {
	struct endpoint *endpoint;
	const struct endpoint_request *request;
	int auth_rounds; /* over all tries */
};

/* -- init ------------------------------------------------------------------------------
 */

static bool take_scheme(const char **text, const char *scheme)
{
	size_t size = strlen(scheme);

	if (strncasecmp(*text, scheme, size) != 0)
		return false;
	*text += size;
	return true;
}

/* Split text into base and name. */
static int read_text(struct endpoint *endpoint, const char *text, struct husk_error *err)
{
	char host[REFERENCE_NAME], shown[80];
	const bool http = take_scheme(&text, "http://");
	const char *prefix;
	size_t size;
	int rc = -EINVAL;

	if (!http)
		(void)take_scheme(&text, "https://");
	size = strcspn(text, "/");
	prefix = strcmp(text + size, "/") == 0 ? "" : text + size;
	if (size < sizeof(host) && !strpbrk(prefix, "?#")) {
		memcpy(host, text, size);
		host[size] = '\0';
		rc = url_make(!http, host, prefix, &endpoint->base);
	}
	if (rc == -ENOMEM)
		return error_oom(err, "registry");
	if (rc < 0)
		return error_set(
		    err, HUSK_E_INVALID, "registry",
		    "\"%s\" is no host[:port] of a registry",
		    strchr(text, '@') ? "..." : printable(shown, sizeof(shown), text));
	if (strcmp(endpoint->base.target, "/") == 0)
		endpoint->base.target[0] = '\0';
	endpoint->port_given =
	    strchr(host[0] == '[' ? strchr(host, ']') : host, ':') != NULL;
	(void)snprintf(endpoint->name, sizeof(endpoint->name), "%s", host);
	return 0;
}

static int check_scheme(struct endpoint *endpoint, struct husk_error *err)
{
	int rc;

	endpoint->may_be_plain =
	    endpoint->options->allow_plain_http || url_is_loopback(&endpoint->base);
	endpoint->decided = !endpoint->base.tls;
	if (endpoint->base.tls || endpoint->may_be_plain)
		return 0;
	rc = error_set(err, HUSK_E_INVALID, endpoint->name,
		       "plain HTTP is not allowed for a registry that is not on this "
		       "machine");
	error_hint(err, "allow plain HTTP if its network can be trusted");
	return rc;
}

static int make_http(struct endpoint *endpoint, const char *repository,
		     struct husk_error *err)
{
	const struct registry_options *options = endpoint->options;
	const struct http_settings settings = {
	    .http_proxy = options->http_proxy,
	    .https_proxy = options->https_proxy,
	    .no_proxy = options->no_proxy,
	    .ca_file = endpoint->certs.ca_file,
	    .client_certificate = endpoint->certs.certificate,
	    .client_key = endpoint->certs.key,
	    .stopped = options->stopped,
	    .user = options->user,
	    .connect_timeout_s = options->connect_timeout_s,
	    .stall_timeout_s = options->stall_timeout_s,
	};
	struct auth_settings auth = {
	    .registry = endpoint->name,
	    .repository = repository,
	    .places = {options->auth_files, options->helper_path, options->stopped,
		       options->user},
	    .allow_plain_http = options->allow_plain_http,
	    .pause_ms = options->pause_ms,
	};
	int rc = http_new(&settings, &endpoint->http, err);

	if (rc < 0)
		return rc;
	auth.http = endpoint->http;
	auth_init(&endpoint->auth, &auth);
	return 0;
}

int endpoint_init(struct endpoint *endpoint, const char *text, const char *name,
		  const char *repository, const struct registry_options *options,
		  struct husk_error *err)
{
	int rc;

	*endpoint = (struct endpoint){.options = options, .certs = CERTS_INIT};
	rc = read_text(endpoint, text, err);
	if (rc == 0 && name)
		(void)snprintf(endpoint->name, sizeof(endpoint->name), "%s", name);
	if (rc == 0)
		rc = check_scheme(endpoint, err);
	if (rc == 0)
		rc = certs_load(endpoint->name, options->tls_ca, options->certs_dirs,
				&endpoint->certs, err);
	if (rc == 0)
		rc = make_http(endpoint, repository, err);
	if (rc < 0) {
		certs_deinit(&endpoint->certs);
		url_deinit(&endpoint->base);
		return rc;
	}
	(void)pthread_mutex_init(&endpoint->lock, NULL);
	return 0;
}

void endpoint_deinit(struct endpoint *endpoint)
{
	auth_deinit(&endpoint->auth);
	endpoint->http = http_free(endpoint->http);
	certs_deinit(&endpoint->certs);
	url_deinit(&endpoint->base);
	(void)pthread_mutex_destroy(&endpoint->lock);
}

/* -- the address ------------------------------------------------------------------------
 */

static int make_url(struct endpoint *endpoint, const char *path, struct url *ret,
		    bool *ret_decided)
{
	int rc = 0;

	(void)pthread_mutex_lock(&endpoint->lock);
	*ret = endpoint->base;
	*ret_decided = endpoint->decided;
	if (asprintf(&ret->target, "%s%s", endpoint->base.target, path) < 0) {
		ret->target = NULL;
		rc = -ENOMEM;
	}
	(void)pthread_mutex_unlock(&endpoint->lock);
	return rc;
}

static void set_scheme(struct endpoint *endpoint, bool tls, unsigned port, bool decided)
{
	(void)pthread_mutex_lock(&endpoint->lock);
	endpoint->base.tls = tls;
	endpoint->base.port = port;
	endpoint->decided = decided;
	(void)pthread_mutex_unlock(&endpoint->lock);
}

/* https failed: is http to be tried? */
static bool go_plain(struct endpoint *endpoint, const struct url *url, bool decided,
		     const struct http_answer *answer)
{
	if (!url->tls || decided || !endpoint->may_be_plain)
		return false;
	if (answer->failure != HTTP_NOT_TLS &&
	    (answer->failure != HTTP_REFUSED || endpoint->port_given))
		return false;
	set_scheme(endpoint, false, endpoint->port_given ? url->port : 80, false);
	return true;
}

/* -- asking -----------------------------------------------------------------------------
 */

enum step { STEP_DONE = 0, STEP_AGAIN = 1 };

static int refused_elsewhere(struct endpoint *endpoint, const struct redirect_end *end,
			     struct husk_error *err)
{
	char text[URL_SHOWN];

	return error_set(err, HUSK_E_REGISTRY, endpoint->name,
			 "it redirects to %s, which answers 401; credentials are not "
			 "sent there",
			 url_show(&end->url, text));
}

/* A 401 of the registry's own. */
static int authenticate(struct exchange *exchange, const struct url *url,
			const struct http_answer *answer, const struct auth_shown *shown,
			struct husk_error *err)
{
	struct endpoint *endpoint = exchange->endpoint;
	const char *repository = endpoint->auth.settings.repository;
	bool known;
	int rc;

	/* After a few refusals each request has a token of its own. */
	if (auth_was_shared(&endpoint->auth, shown) ||
	    exchange->auth_rounds++ < OCI_MAX_AUTH_ROUNDS) {
		rc = auth_challenged(&endpoint->auth, url, answer, shown, err);
		return rc < 0 ? rc : STEP_AGAIN;
	}
	known = auth_has_credentials(&endpoint->auth);
	rc = error_set(err, HUSK_E_REGISTRY, endpoint->name, "access to %s is refused%s",
		       repository,
		       known ? ""
			     : ": it does not exist, or it may not be read without "
			       "credentials");
	error_hint(err, "%s",
		   known
		       ? "the credentials are good, but not for this repository; look "
			 "at its spelling too"
		       : "look at the spelling; log in to the registry if it is private");
	return rc;
}

/* What an answer that is there means. */
static int judge(struct exchange *exchange, const struct url *url,
		 const struct redirect_end *end, struct http_answer *answer,
		 const struct auth_shown *shown, struct husk_error *err)
{
	struct endpoint *endpoint = exchange->endpoint;
	const struct endpoint_request *request = exchange->request;

	answer->failure = HTTP_OTHER;
	if (end->upward) {
		set_scheme(endpoint, true, end->url.port, false);
		return STEP_AGAIN;
	}
	set_scheme(endpoint, url->tls, url->port, true);
	if (answer->status == 401)
		return end->same_origin ? authenticate(exchange, url, answer, shown, err)
					: refused_elsewhere(endpoint, end, err);
	if ((answer->status == 200 || answer->status == 206) && request->complete &&
	    !request->complete(request->user)) {
		answer->failure = HTTP_CUT;
		return error_set(err, HUSK_E_REGISTRY, endpoint->name,
				 "its answer ends early");
	}
	answer->failure = HTTP_NO_FAILURE;
	return STEP_DONE;
}

static int ask_once(struct exchange *exchange, struct http_answer *answer,
		    struct husk_error *err)
{
	struct endpoint *endpoint = exchange->endpoint;
	const struct endpoint_request *request = exchange->request;
	CLEANUP_SECRET char *authorization = NULL;
	CLEANUP_URL struct url url = {0};
	struct redirect_end end = {0};
	struct auth_shown shown = {0};
	bool decided;
	int rc;

	if (make_url(endpoint, request->path, &url, &decided) < 0)
		return error_oom(err, endpoint->name);
	rc = auth_header(&endpoint->auth, &url, &authorization, &shown, err);
	if (rc < 0)
		return rc;
	const struct http_request wire = {
	    .url = &url,
	    .accept = request->accept,
	    .authorization = authorization,
	    .range_from = request->from ? request->from(request->user) : 0,
	    .sink = request->sink,
	    .max_body = request->max_body,
	    .timeout_s = request->timeout_s,
	    .client_certificate = true,
	};

	rc = redirect_send(endpoint->http, &wire, endpoint->options->allow_plain_http,
			   answer, &end, err);
	if (rc == 0)
		rc = judge(exchange, &url, &end, answer, &shown, err);
	else if (go_plain(endpoint, &url, decided, answer))
		rc = STEP_AGAIN;
	url_deinit(&end.url);
	return rc;
}

static int attempt(void *user, struct http_answer *answer, struct husk_error *err)
{
	int rc = STEP_AGAIN;

	/* Each reason to ask again can come once or twice: this is only a net. */
	for (int i = 0; rc == STEP_AGAIN && i < OCI_MAX_REDIRECTS; i++) {
		answer->failure = HTTP_OTHER;
		rc = ask_once(user, answer, err);
	}
	if (rc != STEP_AGAIN)
		return rc;
	answer->failure = HTTP_OTHER;
	return error_set(err, HUSK_E_REGISTRY, ((struct exchange *)user)->endpoint->name,
			 "it changes its mind about http and https too often");
}

static uint64_t progress(void *user)
{
	const struct exchange *exchange = user;
	const struct endpoint_request *request = exchange->request;

	return request->from ? request->from(request->user) : 0;
}

int endpoint_get(struct endpoint *endpoint, const struct endpoint_request *request,
		 struct http_answer *answer, struct husk_error *err)
{
	struct exchange exchange = {.endpoint = endpoint, .request = request};
	const struct retry retry = {
	    .host = endpoint->name,
	    .attempt = attempt,
	    .progress = progress,
	    .user = &exchange,
	    .stopped = endpoint->options->stopped,
	    .stopped_user = endpoint->options->user,
	    .pause_ms = endpoint->options->pause_ms,
	};
	int rc = retry_run(&retry, answer, err);

	/* Nothing of it worked: what is left of the object need not wait for it again. */
	if (rc == HUSK_E_REGISTRY)
		atomic_store(&endpoint->dead, true);
	return rc;
}
