/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes, the manifest and the config. What the store has is not asked for again; what
 * comes is checked here whatever the source has checked. */
#include <string.h>

#include "oci/bounds.h"
#include "oci/fetch_own.h"

static int check_document(struct fetch *fetch, const struct descriptor *what,
			  const struct buffer *data, struct husk_error *err)
{
	char text[DIGEST_TEXT];
	struct digest is;
	int r;

	digest_text(&what->digest, text);
	if (data->size != what->size)
		return error_set(err, HUSK_E_IMAGE, fetch->where,
				 "document %s has %zu bytes, not the %llu that were "
				 "promised",
				 text, data->size, (unsigned long long)what->size);
	r = digest_of(what->digest.algorithm, data->data, data->size, &is, err);
	if (r < 0 || digest_equal(&is, &what->digest))
		return r;
	r = error_set(err, HUSK_E_IMAGE, fetch->where,
		      "document %s came with another content", text);
	error_hint(err, "somebody changed it on the way, or the source is damaged");
	return r;
}

static int get_document(struct fetch *fetch, const struct descriptor *what,
			struct buffer *ret, struct husk_error *err)
{
	const struct fetch_source *source = fetch->source;
	CLEANUP_BUFFER struct buffer got = BUFFER_INIT(OCI_MAX_DOCUMENT);
	uint64_t size;
	int r;

	if (what->size > OCI_MAX_DOCUMENT)
		return error_set(err, HUSK_E_TOO_BIG, fetch->where,
				 "a document of %llu bytes is larger than the %llu that "
				 "one may have",
				 (unsigned long long)what->size,
				 (unsigned long long)OCI_MAX_DOCUMENT);
	if (store_has_blob(fetch->store, &what->digest, &size) && size == what->size &&
	    store_read_blob(fetch->store, &what->digest, ret, NULL) == 0)
		return 0;
	r = source->document(source->user, what, &got, err);
	if (r == 0)
		r = check_document(fetch, what, &got, err);
	if (r == 0)
		r = store_add_blob(fetch->store, &what->digest, got.data, got.size, err);
	if (r < 0)
		return r;
	buffer_deinit(ret);
	*ret = got;
	got = (struct buffer){0};
	return 0;
}

/* Which document the index means for us. */
static int choose(struct fetch *fetch, const struct buffer *data, struct descriptor *ret,
		  struct husk_error *err)
{
	const struct descriptor *chosen;
	struct index index;
	int r = index_parse(data->data, data->size, fetch->where, &index, err);

	if (r < 0)
		return r;
	r = index_choose(&index, &fetch->options->platform, fetch->where, &chosen, err);
	if (r == 0)
		*ret = *chosen;
	index_deinit(&index);
	return r;
}

/* Down through the indexes to the manifest. *ret_by_index: one has chosen it. */
static int find_manifest(struct fetch *fetch, struct descriptor *what,
			 struct buffer *data, bool *ret_by_index, struct husk_error *err)
{
	enum media_kind kind;

	for (int depth = 0;; depth++) {
		int r = document_kind(data->data, data->size,
				      what->media_type[0] ? what->media_type : NULL,
				      fetch->where, &kind, err);

		if (r < 0)
			return r;
		*ret_by_index = depth > 0;
		if (kind == MEDIA_MANIFEST)
			return 0;
		if (kind != MEDIA_INDEX)
			return error_set(err, HUSK_E_IMAGE, fetch->where,
					 "it is neither a manifest nor an index");
		if (depth == OCI_MAX_INDEX_DEPTH)
			return error_set(err, HUSK_E_IMAGE, fetch->where,
					 "more than %d indexes are inside one another",
					 OCI_MAX_INDEX_DEPTH);
		r = choose(fetch, data, what, err);
		if (r == 0)
			r = get_document(fetch, what, data, err);
		if (r < 0)
			return r;
	}
}

/* A manifest that no index has chosen may be for any machine. */
static int check_platform(struct fetch *fetch, struct husk_error *err)
{
	char wanted[84], is[84];
	int r;

	if (fetch->config.platform.os[0] == '\0' ||
	    platform_match(&fetch->options->platform, &fetch->config.platform) > 0)
		return 0;
	platform_text(&fetch->options->platform, wanted);
	platform_text(&fetch->config.platform, is);
	r = error_set(err, HUSK_E_IMAGE, fetch->where, "it is for %s, not for %s", is,
		      wanted);
	error_hint(err, "ask for platform %s if you can run that, or for another image",
		   is);
	return r;
}

static int get_config(struct fetch *fetch, bool by_index, struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer data = BUFFER_INIT(OCI_MAX_DOCUMENT);
	int r = get_document(fetch, &fetch->manifest.config, &data, err);

	if (r == 0)
		r = image_config_parse(data.data, data.size, fetch->where, &fetch->config,
				       err);
	if (r == 0 && !by_index)
		r = check_platform(fetch, err);
	if (r < 0)
		return r;
	if (fetch->config.diff_id_count == fetch->manifest.layer_count)
		return 0;
	return error_set(err, HUSK_E_IMAGE, fetch->where,
			 "its manifest has %zu layers, its config %zu diff ids",
			 fetch->manifest.layer_count, fetch->config.diff_id_count);
}

int fetch_documents(struct fetch *fetch, const struct descriptor *top,
		    const struct buffer *top_data, struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer data = BUFFER_INIT(OCI_MAX_DOCUMENT);
	struct descriptor what = *top;
	bool by_index = false;
	int r;

	fetch->top = top->digest;
	fetch->manifest_digest = top->digest;
	if (buffer_add(&data, top_data->data, top_data->size) < 0)
		return error_oom(err, fetch->where);
	r = store_add_blob(fetch->store, &top->digest, data.data, data.size, err);
	if (r == 0)
		r = find_manifest(fetch, &what, &data, &by_index, err);
	if (r == 0)
		r = manifest_parse(data.data, data.size, fetch->where, &fetch->manifest,
				   err);
	if (r < 0)
		return r;
	fetch->manifest_digest = what.digest;
	return get_config(fetch, by_index, err);
}
