/* SPDX-License-Identifier: Apache-2.0 */
/* What an image needs: from its documents. */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oci/bounds.h"
#include "oci/config.h"
#include "oci/store_own.h"

enum { ENTRY_SIZE = 256 + 16 };

static void name_entry(char entry[ENTRY_SIZE], enum store_part part, const char *name)
{
	(void)snprintf(entry, ENTRY_SIZE, "%d/%.255s", (int)part, name);
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool store_set_has(const struct store_set *set, enum store_part part, const char *name)
{
	char entry[ENTRY_SIZE];

	name_entry(entry, part, name);
	return tfind(entry, &set->tree, compare) != NULL;
}

int store_set_add(struct store_set *set, enum store_part part, const char *name)
{
	char entry[ENTRY_SIZE];
	char *kept;
	void **node;

	name_entry(entry, part, name);
	kept = strdup(entry);
	if (!kept)
		return -ENOMEM;
	node = tsearch(kept, &set->tree, compare);
	if (!node || *node != kept)
		free(kept);
	return node ? 0 : -ENOMEM;
}

void store_set_deinit(struct store_set *set)
{
	tdestroy(set->tree, free);
	set->tree = NULL;
}

static int mark_blob(struct store_set *set, const struct digest *digest)
{
	return store_set_add(set, store_blob_part(digest), digest->hex);
}

static int mark_tree(struct store_set *set, enum store_part part, const struct digest *id)
{
	char key[STORE_KEY];

	store_key(id, key);
	return store_set_add(set, part, key);
}

/* 1: the document is unusable. */
static int read_document(struct store *store, const struct digest *digest,
			 struct buffer *ret)
{
	int r = store_read_blob(store, digest, ret, NULL);

	if (r == HUSK_E_MEMORY)
		return -ENOMEM;
	return r < 0 ? 1 : 0;
}

static int usable(int r)
{
	return r == HUSK_E_MEMORY ? -ENOMEM : r < 0 ? 1 : 0;
}

static int mark_config(struct store *store, const struct digest *digest,
		       struct store_set *set)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(0);
	struct image_config config;
	int r = read_document(store, digest, &text);

	if (r == 0)
		r = usable(
		    image_config_parse(text.data, text.size, "config", &config, NULL));
	if (r != 0)
		return r < 0 ? r : 0;
	for (size_t i = 0; r == 0 && i < config.diff_id_count; i++)
		r = mark_tree(set, STORE_LAYERS, &config.diff_ids[i]);
	image_config_deinit(&config);
	return r;
}

static int mark_manifest(struct store *store, const struct digest *digest,
			 struct store_set *set)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(0);
	struct manifest manifest;
	int r = read_document(store, digest, &text);

	if (r == 0)
		r = usable(
		    manifest_parse(text.data, text.size, "manifest", &manifest, NULL));
	if (r != 0)
		return r < 0 ? r : 0;
	r = mark_blob(set, &manifest.config.digest);
	for (size_t i = 0; r == 0 && i < manifest.layer_count; i++)
		r = mark_blob(set, &manifest.layers[i].digest);
	if (r == 0)
		r = mark_config(store, &manifest.config.digest, set);
	manifest_deinit(&manifest);
	return r;
}

/* The indexes between the top and the manifest; manifests for other machines that came
 * with the same index under an earlier name are not this image's. */
static int mark_indexes(struct store *store, const struct digest *top,
			struct store_set *set, int depth)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(0);
	enum media_kind kind;
	struct index index;
	int r = mark_blob(set, top);

	if (r == 0)
		r = read_document(store, top, &text);
	if (r == 0)
		r = usable(
		    document_kind(text.data, text.size, NULL, "index", &kind, NULL));
	if (r == 0 && kind != MEDIA_INDEX)
		r = 1;
	if (r == 0)
		r = usable(index_parse(text.data, text.size, "index", &index, NULL));
	if (r != 0)
		return r < 0 ? r : 0;
	for (size_t i = 0; r == 0 && i < index.count; i++) {
		const struct descriptor *entry = &index.manifests[i];

		if (entry->media.kind == MEDIA_INDEX && depth < OCI_MAX_INDEX_DEPTH &&
		    store_has_blob(store, &entry->digest, NULL))
			r = mark_indexes(store, &entry->digest, set, depth + 1);
	}
	index_deinit(&index);
	return r;
}

int store_mark_image(struct store *store, const struct store_image *image,
		     struct store_set *set)
{
	int r = mark_indexes(store, &image->top, set, 0);

	if (r == 0)
		r = mark_blob(set, &image->manifest);
	if (r == 0)
		r = mark_manifest(store, &image->manifest, set);
	if (r == 0)
		r = mark_tree(set, STORE_ROOTS, &image->chain);
	return r;
}
