/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/import_plan.h"

#include "base/printable.h"
#include "oci/bounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define CONFIG_TYPE   "application/vnd.oci.image.config.v1+json"
#define LAYER_TYPE    "application/vnd.oci.image.layer.v1.tar"

void import_plan_deinit(struct import_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		buffer_deinit(&plan->images[i].top_data);
		buffer_deinit(&plan->images[i].config);
		free(plan->images[i].items);
	}
	free(plan->images);
	*plan = (struct import_plan){0};
}

struct planned_image *import_plan_add(struct import_plan *plan)
{
	struct planned_image *image;

	if (plan->count == plan->capacity) {
		size_t more = plan->capacity ? plan->capacity * 2 : 1;
		struct planned_image *grown =
		    reallocarray(plan->images, more, sizeof(*grown));

		if (!grown)
			return NULL;
		plan->images = grown;
		plan->capacity = more;
	}
	image = &plan->images[plan->count++];
	memset(image, 0, sizeof(*image));
	image->top_data = BUFFER_INIT(OCI_MAX_DOCUMENT);
	image->config = BUFFER_INIT(OCI_MAX_DOCUMENT);
	return image;
}

/* -- names -- */

void import_name(const char *text, char ret[REFERENCE_TEXT])
{
	struct reference reference;

	ret[0] = '\0';
	if (reference_parse(text, &reference, NULL) < 0)
		return;
	/* What a digest stands for is not for the source to say. */
	reference.digest = (struct digest){0};
	if (reference.tag[0] != '\0')
		reference_text(&reference, ret);
}

static bool tag_matches(const struct import_candidate *candidate, const char *tag)
{
	char name[REFERENCE_TEXT];
	const char *colon;

	if (strcmp(candidate->tag, tag) == 0)
		return true;
	if (candidate->name[0] == '\0')
		return false;
	colon = strrchr(candidate->name, ':');
	if (colon && !strchr(colon, '/') && strcmp(colon + 1, tag) == 0)
		return true;
	import_name(tag, name);
	return strcmp(candidate->name, name) == 0;
}

static bool name_matches(const struct import_candidate *candidate, const char *name)
{
	return strcmp(candidate->name, name) == 0;
}

static bool tag_of_name_matches(const struct import_candidate *candidate,
				const char *name)
{
	const char *colon = strrchr(name, ':');

	return candidate->name[0] == '\0' && colon && !strchr(colon, '/') &&
	       strcmp(candidate->tag, colon + 1) == 0;
}

/* Move those that match to the front, in their order; how many there are. */
static size_t select_by(struct import_candidate *candidates, size_t count,
			bool (*matches)(const struct import_candidate *, const char *),
			const char *text)
{
	size_t chosen = 0;

	for (size_t i = 0; i < count; i++) {
		struct import_candidate one = candidates[i];

		if (!matches(&one, text))
			continue;
		memmove(candidates + chosen + 1, candidates + chosen,
			(i - chosen) * sizeof(one));
		candidates[chosen++] = one;
	}
	return chosen;
}

static size_t count_images(const struct import_candidate *candidates, size_t count)
{
	size_t images = 0;

	for (size_t i = 0; i < count; i++) {
		size_t before = 0;

		while (candidates[before].image != candidates[i].image)
			before++;
		images += before == i;
	}
	return images;
}

/* "a, b, c and 7 more" */
static void list_candidates(const struct import_candidate *candidates, size_t count,
			    char *text, size_t capacity)
{
	size_t used = 0, shown = 0, listed = 0;

	text[0] = '\0';
	for (; shown < count && used + 160 < capacity; shown++) {
		const struct import_candidate *one = &candidates[shown];
		char safe[128];

		if (one->tag[0] == '\0' && one->name[0] == '\0')
			continue;
		(void)printable(safe, sizeof(safe), one->tag[0] ? one->tag : one->name);
		used += (size_t)snprintf(text + used, capacity - used, "%s%s",
					 listed++ ? ", " : "", safe);
	}
	if (shown < count)
		(void)snprintf(text + used, capacity - used, " and %zu more",
			       count - shown);
	else if (listed == 0)
		(void)snprintf(text, capacity, "no tags");
}

