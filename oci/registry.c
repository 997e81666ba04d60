/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/registry.h"

#include "oci/bounds.h"
#include "oci/endpoint.h"
#include "oci/refusal.h"
#include "oci/registry_blob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct registry {
	struct reference reference;
	struct registry_options options;
	size_t count;
	struct endpoint endpoints[]; /* mirrors in their order, then the registry */
};

static size_t count_mirrors(const struct registry_options *options)
{
	size_t n = 0;

	while (options->mirrors && options->mirrors[n])
		n++;
	return n;
}

int registry_new(const struct reference *reference,
		 const struct registry_options *options, struct registry **ret,
		 struct husk_error *err)
{
	const size_t mirrors = count_mirrors(options);
	struct registry *registry =
	    calloc(1, sizeof(*registry) + (mirrors + 1) * sizeof(struct endpoint));
	int rc = 0;

	if (!registry)
		return error_oom(err, "registry");
	registry->reference = *reference;
	registry->options = *options;
	for (size_t i = 0; i <= mirrors && rc == 0; i++) {
		rc = i < mirrors
			 ? endpoint_init(&registry->endpoints[i], options->mirrors[i],
					 NULL, registry->reference.repository,
					 &registry->options, err)
			 : endpoint_init(&registry->endpoints[i],
					 reference_host(&registry->reference),
					 registry->reference.registry,
					 registry->reference.repository,
					 &registry->options, err);
		if (rc == 0)
			registry->count++;
	}
	if (rc < 0) {
		registry_free(registry);
		return rc;
	}
	*ret = registry;
	return 0;
}

struct registry *registry_free(struct registry *registry)
{
	if (!registry)
		return NULL;
	for (size_t i = 0; i < registry->count; i++)
		endpoint_deinit(&registry->endpoints[i]);
	free(registry);
	return NULL;
}

/* Is there another place to ask after a failure at this one? */
static bool go_on(const struct registry *registry, size_t at, int rc)
{
	return at + 1 < registry->count && rc != HUSK_E_CANCELLED && rc != HUSK_E_MEMORY;
}

static bool skipped(struct registry *registry, size_t at)
{
	return at + 1 < registry->count && atomic_load(&registry->endpoints[at].dead);
}

/* One thing to fetch whole from one place. */
struct fetching {
	const char *kind;	     /* "manifests" or "blobs" */
	const char *name;	     /* a tag or a digest */
	const struct digest *digest; /* what it must have; NULL: whatever it has */
	const char *accept;
	size_t max;
	bool document; /* JSON, of a registry that may be none */
};

static int check_digest(const struct fetching *fetching, struct endpoint *endpoint,
			const struct buffer *body, struct digest *ret,
			struct husk_error *err)
{
	const enum digest_algorithm algorithm =
	    fetching->digest ? fetching->digest->algorithm : DIGEST_SHA256;
	struct digest digest;
	char text[DIGEST_TEXT];
	int rc =
	    digest_of(algorithm, body->data ? body->data : "", body->size, &digest, err);

	if (rc < 0)
		return rc;
	if (fetching->digest && !digest_equal(fetching->digest, &digest)) {
		digest_text(&digest, text);
		rc = error_set(err, HUSK_E_IMAGE, endpoint->name,
			       "it sends something else than %s: what came is %s",
			       fetching->name, text);
		error_hint(err, "somebody changed it on the way, or the registry is "
				"damaged");
		return rc;
	}
	*ret = digest;
	return 0;
}

static int fetch_from(struct registry *registry, struct endpoint *endpoint,
		      const struct fetching *fetching, struct http_answer *answer,
		      struct digest *ret, struct husk_error *err)
{
	const char *repository = registry->reference.repository;
	char path[REFERENCE_NAME + DIGEST_TEXT + 32], what[DIGEST_TEXT + 16];
	const struct endpoint_request request = {
	    .path = path,
	    .accept = fetching->accept,
	    .max_body = fetching->max,
	    .timeout_s = OCI_DOCUMENT_TIMEOUT_S,
	};
	struct refusal refusal = {endpoint->name, repository, what, !fetching->document,
				  false};
	int rc;

	(void)snprintf(path, sizeof(path), "/v2/%s/%s/%s", repository, fetching->kind,
		       fetching->name);
	(void)snprintf(what, sizeof(what), "%s %s",
		       fetching->document ? (fetching->digest ? "manifest" : "tag")
					  : "blob",
		       fetching->name);
	rc = endpoint_get(endpoint, &request, answer, err);
	if (rc < 0)
		return rc;
	refusal.known = auth_has_credentials(&endpoint->auth);
	if (answer->status != 200 && answer->status != 204)
		return refusal_status(&refusal, answer, err);
	if (fetching->document) {
		rc = refusal_document(&refusal, answer, err);
		if (rc < 0)
			return rc;
	}
	return check_digest(fetching, endpoint, &answer->body, ret, err);
}

