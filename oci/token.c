/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/token.h"

#include "base/base64.h"
#include "oci/bounds.h"
#include "oci/redirect.h"
#include "oci/retry.h"
#include "oci/secret.h"

#include <errno.h>
#include <string.h>

enum { MAX_FORM = 256 * 1024 };

/* One question to the token server. */
struct asking {
	const struct token_request *request;
	const struct url *url;
	const char *authorization, *form;
};

static int attempt(void *user, struct http_answer *answer, struct husk_error *err)
{
	const struct asking *asking = user;
	const struct http_request request = {
	    .url = asking->url,
	    .accept = "application/json",
	    .authorization = asking->authorization,
	    .form = asking->form,
	    .max_body = OCI_MAX_TOKEN_BODY,
	    .timeout_s = OCI_DOCUMENT_TIMEOUT_S,
	};
	struct redirect_end end = {0};
	int rc = redirect_send(asking->request->http, &request,
			       asking->request->allow_plain_http, answer, &end, err);

	url_deinit(&end.url);
	return rc;
}

static int ask(struct asking *asking, struct http_answer *answer, struct husk_error *err)
{
	const struct retry retry = {
	    .host = asking->url->authority,
	    .attempt = attempt,
	    .user = asking,
	    .stopped = asking->request->stopped,
	    .stopped_user = asking->request->user,
	    .pause_ms = asking->request->pause_ms,
	};

	return retry_run(&retry, answer, err);
}

/* Append "name=value" for a query or a form. 0 or -errno. */
static int add(struct buffer *to, const char *name, const char *value)
{
	CLEANUP_SECRET char *escaped = NULL;
	const char *joint = to->size == 0			   ? ""
			    : strchr("?&", to->data[to->size - 1]) ? ""
								   : "&";

	if (!value)
		return 0;
	escaped = http_escape(value);
	if (!escaped)
		return -ENOMEM;
	return buffer_addf(to, "%s%s=%s", joint, name, escaped);
}

/* Scopes are separated by spaces in a challenge, and are parameters of their own in a
 * query. */
static int add_scopes(struct buffer *to, const char *scopes)
{
	char scope[1024];
	int rc = 0;

	while (rc == 0 && scopes && *scopes) {
		size_t size = strcspn(scopes, " ");

		if (size >= sizeof(scope))
			return -EFBIG;
		memcpy(scope, scopes, size);
		scope[size] = '\0';
		if (size > 0)
			rc = add(to, "scope", scope);
		scopes += size + (scopes[size] == ' ' ? 1 : 0);
	}
	return rc;
}

/* The realm with its question. 0 or -errno. */
static int query_url(const struct token_request *request, const struct url *realm,
		     struct url *ret)
{
	CLEANUP_BUFFER struct buffer target = BUFFER_INIT(2 * (size_t)URL_MAX);
	int rc = buffer_addf(&target, "%s%s", realm->target,
			     strchr(realm->target, '?') ? "&" : "?");

	if (rc == 0)
		rc = add(&target, "service", request->service);
	if (rc == 0)
		rc = add_scopes(&target, request->scope);
	if (rc < 0)
		return rc;
	*ret = *realm;
	ret->target = strdup(target.data);
	return ret->target ? 0 : -ENOMEM;
}

static int query_failed(int rc, const struct token_request *request,
			struct husk_error *err)
{
	if (rc == -ENOMEM)
		return error_oom(err, request->registry->authority);
	return error_set(err, HUSK_E_REGISTRY, request->registry->authority,
			 "what it wants to be asked of its token server is too long");
}

static int basic_header(const char *user, const char *password, struct buffer *to)
{
	CLEANUP_SECRET_BUFFER struct buffer plain = BUFFER_INIT(MAX_FORM);
	int rc = buffer_addf(&plain, "%s:%s", user, password);

	if (rc == 0)
		rc = buffer_add_text(to, "Basic ");
	return rc < 0 ? rc : base64_add(to, plain.data, plain.size);
}

static int get(const struct token_request *request, const struct url *realm,
	       struct http_answer *answer, struct husk_error *err)
{
	const struct credentials *credentials = request->credentials;
	CLEANUP_SECRET_BUFFER struct buffer header = BUFFER_INIT(2 * MAX_FORM);
	CLEANUP_URL struct url url = {0};
	struct asking asking = {.request = request, .url = &url};
	int rc = query_url(request, realm, &url);

	if (rc == 0 && credentials->user && credentials->password)
		rc = basic_header(credentials->user, credentials->password, &header);
	else if (rc == 0 && credentials->identity_token)
		rc = basic_header(credentials->user ? credentials->user : "<token>",
				  credentials->identity_token, &header);
	if (rc < 0)
		return query_failed(rc, request, err);
	asking.authorization = header.data;
	return ask(&asking, answer, err);
}

static int post(const struct token_request *request, const struct url *realm,
		struct http_answer *answer, struct husk_error *err)
{
	CLEANUP_SECRET_BUFFER struct buffer form = BUFFER_INIT(MAX_FORM);
	struct asking asking = {.request = request, .url = realm};
	int rc = add(&form, "grant_type", "refresh_token");

	if (rc == 0)
		rc = add(&form, "refresh_token", request->credentials->identity_token);
	if (rc == 0)
		rc = add(&form, "client_id", "husk");
	if (rc == 0)
		rc = add(&form, "service", request->service);
	if (rc == 0)
		rc = add(&form, "scope", request->scope);
	if (rc < 0)
		return query_failed(rc, request, err);
	asking.form = form.data;
	return ask(&asking, answer, err);
}

/* What the server says instead of a token. Its words are not repeated: they may hold what
 * was sent. */
static int refused(const struct token_request *request, const struct url *realm,
		   long status, struct husk_error *err)
{
	const bool known = credentials_any(request->credentials);
	char text[URL_SHOWN];
	int rc;

	url_show(realm, text);
	if (status != 401 && status != 403)
		return error_set(err, HUSK_E_REGISTRY, request->registry->authority,
				 "no token: %s answers %ld", text, status);
	rc = error_set(err, HUSK_E_REGISTRY, request->registry->authority,
		       known ? "the credentials are refused: %s answers %ld"
			     : "credentials are needed: %s answers %ld",
		       text, status);
	error_hint(err, "%s",
		   known ? "log in again; without credentials it is not tried"
			 : "log in to the registry, or give a credentials file");
	return rc;
}

int token_fetch(const struct token_request *request, struct token *ret,
		struct husk_error *err)
{
	CLEANUP_ANSWER struct http_answer answer;
	CLEANUP_URL struct url realm = {0};
	int rc;

	http_answer_init(&answer);
	rc = token_realm(request, &realm, err);
	if (rc < 0)
		return rc;
	if (request->credentials->identity_token) {
		rc = post(request, &realm, &answer, err);
		if (rc == 0 && (answer.status == 400 || answer.status == 404 ||
				answer.status == 405))
			rc = get(request, &realm, &answer, err);
	} else {
		rc = get(request, &realm, &answer, err);
	}
	if (rc < 0)
		return rc;
	if (answer.status != 200)
		return refused(request, &realm, answer.status, err);
	rc = token_parse(answer.body.data ? answer.body.data : "", answer.body.size,
			 realm.authority, ret, err);
	if (answer.body.data)
		explicit_bzero(answer.body.data, answer.body.size);
	return rc;
}
