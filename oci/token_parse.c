/* SPDX-License-Identifier: Apache-2.0 */
/* What a token server may say, and where one may be. */
#include "oci/token.h"

#include "base/json_read.h"
#include "base/printable.h"
#include "oci/bounds.h"
#include "oci/secret.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

/* What Docker takes for a missing or useless expires_in. */
enum { LIFE_S = 60 };

void token_deinit(struct token *token)
{
	token->value = secret_free(token->value);
}

bool token_fit(const char *value)
{
	size_t size = 0;

	for (; value[size]; size++) {
		if (value[size] <= ' ' || value[size] > '~' || size >= OCI_MAX_TOKEN)
			return false;
	}
	return size > 0;
}

static int64_t life_of(const json_t *root)
{
	const json_t *member = json_object_get(root, "expires_in");
	double seconds = json_number_value(member);

	if (!(seconds >= 1))
		return LIFE_S;
	return seconds > OCI_MAX_TOKEN_LIFE_S ? OCI_MAX_TOKEN_LIFE_S : (int64_t)seconds;
}

static int take(const json_t *root, const char *host, struct token *ret,
		struct husk_error *err)
{
	const char *value = json_string_value(json_object_get(root, "token"));
	char *copy;

	if (!value || value[0] == '\0')
		value = json_string_value(json_object_get(root, "access_token"));
	if (!value)
		return error_set(err, HUSK_E_REGISTRY, host,
				 "the token server's answer holds no token");
	if (!token_fit(value))
		return error_set(
		    err, HUSK_E_REGISTRY, host,
		    "the token server's token is too long, or has characters "
		    "that cannot be sent");
	copy = strdup(value);
	if (!copy)
		return error_oom(err, host);
	*ret = (struct token){.value = copy, .life_s = life_of(root)};
	return 0;
}

int token_parse(const char *data, size_t size, const char *host, struct token *ret,
		struct husk_error *err)
{
	json_t *root = NULL;
	int rc = json_read(data, size, JSON_REJECT_DUPLICATES, &root, NULL);

	if (rc == -ENOMEM)
		return error_oom(err, host);
	if (json_is_object(root))
		rc = take(root, host, ret, err);
	else
		rc = error_set(err, HUSK_E_REGISTRY, host,
			       "the token server's answer is no JSON object");
	json_decref(root);
	return rc;
}

static int refuse(const struct token_request *request, const struct url *realm,
		  const char *why, struct husk_error *err)
{
	char text[URL_SHOWN];

	return error_set(err, HUSK_E_REGISTRY, request->registry->authority,
			 "it wants tokens from %s, %s", url_show(realm, text), why);
}

static int check(const struct token_request *request, const struct url *realm,
		 struct husk_error *err)
{
	const struct url *registry = request->registry;

	if (realm->tls)
		return 0;
	if (registry->tls)
		return refuse(request, realm, "over plain HTTP though it is https itself",
			      err);
	if (url_is_loopback(registry) && url_is_loopback(realm))
		return 0;
	if (!request->allow_plain_http)
		return refuse(request, realm, "and plain HTTP is not allowed", err);
	if (strcmp(registry->host, realm->host) != 0 &&
	    credentials_any(request->credentials))
		return refuse(request, realm,
			      "and credentials are not sent to another host without TLS",
			      err);
	return 0;
}

int token_realm(const struct token_request *request, struct url *ret,
		struct husk_error *err)
{
	char shown[80];
	CLEANUP_URL struct url realm = {0};
	int rc = url_parse(request->realm, &realm);

	if (rc == -ENOMEM)
		return error_oom(err, request->registry->authority);
	if (rc == -EPERM)
		return error_set(err, HUSK_E_REGISTRY, request->registry->authority,
				 "its token server's address has a user in it");
	if (rc < 0)
		return error_set(err, HUSK_E_REGISTRY, request->registry->authority,
				 "its token server's address is none: \"%.*s\"",
				 (int)strcspn(request->realm, "?@"),
				 printable(shown, sizeof(shown), request->realm));
	rc = check(request, &realm, err);
	if (rc < 0)
		return rc;
	*ret = realm;
	realm.target = NULL;
	return 0;
}