static int fetch_whole(struct registry *registry, const struct fetching *fetching,
		       struct http_answer *answer, struct digest *ret,
		       struct husk_error *err)
{
	int rc = HUSK_E_REGISTRY;

	for (size_t i = 0; i < registry->count; i++) {
		if (skipped(registry, i))
			continue;
		rc = fetch_from(registry, &registry->endpoints[i], fetching, answer, ret,
				err);
		if (rc == 0 || !go_on(registry, i, rc))
			break;
	}
	return rc;
}

/* The body becomes the caller's. */
static void hand_over(struct http_answer *answer, struct buffer *ret)
{
	buffer_deinit(ret);
	*ret = answer->body;
	answer->body = BUFFER_INIT(0);
}

int registry_manifest(struct registry *registry, const struct digest *digest,
		      struct buffer *ret, struct digest *ret_digest,
		      char content_type[128], struct husk_error *err)
{
	CLEANUP_ANSWER struct http_answer answer;
	char name[DIGEST_TEXT + REFERENCE_TAG];
	struct fetching fetching = {
	    .kind = "manifests",
	    .name = name,
	    .digest = digest,
	    .accept = media_accept(),
	    .max = OCI_MAX_DOCUMENT,
	    .document = true,
	};
	int rc;

	if (!digest && registry->reference.digest.algorithm != DIGEST_NONE)
		fetching.digest = &registry->reference.digest;
	if (fetching.digest)
		digest_text(fetching.digest, name);
	else
		(void)snprintf(name, sizeof(name), "%s", registry->reference.tag);
	http_answer_init(&answer);
	rc = fetch_whole(registry, &fetching, &answer, ret_digest, err);
	if (rc < 0)
		return rc;
	(void)snprintf(content_type, 128, "%s", answer.content_type);
	hand_over(&answer, ret);
	return 0;
}

int registry_small_blob(struct registry *registry, const struct descriptor *what,
			struct buffer *ret, struct husk_error *err)
{
	CLEANUP_ANSWER struct http_answer answer;
	char name[DIGEST_TEXT];
	const struct fetching fetching = {
	    .kind = "blobs",
	    .name = name,
	    .digest = &what->digest,
	    .max = OCI_MAX_DOCUMENT,
	};
	struct digest digest;
	int rc;

	digest_text(&what->digest, name);
	if (what->size > OCI_MAX_DOCUMENT)
		return error_set(err, HUSK_E_TOO_BIG, name,
				 "a document of more than %d MiB",
				 (int)(OCI_MAX_DOCUMENT / OCI_MIB));
	http_answer_init(&answer);
	rc = fetch_whole(registry, &fetching, &answer, &digest, err);
	if (rc < 0)
		return rc;
	if (answer.body.size != what->size)
		return error_set(err, HUSK_E_IMAGE, name,
				 "has %zu bytes, and the manifest says %llu",
				 answer.body.size, (unsigned long long)what->size);
	hand_over(&answer, ret);
	return 0;
}

/* Wrong bytes were read by the one who unpacks them: there is no second place to get them
 * from, only one not to ask again. */
static int finish(const struct registry *registry, size_t from, struct blob *blob,
		  struct husk_error *err)
{
	int rc = blob_finish(blob, err);

	if (rc == HUSK_E_IMAGE && from + 1 < registry->count)
		error_hint(err, "these bytes came from the mirror %s: leave it out",
			   registry->endpoints[from].name);
	return rc;
}

int registry_blob(struct registry *registry, const struct descriptor *what,
		  struct blob *blob, void (*progress)(void *user, uint64_t bytes),
		  void *user, struct husk_error *err)
{
	struct blob_transfer transfer = {
	    .repository = registry->reference.repository,
	    .what = what,
	    .blob = blob,
	    .progress = progress,
	    .user = user,
	};
	struct husk_error why = {0};
	int rc = HUSK_E_REGISTRY;
	size_t from = 0;

	for (size_t i = 0; i < registry->count; i++) {
		if (skipped(registry, i))
			continue;
		from = i;
		rc = blob_transfer_run(&transfer, &registry->endpoints[i], &why);
		if (rc == 0 || transfer.failed || !go_on(registry, i, rc))
			break;
	}
	if (rc == 0)
		return finish(registry, from, blob, err);
	blob_fail(blob, &why);
	if (err)
		*err = why;
	return rc;
}
