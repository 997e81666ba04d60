/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/manifest.h"

#include "base/printable.h"
#include "oci/bounds.h"
#include "oci/descriptor.h"
#include "oci/document_kind.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Registries and old builders have served images' configs under types that say nothing,
 * and as text/html; Docker takes those, and so does this. */
static bool may_be_config(const struct descriptor *config)
{
	return config->media.kind == MEDIA_CONFIG ||
	       media_is_generic(config->media_type) ||
	       strcasecmp(config->media_type, "text/html") == 0;
}

static int read_config(const struct document *document, const json_t *top,
		       struct descriptor *ret)
{
	json_t *config = document_get(top, "config");
	char shown[sizeof(ret->media_type)];
	int rc;

	if (!config)
		return document_fail(document, "", "has no config");
	rc = descriptor_read(document, "config", config, ret);
	if (rc < 0)
		return rc;
	if (!may_be_config(ret))
		return document_fail(document, "",
				     "is an artifact, not an image: its config has the "
				     "type \"%s\"",
				     printable(shown, sizeof(shown), ret->media_type));
	if (ret->size > OCI_MAX_DOCUMENT)
		return document_fail(document, "config",
				     "has a size of %llu bytes, and at most %llu are "
				     "taken",
				     (unsigned long long)ret->size,
				     (unsigned long long)OCI_MAX_DOCUMENT);
	ret->media.kind = MEDIA_CONFIG;
	ret->media.compression = COMPRESSION_NONE;
	return 0;
}

static int check_layer(const struct document *document, size_t i,
		       struct descriptor *layer)
{
	char shown[sizeof(layer->media_type)];

	if (layer->media.kind == MEDIA_OTHER && media_is_generic(layer->media_type))
		layer->media.kind = MEDIA_LAYER;
	if (layer->media.kind == MEDIA_LAYER)
		return 0;
	return document_fail(document, "",
			     "layers[%zu] has the type \"%s\", which is no layer that "
			     "husk can unpack",
			     i, printable(shown, sizeof(shown), layer->media_type));
}

static int read_layers(const struct document *document, const json_t *top,
		       struct manifest *ret)
{
	json_t *layers = NULL;
	int rc = document_array(document, "", top, "layers", &layers);

	if (rc < 0)
		return rc;
	if (!json_object_get(top, "layers"))
		return document_fail(document, "", "has no layers");
	rc = descriptor_read_all(document, "layers", layers, OCI_MAX_LAYERS, &ret->layers,
				 &ret->layer_count);
	for (size_t i = 0; rc == 0 && i < ret->layer_count; i++)
		rc = check_layer(document, i, &ret->layers[i]);
	return rc;
}

int manifest_parse(const char *data, size_t size, const char *where, struct manifest *ret,
		   struct husk_error *err)
{
	const struct document document = {where, err};
	CLEANUP_JSON json_t *top = NULL;
	struct manifest manifest = {0};
	enum media_kind kind;
	int rc = document_load(&document, data, size, &top);

	if (rc < 0)
		return rc;
	rc = document_kind_of(&document, top, NULL, &kind);
	if (rc < 0)
		return rc;
	if (kind != MEDIA_MANIFEST)
		return document_fail(&document, "", "is an index, not a manifest");
	rc = read_config(&document, top, &manifest.config);
	if (rc == 0)
		rc = read_layers(&document, top, &manifest);
	if (rc < 0)
		manifest_deinit(&manifest);
	else
		*ret = manifest;
	return rc;
}

void manifest_deinit(struct manifest *manifest)
{
	free(manifest->layers);
	*manifest = (struct manifest){0};
}
