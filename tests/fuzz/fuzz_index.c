/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as an index, and every platform's choice from it. */
#include "tests/fuzz/fuzz.h"

#include "oci/bounds.h"
#include "oci/manifest.h"

static void choose(const struct index *index, const char *wanted_text)
{
	const struct descriptor *chosen = NULL;
	struct husk_error err = {0};
	struct platform wanted;
	int rc;

	require(platform_parse(wanted_text, &wanted, NULL) == 0);
	rc = index_choose(index, &wanted, "input", &chosen, &err);
	if (rc < 0) {
		require_refusal(rc, &err);
		return;
	}
	require(chosen >= index->manifests && chosen < index->manifests + index->count);
	require(!chosen->attestation);
	if (*chosen->platform.os)
		require(platform_match(&wanted, &chosen->platform) > 0);
	require(chosen->size <= OCI_MAX_BLOB);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct index index = {0};
	struct husk_error err = {0};
	int rc = index_parse((const char *)data, size, "input", &index, &err);

	if (rc < 0) {
		require_refusal(rc, &err);
		return 0;
	}
	require(index.count <= OCI_MAX_MANIFESTS);
	choose(&index, "linux/amd64");
	choose(&index, "linux/amd64/v3");
	choose(&index, "linux/arm64/v9");
	choose(&index, "linux/arm/v6");
	choose(&index, "windows/amd64");
	index_deinit(&index);
	return 0;
}
