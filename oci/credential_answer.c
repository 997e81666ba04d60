/* SPDX-License-Identifier: Apache-2.0 */
/* What a credential helper says. */
#include "oci/credential_program.h"

#include "base/json_read.h"
#include "oci/secret.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

/* In the words of docker-credential-helpers, on standard output. */
static const char none[] = "credentials not found";

static int take(const char *name, json_t *root, struct credentials *ret,
		struct husk_error *err)
{
	const char *user = json_string_value(json_object_get(root, "Username"));
	const char *secret = json_string_value(json_object_get(root, "Secret"));
	struct credentials found = {0};

	if (!user || !secret)
		return error_set(err, HUSK_E_REGISTRY, name,
				 "the credential helper's answer has no Username and "
				 "Secret");
	if (strcmp(user, "<token>") == 0) {
		found.identity_token = strdup(secret);
	} else {
		found.user = strdup(user);
		found.password = strdup(secret);
	}
	if (!found.identity_token && (!found.user || !found.password)) {
		credentials_deinit(&found);
		return error_oom(err, name);
	}
	*ret = found;
	return 0;
}

int helper_parse(const char *name, const char *output, size_t size, int status,
		 struct credentials *ret, struct husk_error *err)
{
	json_t *root = NULL;
	int rc;

	/* It fails then, too; that it knows none is an answer. */
	if (status != 0 && memmem(output, size, none, sizeof(none) - 1))
		return 0;
	rc = json_read(output, size, JSON_REJECT_DUPLICATES, &root, NULL);
	if (rc == -ENOMEM)
		return error_oom(err, name);
	if (status > 0 || (status < 0 && !json_is_object(root))) {
		json_decref(root);
		/* What it printed may hold anything, secrets among it. */
		rc =
		    error_set(err, HUSK_E_REGISTRY, name, "the credential helper failed");
		error_hint(err,
			   "run %s get and give it the registry's name; no other "
			   "credentials are used instead",
			   name);
		return rc;
	}
	if (!json_is_object(root))
		rc = error_set(err, HUSK_E_REGISTRY, name,
			       "the credential helper's answer is no JSON object");
	else
		rc = take(name, root, ret, err);
	json_decref(root);
	return rc;
}
