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
 * means none. Nothing is read from the environment.
 *
 * The rules:
 *  - https, except for loopback registries and where allow_plain_http says so. There too
 *    https is tried first, and http only where the other side does not speak TLS at all,
 *    or, without a port in the name, where nobody listens at 443. A certificate that is
 *    not good is never a reason for http.
 *  - Redirects: oci/redirect.h. Credentials stay with the first origin.
 *  - Tokens: oci/token.h says to whom credentials are sent. Credentials that are refused
 *    are an error, not a reason to go on without them.
 *  - Trying again: oci/retry.h. Mirrors are asked first, each with its own credentials;
 * what one of them fails at, the next and at last the registry is asked for.
 *  - Only paths of the registry's API are asked for; "urls" of descriptors never.
 *  - Digests are those of the bytes as they were sent. A Content-Encoding is neither
 * asked for nor undone: what was compressed on the way has another digest and is refused.
 *    Docker-Content-Digest is not looked at. HEAD is not used.
 */
struct registry_options {
	const char *const *auth_files; /* NULL-terminated; the first that knows the
					* registry decides; missing ones are skipped */
	const char *helper_path;       /* a PATH where docker-credential-* may be found */
	const char *tls_ca;	       /* PEM file, besides the system's and certs.d */
	const char *certs_dirs;	       /* ":"-separated; NULL: /etc/docker/certs.d and
					* /etc/containers/certs.d */
	const char *const
	    *mirrors; /* "[https://]host[:port][/prefix]", NULL-terminated */
	const char *http_proxy, *https_proxy, *no_proxy; /* as curl takes them */
	bool allow_plain_http; /* also for hosts that are not loopback */
	/* Asked at least every 200 ms while waiting; not 0: HUSK_E_CANCELLED. May be
	 * NULL. */
	int (*stopped)(void *user);
	void *user;
	/* 0: those of oci/bounds.h and oci/retry.h. Tests are less patient. */
	unsigned connect_timeout_s, stall_timeout_s, pause_ms;
};

struct registry;

int registry_new(const struct reference *reference,
		 const struct registry_options *options, struct registry **ret,
		 struct husk_error *err);
struct registry *registry_free(struct registry *registry);

/* Fetch a manifest or index: by digest where that is given, else by the reference's tag.
 * Its digest is computed over the bytes and must be the one asked for. content_type gets
 * the header's value ("" where none). HUSK_E_REGISTRY, HUSK_E_IMAGE (there is none, or
 * its digest is wrong), HUSK_E_TOO_BIG, HUSK_E_CANCELLED, HUSK_E_MEMORY, HUSK_E_INVALID
 * and HUSK_E_SYSTEM (a broken or unreadable credentials file or certificate). */
int registry_manifest(struct registry *registry, const struct digest *digest,
		      struct buffer *ret, struct digest *ret_digest,
		      char content_type[128], struct husk_error *err);

/* Fetch a small blob (a config) whole; digest and size checked. */
int registry_small_blob(struct registry *registry, const struct descriptor *what,
			struct buffer *ret, struct husk_error *err);

/* Fetch a blob into one that the store began, from blob_have on, with retries, resume and
 * fresh tokens. Ends with blob_finish, or blob_fail and an error. Any thread; several at
 * once on one registry object. progress (may be NULL) gets how many bytes are there,
 * after each piece. */
int registry_blob(struct registry *registry, const struct descriptor *what,
		  struct blob *blob, void (*progress)(void *user, uint64_t bytes),
		  void *user, struct husk_error *err);

#endif
