/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/import_layout.h"

#include "base/json_read.h"
#include "base/memory.h"
#include "base/printable.h"
#include "oci/bounds.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { MARK_MAX = 64 << 10 };

/* {"imageLayoutVersion": "1.0.0"} */
static int check_mark(const struct members *members, struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer mark = BUFFER_INIT(MARK_MAX);
	const char *version;
	json_t *root = NULL;
	char shown[32];
	int r = members_read(members, "oci-layout", &mark, err);

	if (r < 0)
		return r;
	r = json_read(mark.data, mark.size, JSON_REJECT_DUPLICATES, &root, NULL);
	if (r == -ENOMEM)
		return error_oom(err, members->path);
	r = 0;
	version = json_string_value(json_object_get(root, "imageLayoutVersion"));
	if (!version)
		r = error_set(err, HUSK_E_IMAGE, members->path,
			      "oci-layout has no imageLayoutVersion");
	else if (strncmp(version, "1.", 2) != 0)
		r = error_set(err, HUSK_E_IMAGE, members->path,
			      "is a layout of version %s; husk reads version 1",
			      printable(shown, sizeof(shown), version));
	json_decref(root);
	return r;
}

static bool is_image(const struct descriptor *entry)
{
	return !entry->attestation &&
	       (entry->media.kind == MEDIA_MANIFEST || entry->media.kind == MEDIA_INDEX ||
		entry->media.kind == MEDIA_SCHEMA1 || entry->media_type[0] == '\0');
}

/* The first entry of that digest: several names of one image are one image. */
static size_t first_of(const struct index *index, size_t entry)
{
	size_t first = 0;

	while (!digest_equal(&index->manifests[first].digest,
			     &index->manifests[entry].digest))
		first++;
	return first;
}

static bool is_named(const struct descriptor *entry)
{
	return entry->ref_name[0] != '\0' || entry->image_name[0] != '\0';
}

/* The names that the index has for its images: a full one where a tool wrote it down,
 * else one that stands in place of a tag. */
static size_t list_entries(const struct index *index, struct import_candidate *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < index->count; i++) {
		const struct descriptor *entry = &index->manifests[i];
		struct import_candidate *one = &ret[count];

		if (!is_image(entry))
			continue;
		one->image = first_of(index, i);
		import_name(entry->image_name, one->name);
		if (one->name[0] == '\0' && strpbrk(entry->ref_name, "/:"))
			import_name(entry->ref_name, one->name);
		(void)snprintf(one->tag, sizeof(one->tag), "%s", entry->ref_name);
		count++;
	}
	return count;
}

/* Of several entries of one name, that for the platform. */
static int choose_platform(const struct index *index,
			   const struct import_candidate *candidates, size_t count,
			   const struct import_wanted *wanted,
			   const struct descriptor **ret, struct husk_error *err)
{
	CLEANUP_FREE struct descriptor *same = calloc(count, sizeof(*same));
	struct index some = {.manifests = same, .count = count};
	const struct descriptor *chosen;
	int r;

	if (!same)
		return error_oom(err, wanted->path);
	for (size_t i = 0; i < count; i++)
		same[i] = index->manifests[candidates[i].image];
	r = index_choose(&some, &wanted->platform, wanted->path, &chosen, err);
	if (r < 0)
		return r;
	*ret = &index->manifests[candidates[chosen - same].image];
	return 0;
}

static int read_top(const struct members *members, const struct descriptor *entry,
		    const struct import_candidate *candidate,
		    const struct import_wanted *wanted, struct import_plan *plan,
		    struct husk_error *err)
{
	struct planned_image *image = import_plan_add(plan);
	char path[BLOB_PATH];
	struct digest digest;
	int r;

