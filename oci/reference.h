/* SPDX-License-Identifier: Apache-2.0 */
/* Names of images in registries: Docker's grammar and normalisation
 * (distribution/reference, whose grammar the distribution spec refers to). */
#ifndef OCI_REFERENCE_H
#define OCI_REFERENCE_H

#include <stdbool.h>

#include "base/error.h"
#include "oci/digest.h"

enum {
	REFERENCE_NAME = 256,
	REFERENCE_TAG = 129,
	REFERENCE_TEXT = 256 + 256 + 129 + 140
};

struct reference {
	char registry[REFERENCE_NAME];	 /* "docker.io", "localhost:5000", "[::1]:5000" */
	char repository[REFERENCE_NAME]; /* "library/python" */
	char tag[REFERENCE_TAG]; /* "latest" where neither tag nor digest was given; ""
				  * where only a digest was */
	struct digest digest;	 /* DIGEST_NONE where none was given */
};

/* Parse and normalise. HUSK_E_INVALID with what is wrong and what to write instead (upper
 * case in the repository, an empty component, userinfo, a scheme, ...). Never prints a
 * password that was written into the name. */
int reference_parse(const char *text, struct reference *ret, struct husk_error *err);

/* The whole normalised name, "docker.io/library/python:3.12-slim[@sha256:...]". */
void reference_text(const struct reference *reference, char text[REFERENCE_TEXT]);

/* The host that is really asked ("registry-1.docker.io" for "docker.io"), with its port
 * if it has one. */
const char *reference_host(const struct reference *reference);

/* Is the host of this registry a loopback one (localhost, *.localhost, 127.0.0.0/8,
 * [::1]): the only place where plain HTTP needs no asking for. */
bool reference_is_loopback(const char *registry);

#endif
