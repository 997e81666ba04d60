/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are not what was asked for, in words. */
#ifndef OCI_REFUSAL_H
#define OCI_REFUSAL_H

#include <stdbool.h>

#include "base/error.h"
#include "oci/http.h"

struct refusal {
	const char *registry, *repository;
	const char *what; /* "tag 1.0", "manifest sha256:...", "layer sha256:..." */
	bool blob;	  /* it is part of an image whose manifest is there */
	bool known;	  /* credentials were used */
};

/* status is not 200. HUSK_E_IMAGE where there is no such thing, else HUSK_E_REGISTRY. */
int refusal_status(const struct refusal *refusal, const struct http_answer *answer,
		   struct husk_error *err);
/* A document was wanted and something else came: empty, HTML, compressed. 0 where it
 * looks like JSON, else HUSK_E_REGISTRY. */
int refusal_document(const struct refusal *refusal, const struct http_answer *answer,
		     struct husk_error *err);

#endif
