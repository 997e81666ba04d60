/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a document that came with some type, and as a manifest. No
 * document is both a manifest and an index, whatever it came as. The first byte says
 * which type. */
#include "tests/fuzz/fuzz.h"

#include "oci/bounds.h"
#include "oci/manifest.h"

static const char *const types[] = {
    NULL,
    "",
    "application/json",
    "text/html",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json; charset=utf-8",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.docker.distribution.manifest.v1+prettyjws",
};

static void check_good(const struct manifest *manifest)
{
	require(manifest->config.media.kind == MEDIA_CONFIG);
	require(manifest->config.size <= OCI_MAX_DOCUMENT);
	require(manifest->layer_count <= OCI_MAX_LAYERS);
	for (size_t i = 0; i < manifest->layer_count; i++) {
		const struct descriptor *layer = &manifest->layers[i];
		char text[DIGEST_TEXT];
		struct digest digest;

		require(layer->media.kind == MEDIA_LAYER);
		require(layer->size <= OCI_MAX_BLOB);
		digest_text(&layer->digest, text);
		require(digest_parse(text, &digest) == 0);
		require(digest_equal(&digest, &layer->digest));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + (size > 0);
	const char *type =
	    types[size > 0 ? data[0] % (sizeof(types) / sizeof(*types)) : 0];
	struct manifest manifest = {0};
	struct index index = {0};
	struct husk_error err = {0};
	enum media_kind kind = MEDIA_OTHER;
	int rc, as_index;

	size -= size > 0;
	rc = document_kind(text, size, type, "input", &kind, &err);
	if (rc < 0)
		require_refusal(rc, &err);
	else
		require(kind == MEDIA_MANIFEST || kind == MEDIA_INDEX);
	rc = manifest_parse(text, size, "input", &manifest, &err);
	as_index = index_parse(text, size, "input", &index, NULL);
	require(rc < 0 || as_index < 0);
	if (rc < 0)
		require_refusal(rc, &err);
	else
		check_good(&manifest);
	manifest_deinit(&manifest);
	index_deinit(&index);
	return 0;
}
