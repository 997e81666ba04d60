/* SPDX-License-Identifier: Apache-2.0 */
/* Everything about an image as JSON. */
#include "oci/oci_get.h"

#include "base/json_read.h"
#include "oci/config.h"

#include <jansson.h>
#include <string.h>
#include <time.h>

static json_t *layers_json(const struct manifest *manifest,
			   const struct image_config *config)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < manifest->layer_count; i++) {
		char digest[DIGEST_TEXT], diff_id[DIGEST_TEXT] = "";

		digest_text(&manifest->layers[i].digest, digest);
		if (i < config->diff_id_count)
			digest_text(&config->diff_ids[i], diff_id);
		if (json_array_append_new(
			list, json_pack("{s:s, s:I, s:s, s:s}", "digest", digest, "size",
					(json_int_t)manifest->layers[i].size, "diff_id",
					diff_id, "media_type",
					manifest->layers[i].media_type)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Takes config_document. */
static char *image_json(const struct store_image *image, const struct manifest *manifest,
			const struct image_config *config, json_t *config_document)
{
	char top[DIGEST_TEXT], own[DIGEST_TEXT], added[32] = "";
	time_t when = (time_t)image->added_s;
	json_t *json;
	char *text;
	struct tm tm;

	digest_text(&image->top, top);
	digest_text(&image->manifest, own);
	if (gmtime_r(&when, &tm))
		(void)strftime(added, sizeof(added), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json =
	    json_pack("{s:s%, s:s, s:s, s:s, s:I, s:s, s:o, s:o}", "name", image->name,
		      strlen(image->name), "digest", top, "manifest", own, "platform",
		      image->platform, "bytes", (json_int_t)image->size, "added", added,
		      "layers", layers_json(manifest, config), "config", config_document);
	text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	return text;
}

int oci_describe(struct store *store, const struct store_image *image, char **ret_json,
		 struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(0);
	struct image_config config = {0};
	struct manifest manifest;
	json_t *document = NULL;
	char *json = NULL;
	int r = oci_read_documents(store, image, &manifest, &text, err);

	if (r < 0)
		return r;
	r = image_config_parse(text.data, text.size, image->name, &config, err);
	if (r == 0) {
		if (json_read(text.data, text.size, 0, &document, NULL) == 0)
			json = image_json(image, &manifest, &config, document);
		image_config_deinit(&config);
		if (json)
			*ret_json = json;
		else
			r = error_oom(err, "image");
	}
	manifest_deinit(&manifest);
	return r;
}
