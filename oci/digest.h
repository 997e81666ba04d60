/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of content: their text form and their computation (OCI image-spec,
 * descriptor.md, "Digests"). Algorithms: sha256, sha512. */
#ifndef OCI_DIGEST_H
#define OCI_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum digest_algorithm { DIGEST_NONE = 0, DIGEST_SHA256, DIGEST_SHA512 };
enum { DIGEST_HEX = 129, DIGEST_TEXT = 7 + 129 };

struct digest {
	enum digest_algorithm algorithm; /* DIGEST_NONE: there is none */
	char hex[DIGEST_HEX];		 /* lower-case, NUL-terminated */
};

/* "sha256:<64 lower-case hex>" or "sha512:<128>" and nothing else. 0, -EINVAL, or
 * -ENOTSUP for a well-formed digest of another algorithm. */
int digest_parse(const char *text, struct digest *ret);
/* The text form, NUL-terminated. */
void digest_text(const struct digest *digest, char text[DIGEST_TEXT]);
const char *digest_algorithm_name(enum digest_algorithm algorithm); /* "sha256" */
bool digest_equal(const struct digest *a, const struct digest *b);

/* A computation under way. libcrypto does it where it is installed (loaded then); else
 * base/sha256 does sha256, and sha512 is an error with its remedy. */
struct digest_run;
int digest_run_new(enum digest_algorithm algorithm, struct digest_run **ret,
		   struct husk_error *err);
void digest_run_add(struct digest_run *run, const void *data, size_t size);
/* The result; the run may only be freed afterwards. */
void digest_run_finish(struct digest_run *run, struct digest *ret);
struct digest_run *digest_run_free(struct digest_run *run);

/* All of it at once. */
int digest_of(enum digest_algorithm algorithm, const void *data, size_t size,
	      struct digest *ret, struct husk_error *err);

#endif