int import_ambiguous(const struct import_candidate *candidates, size_t count,
		     const struct import_wanted *wanted, struct husk_error *err)
{
	char list[400];

	list_candidates(candidates, count, list, sizeof(list));
	(void)error_set(err, HUSK_E_IMAGE, wanted->path, "holds several images: %s",
			list);
	error_hint(err, "say which one (oci:PATH:TAG, oci-archive:PATH:TAG, "
			"docker-archive:PATH:TAG), or import all without a name");
	return HUSK_E_IMAGE;
}

static int no_such_tag(const struct import_candidate *candidates, size_t count,
		       const struct import_wanted *wanted, struct husk_error *err)
{
	char list[300], tag[128];

	list_candidates(candidates, count, list, sizeof(list));
	return error_set(err, HUSK_E_IMAGE, wanted->path, "holds no image %s; it has %s",
			 printable(tag, sizeof(tag), wanted->tag), list);
}

int import_choose(struct import_candidate *candidates, size_t count,
		  const struct import_wanted *wanted, size_t *ret_count,
		  size_t *ret_images, struct husk_error *err)
{
	size_t chosen = count;

	if (count == 0)
		return error_set(err, HUSK_E_IMAGE, wanted->path, "holds no image");
	if (wanted->tag) {
		chosen = select_by(candidates, count, tag_matches, wanted->tag);
		if (chosen == 0)
			return no_such_tag(candidates, count, wanted, err);
	} else if (wanted->name && count_images(candidates, count) > 1) {
		chosen = select_by(candidates, count, name_matches, wanted->name);
		if (chosen == 0)
			chosen = select_by(candidates, count, tag_of_name_matches,
					   wanted->name);
		if (chosen == 0)
			return import_ambiguous(candidates, count, wanted, err);
	}
	*ret_count = chosen;
	*ret_images = count_images(candidates, chosen);
	return 0;
}

/* -- documents of our making -- */

const char *import_layer_type(enum compression compression)
{
	switch (compression) {
	case COMPRESSION_GZIP:
		return LAYER_TYPE "+gzip";
	case COMPRESSION_ZSTD:
		return LAYER_TYPE "+zstd";
	default:
		return LAYER_TYPE;
	}
}

static int add_descriptor(struct buffer *to, const char *type,
			  const struct digest *digest, uint64_t size)
{
	char text[DIGEST_TEXT];

	digest_text(digest, text);
	return buffer_addf(to, "{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%llu}",
			   type, text, (unsigned long long)size);
}

int import_manifest(struct planned_image *image, const struct digest *config,
		    uint64_t config_size, const struct descriptor *layers, size_t count,
		    const char *path, struct husk_error *err)
{
	struct buffer *to = &image->top_data;
	int r = buffer_add_text(to, "{\"schemaVersion\":2,\"mediaType\":\"" MANIFEST_TYPE
				    "\",\"config\":");

	if (r == 0)
		r = add_descriptor(to, CONFIG_TYPE, config, config_size);
	if (r == 0)
		r = buffer_add_text(to, ",\"layers\":[");
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (i > 0)
			r = buffer_add_text(to, ",");
		if (r == 0)
			r = add_descriptor(to, layers[i].media_type, &layers[i].digest,
					   layers[i].size);
	}
	if (r == 0)
		r = buffer_add_text(to, "]}");
	if (r < 0)
		return error_oom(err, path);
	(void)snprintf(image->top.media_type, sizeof(image->top.media_type), "%s",
		       MANIFEST_TYPE);
	image->top.media = media_of(MANIFEST_TYPE);
	image->top.size = to->size;
	return digest_of(DIGEST_SHA256, to->data, to->size, &image->top.digest, err);
}