	if (!image)
		return error_oom(err, wanted->path);
	memcpy(image->name, candidate->name, sizeof(image->name));
	memcpy(image->tag, candidate->tag, sizeof(image->tag));
	image->top = *entry;
	import_blob_path(&entry->digest, path);
	r = members_read(members, path, &image->top_data, err);
	if (r == 0)
		r = digest_of(entry->digest.algorithm, image->top_data.data,
			      image->top_data.size, &digest, err);
	if (r < 0)
		return r;
	if (image->top_data.size != entry->size || !digest_equal(&digest, &entry->digest))
		return error_set(err, HUSK_E_IMAGE, wanted->path,
				 "%s is not what its name says: size or digest differ",
				 path);
	return 0;
}

static bool same_name(const struct import_candidate *a, const struct import_candidate *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->tag, b->tag) == 0;
}

/* The candidates are those that are wanted; those of one name are one image. */
static int plan_chosen(const struct members *members, const struct index *index,
		       struct import_candidate *candidates, size_t count,
		       const struct import_wanted *wanted, struct import_plan *plan,
		       struct husk_error *err)
{
	int r = 0;

	while (r == 0 && count > 0) {
		const struct descriptor *entry = &index->manifests[candidates[0].image];
		size_t same = 1;

		for (size_t i = 1; i < count; i++) {
			struct import_candidate one = candidates[i];

			if (!same_name(&candidates[0], &one))
				continue;
			memmove(candidates + same + 1, candidates + same,
				(i - same) * sizeof(one));
			candidates[same++] = one;
		}
		if (same > 1)
			r = choose_platform(index, candidates, same, wanted, &entry, err);
		if (r == 0)
			r = read_top(members, entry, &candidates[0], wanted, plan, err);
		candidates += same;
		count -= same;
	}
	return r;
}

/* An index.json whose entries have no names is an image index like those in registries:
 * one image for several platforms. */
static int plan_index(const struct buffer *document, const struct import_wanted *wanted,
		      struct import_plan *plan, struct husk_error *err)
{
	static const char type[] = "application/vnd.oci.image.index.v1+json";
	struct planned_image *image = import_plan_add(plan);

	if (!image || buffer_add(&image->top_data, document->data, document->size) < 0)
		return error_oom(err, wanted->path);
	(void)snprintf(image->top.media_type, sizeof(image->top.media_type), "%s", type);
	image->top.media = media_of(type);
	image->top.size = document->size;
	return digest_of(DIGEST_SHA256, document->data, document->size,
			 &image->top.digest, err);
}

static int plan_from_index(const struct members *members, const struct index *index,
			   const struct buffer *document,
			   const struct import_wanted *wanted, struct import_plan *plan,
			   struct husk_error *err)
{
	CLEANUP_FREE struct import_candidate *candidates =
	    calloc(index->count + 1, sizeof(*candidates));
	size_t count, chosen = 0, images = 0;
	bool named = false;
	int r;

	if (!candidates)
		return error_oom(err, wanted->path);
	count = list_entries(index, candidates);
	for (size_t i = 0; i < count; i++)
		named = named || is_named(&index->manifests[candidates[i].image]);
	if (count > 1 && !named && !wanted->tag)
		return plan_index(document, wanted, plan, err);
	r = import_choose(candidates, count, wanted, &chosen, &images, err);
	if (r == 0 && images == 1 && (wanted->tag || wanted->name))
		chosen = 1;
	if (r == 0)
		r = plan_chosen(members, index, candidates, chosen, wanted, plan, err);
	if (r == 0 && plan->count > 1 && (wanted->tag || wanted->name))
		return import_ambiguous(candidates, chosen, wanted, err);
	return r;
}

int import_layout_plan(const struct members *members, const struct import_wanted *wanted,
		       struct import_plan *ret, struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer document = BUFFER_INIT(OCI_MAX_DOCUMENT);
	CLEANUP_PLAN struct import_plan plan = {0};
	struct index index = {0};
	int r = check_mark(members, err);

	if (r == 0)
		r = members_read(members, "index.json", &document, err);
	if (r == 0)
		r = index_parse(document.data, document.size, wanted->path, &index, err);
	if (r < 0)
		return r;
	r = plan_from_index(members, &index, &document, wanted, &plan, err);
	index_deinit(&index);
	if (r < 0)
		return r;
	*ret = plan;
	plan = (struct import_plan){0};
	return 0;
}
