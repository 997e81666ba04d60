/* SPDX-License-Identifier: Apache-2.0 */
/* A registry's client (OCI distribution-spec; token authentication as the distribution
 * project documents it), over libcurl, which is loaded at the first use. One object
 * serves one repository of one registry with one identity; nothing is shared between
 * objects. */
#ifndef OCI_REGISTRY_H
#define OCI_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "oci/blob.h"
#include "oci/digest.h"
#include "oci/manifest.h"
#include "oci/reference.h"

/* How registries are reached. All strings are borrowed for the life of the client; NULL
 * means none. Nothing is read from the environment. */
struct registry_options {
	const char *const *auth_files; /* NULL-terminated; the first that knows the
					* registry decides; missing ones are skipped */
	const char *helper_path;       /* a PATH where docker-credential-* may be found */
	const char *tls_ca;	       /* PEM file, besides the system's and certs.d */
	const char *certs_dirs;	       /* ":"-separated; NULL: /etc/docker/certs.d and
					* /etc/containers/certs.d */
	const char *const *mirrors;    /* hosts to ask first, NULL-terminated */
	const char *http_proxy, *https_proxy, *no_proxy; /* as curl takes them */
	bool allow_plain_http; /* also for hosts that are not loopback */
	/* Asked at least every 200 ms while waiting; not 0: HUSK_E_CANCELLED. May be
	 * NULL. */
	int (*stopped)(void *user);
	void *user;
};

struct registry;

int registry_new(const struct reference *reference,
		 const struct registry_options *options, struct registry **ret,
		 struct husk_error *err);
struct registry *registry_free(struct registry *registry);

/* Fetch a manifest or index: by digest where that is given, else by the reference's tag.
 * Its digest is computed over the bytes and must be the one asked for. content_type gets
 * the header's value ("" where none). HUSK_E_REGISTRY, HUSK_E_IMAGE (digest),
 * HUSK_E_TOO_BIG, HUSK_E_CANCELLED, HUSK_E_MEMORY. */
int registry_manifest(struct registry *registry, const struct digest *digest,
		      struct buffer *ret, struct digest *ret_digest,
		      char content_type[128], struct husk_error *err);

/* Fetch a small blob (a config) whole; digest and size checked. */
int registry_small_blob(struct registry *registry, const struct descriptor *what,
			struct buffer *ret, struct husk_error *err);

/* Fetch a blob into one that the store began, from blob_have on, with retries, resume and
 * fresh tokens. Ends with blob_finish, or blob_fail and an error. Any thread; several at
 * once on one registry object. */
int registry_blob(struct registry *registry, const struct descriptor *what,
		  struct blob *blob, void (*progress)(void *user, uint64_t bytes),
		  void *user, struct husk_error *err);

#endif
