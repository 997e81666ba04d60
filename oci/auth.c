/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/auth.h"

#include "base/base64.h"
#include "base/clock.h"
#include "oci/bounds.h"
#include "oci/challenge.h"
#include "oci/secret.h"

#include <stdio.h>
#include <string.h>

enum {
	MAX_SECRET = 512 * 1024,
	MANY_EARLY = 2,
};

void auth_init(struct auth *auth, const struct auth_settings *settings)
{
	*auth = (struct auth){.settings = *settings};
	(void)pthread_mutex_init(&auth->lock, NULL);
}

void auth_deinit(struct auth *auth)
{
	credentials_deinit(&auth->credentials);
	auth->header = secret_free(auth->header);
	free(auth->realm);
	free(auth->service);
	free(auth->scope);
	(void)pthread_mutex_destroy(&auth->lock);
}

static int look_up(struct auth *auth, struct husk_error *err)
{
	const struct auth_settings *settings = &auth->settings;
	int rc;

	if (auth->looked)
		return 0;
	rc = credentials_find(&settings->places, settings->registry, settings->repository,
			      &auth->credentials, err);
	auth->looked = rc == 0;
	return rc;
}

static int set_header(struct auth *auth, const char *scheme, const char *value,
		      struct husk_error *err)
{
	char *header;

	if (asprintf(&header, "%s %s", scheme, value) < 0)
		return error_oom(err, auth->settings.registry);
	secret_free(auth->header);
	auth->header = header;
	auth->generation++;
	auth->shown = 0;
	auth->until_ms = 0;
	return 0;
}

/* A new token by what the last challenge said. */
static int renew(struct auth *auth, const struct url *origin, struct husk_error *err)
{
	const struct auth_settings *settings = &auth->settings;
	const struct token_request request = {
	    .http = settings->http,
	    .registry = origin,
	    .realm = auth->realm,
	    .service = auth->service,
	    .scope = auth->scope,
	    .credentials = &auth->credentials,
	    .allow_plain_http = settings->allow_plain_http,
	    .stopped = settings->places.stopped,
	    .user = settings->places.user,
	    .pause_ms = settings->pause_ms,
	};
	struct token token = {0};
	int rc = token_fetch(&request, &token, err);

	if (rc < 0)
		return rc;
	rc = set_header(auth, "Bearer", token.value, err);
	auth->until_ms = clock_ms() + token.life_s * 1000;
	token_deinit(&token);
	return rc;
}

/* Is a token good for one request only? Shared, they would be taken away from one another
 * by the threads of a pull. */
static bool one_each(const struct auth *auth)
{
	return auth->realm && auth->early >= MANY_EARLY;
}

static int header_locked(struct auth *auth, const struct url *origin, char **ret,
			 struct auth_shown *ret_shown, struct husk_error *err)
{
	char *copy = NULL;
	int rc;

	if (one_each(auth) ||
	    (auth->header && auth->until_ms != 0 && clock_ms() >= auth->until_ms)) {
		rc = renew(auth, origin, err);
		if (rc < 0)
			return rc;
	}
	if (auth->header) {
		copy = strdup(auth->header);
		if (!copy)
			return error_oom(err, auth->settings.registry);
		auth->shown++;
	}
	*ret = copy;
	*ret_shown = (struct auth_shown){auth->generation, one_each(auth)};
	return 0;
}

int auth_header(struct auth *auth, const struct url *origin, char **ret,
		struct auth_shown *ret_shown, struct husk_error *err)
{
	int rc;

	(void)pthread_mutex_lock(&auth->lock);
	rc = header_locked(auth, origin, ret, ret_shown, err);
	(void)pthread_mutex_unlock(&auth->lock);
	return rc;
}

bool auth_was_shared(struct auth *auth, const struct auth_shown *shown)
{
	bool shared;

	(void)pthread_mutex_lock(&auth->lock);
	shared = shown->generation > 0 && !shown->own &&
		 (shown->generation != auth->generation || auth->shown > 1);
	(void)pthread_mutex_unlock(&auth->lock);
	return shared;
}

