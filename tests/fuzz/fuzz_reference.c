/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any text as the name of an image. What is accepted has a normal form that
 * is accepted too, and means the same. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "oci/reference.h"

static void check_good(const struct reference *reference)
{
	char text[REFERENCE_TEXT], again_text[REFERENCE_TEXT];
	struct reference again;

	reference_text(reference, text);
	require_printable(text);
	require(reference_parse(text, &again, NULL) == 0);
	reference_text(&again, again_text);
	require(strcmp(text, again_text) == 0);
	require(strcmp(reference->registry, again.registry) == 0);
	require(digest_equal(&reference->digest, &again.digest));
	require(*reference->registry && *reference->repository);
	require(*reference->tag || reference->digest.algorithm != DIGEST_NONE);
	require(!strstr(reference->repository, ".."));
	require(*reference_host(reference) != '\0');
	(void)reference_is_loopback(reference->registry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reference reference;
	struct husk_error err = {0};
	char *text = malloc(size + 1);
	int rc;

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	rc = reference_parse(text, &reference, &err);
	if (rc == 0)
		check_good(&reference);
	else
		require_refusal(rc, &err);
	(void)reference_is_loopback(text);
	free(text);
	return 0;
}
