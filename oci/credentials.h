/* SPDX-License-Identifier: Apache-2.0 */
/* Who we are at a registry: Docker's config.json, and auth.json as containers-auth.json
 * describes it (auths, credHelpers, credsStore, identitytoken, registrytoken).
 *
 * The first file that knows the registry decides. In it credHelpers come before
 * credsStore, and both before auths. A helper that fails is an error for its registry: no
 * other credentials are tried instead, and no other registry is touched by it. "Not
 * found" from a helper means anonymous.
 *
 * Keys: "host[:port]" and "host[:port]/name[/name...]", of which the longest that the
 * repository begins with counts; a scheme before and "/v1/" or "/v2/" after the host are
 * ignored. Host and port must be those of the reference: "reg.example" is not
 * "reg.example:443", and neither is "sub.reg.example". docker.io, index.docker.io and
 * registry-1.docker.io are one. */
#ifndef OCI_CREDENTIALS_H
#define OCI_CREDENTIALS_H

#include <stdbool.h>

#include "base/error.h"

/* All NULL: anonymous. */
struct credentials {
	char *user, *password;
	char *identity_token; /* to be traded for tokens by POST */
	char *registry_token; /* to be sent as it is */
};

void credentials_deinit(struct credentials *credentials);
bool credentials_any(const struct credentials *credentials);

struct credential_places {
	const char *const *files; /* NULL-terminated; missing ones are skipped */
	const char *helper_path;  /* NULL: no helper is run */
	int (*stopped)(void *user);
	void *user;
};

/* registry and repository as in a reference. 0, also where there are none. HUSK_E_INVALID
 * (a broken file), HUSK_E_SYSTEM (one that cannot be read), HUSK_E_REGISTRY (a helper
 * failed), HUSK_E_CANCELLED, HUSK_E_MEMORY. */
int credentials_find(const struct credential_places *places, const char *registry,
		     const char *repository, struct credentials *ret,
		     struct husk_error *err);

/* How well a key fits: 0 not at all, else the more the better. */
int credentials_key_fits(const char *key, const char *registry, const char *repository);

#endif