static int read_challenges(const struct http_answer *answer, struct challenges *ret)
{
	const struct buffer *values = &answer->challenges;
	size_t at = 0;
	int rc = 0;

	while (at < values->size && rc == 0) {
		rc = challenges_add(ret, values->data + at);
		at += strlen(values->data + at) + 1;
	}
	return rc;
}

static void take(char **from, char **to)
{
	free(*to);
	*to = *from;
	*from = NULL;
}

static int go_bearer(struct auth *auth, const struct url *origin,
		     struct challenges *challenges, struct husk_error *err)
{
	const char *token = auth->credentials.registry_token;

	if (token) {
		if (auth->header)
			return error_set(err, HUSK_E_REGISTRY, auth->settings.registry,
					 "the registry token is refused");
		if (!token_fit(token))
			return error_set(err, HUSK_E_INVALID, auth->settings.registry,
					 "the registry token cannot be sent");
		return set_header(auth, "Bearer", token, err);
	}
	take(&challenges->realm, &auth->realm);
	take(&challenges->service, &auth->service);
	take(&challenges->scope, &auth->scope);
	if (!auth->scope &&
	    asprintf(&auth->scope, "repository:%s:pull", auth->settings.repository) < 0) {
		auth->scope = NULL;
		return error_oom(err, auth->settings.registry);
	}
	if (auth->until_ms > clock_ms())
		auth->early++;
	return one_each(auth) ? 0 : renew(auth, origin, err);
}

static int go_basic(struct auth *auth, struct husk_error *err)
{
	const struct credentials *credentials = &auth->credentials;
	CLEANUP_SECRET_BUFFER struct buffer plain = BUFFER_INIT(MAX_SECRET);
	CLEANUP_SECRET_BUFFER struct buffer encoded = BUFFER_INIT(2 * MAX_SECRET);
	int rc;

	if (!credentials->user) {
		rc = error_set(err, HUSK_E_REGISTRY, auth->settings.registry,
			       "it needs a user and a password, and none are known");
		error_hint(err, "log in to the registry, or give a credentials file");
		return rc;
	}
	if (auth->header) {
		rc = error_set(err, HUSK_E_REGISTRY, auth->settings.registry,
			       "the credentials are refused");
		error_hint(err, "log in again; without credentials it is not tried");
		return rc;
	}
	if (buffer_addf(&plain, "%s:%s", credentials->user, credentials->password) < 0 ||
	    base64_add(&encoded, plain.data, plain.size) < 0)
		return error_oom(err, auth->settings.registry);
	return set_header(auth, "Basic", encoded.data, err);
}

static int challenged_locked(struct auth *auth, const struct url *origin,
			     const struct http_answer *answer, struct husk_error *err)
{
	CLEANUP_CHALLENGES struct challenges challenges = {0};
	int rc = look_up(auth, err);

	if (rc < 0)
		return rc;
	if (read_challenges(answer, &challenges) < 0)
		return error_oom(err, auth->settings.registry);
	if (challenges.bearer)
		return go_bearer(auth, origin, &challenges, err);
	if (challenges.basic)
		return go_basic(auth, err);
	return error_set(err, HUSK_E_REGISTRY, auth->settings.registry,
			 "it answers 401 and asks for nothing that husk could show "
			 "(Basic or Bearer)");
}

int auth_challenged(struct auth *auth, const struct url *origin,
		    const struct http_answer *answer, const struct auth_shown *shown,
		    struct husk_error *err)
{
	int rc = 0;

	(void)pthread_mutex_lock(&auth->lock);
	/* Another thread may have got a new one meanwhile. */
	if (shown->generation == auth->generation)
		rc = challenged_locked(auth, origin, answer, err);
	(void)pthread_mutex_unlock(&auth->lock);
	return rc;
}

bool auth_has_credentials(struct auth *auth)
{
	bool any;

	(void)pthread_mutex_lock(&auth->lock);
	any = credentials_any(&auth->credentials);
	(void)pthread_mutex_unlock(&auth->lock);
	return any;
}
