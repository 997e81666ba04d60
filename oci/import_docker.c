/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/import_docker.h"

#include "base/json_read.h"
#include "base/memory.h"
#include "base/printable.h"
#include "oci/bounds.h"
#include "oci/config.h"
#include "oci/import_detect.h"
#include "oci/import_stream.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { IMAGES_MAX = 4096, NAMES_MAX = 4096 };

static void json_end(json_t **json)
{
	json_decref(*json);
	*json = NULL;
}
#define CLEANUP_JSON __attribute__((cleanup(json_end)))

/* Every row has a config and layers; there is at least one. */
static bool rows_are_images(const json_t *rows)
{
	size_t i;
	json_t *row;

	if (!json_is_array(rows) || json_array_size(rows) == 0)
		return false;
	json_array_foreach(rows, i, row)
	{
		if (!json_is_string(json_object_get(row, "Config")) ||
		    !(json_is_array(json_object_get(row, "Layers")) ||
		      json_is_null(json_object_get(row, "Layers"))))
			return false;
	}
	return true;
}

static int read_rows(const struct members *members, json_t **ret, struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(OCI_MAX_DOCUMENT);
	CLEANUP_JSON json_t *rows = NULL;
	json_error_t why;
	char shown[128];
	int r = members_read(members, "manifest.json", &text, err);

	if (r < 0)
		return r;
	r = json_read(text.data, text.size, JSON_REJECT_DUPLICATES, &rows, &why);
	if (r == -ENOMEM)
		return error_oom(err, members->path);
	if (r < 0)
		return error_set(err, HUSK_E_IMAGE, members->path,
				 "manifest.json, line %d: %s", why.line,
				 printable(shown, sizeof(shown), why.text));
	if (!rows_are_images(rows))
		return error_set(err, HUSK_E_IMAGE, members->path,
				 "manifest.json is not a list of images with Config and "
				 "Layers");
	if (json_array_size(rows) > IMAGES_MAX)
		return error_set(err, HUSK_E_TOO_BIG, members->path,
				 "manifest.json lists more than %d images", IMAGES_MAX);
	*ret = TAKE_PTR(rows);
	return 0;
}

int import_docker_looks_like(const struct members *members, bool *ret,
			     struct husk_error *err)
{
	CLEANUP_JSON json_t *rows = NULL;
	struct husk_error why = {0};
	int r = read_rows(members, &rows, &why);

	if (r < 0 && r != HUSK_E_IMAGE && r != HUSK_E_TOO_BIG) {
		if (err)
			*err = why;
		return r;
	}
	*ret = r == 0 || members_have_twice(members, "manifest.json");
	return 0;
}

static int add_candidate(struct import_candidate *list, size_t *count, size_t image,
			 const char *name)
{
	const char *colon;

	if (*count == NAMES_MAX)
		return -EFBIG;
	list[*count].image = image;
	if (name) {
		import_name(name, list[*count].name);
		colon = strrchr(name, ':');
		if (list[*count].name[0] == '\0' || (colon && !strchr(colon, '/')))
			(void)snprintf(list[*count].tag, sizeof(list[*count].tag), "%s",
				       colon ? colon + 1 : name);
	}
	++*count;
	return 0;
}

static int list_names(json_t *rows, struct import_candidate *list, size_t *count)
{
	size_t i, j;
	json_t *row, *name;
	int r = 0;

	json_array_foreach(rows, i, row)
	{
		json_t *names = json_object_get(row, "RepoTags");
		size_t before = *count;

		json_array_foreach(names, j, name)
		{
			if (r == 0 && json_is_string(name))
				r = add_candidate(list, count, i,
						  json_string_value(name));
		}
		if (r == 0 && *count == before)
			r = add_candidate(list, count, i, NULL);
	}
	return r;
}

/* A member's name as it is written into manifest.json. */
static const char *plain_name(const char *name)
{
	while (name[0] == '.' && name[1] == '/')
		name += 2;
	return name;
}

/* What docker writes is a plain tar, whose digest is the config's diff id; others write
 * what they have. Then the file itself must be hashed. */
static int describe_layer(const struct members *members, const struct member *member,
			  const struct digest *diff_id,
			  const struct import_wanted *wanted, struct descriptor *ret,
			  struct husk_error *err)
{
	unsigned char start[4] = {0};
	enum compression compression = COMPRESSION_NONE;
	size_t some = member->size < sizeof(start) ? (size_t)member->size : sizeof(start);
	int r = member_read_at(member, 0, start, some, members->path, err);

	if (r < 0)
		return r;
	if (start[0] == 0x1f && start[1] == 0x8b)
		compression = COMPRESSION_GZIP;
	else if (memcmp(start, "\x28\xb5\x2f\xfd", 4) == 0)
		compression = COMPRESSION_ZSTD;
	(void)snprintf(ret->media_type, sizeof(ret->media_type), "%s",
		       import_layer_type(compression));
	ret->media = media_of(ret->media_type);
	ret->size = member->size;
	ret->digest = *diff_id;
	if (compression == COMPRESSION_NONE)
		return 0;
	return import_hash_member(member, members->path, wanted->cancel_fd, &ret->digest,
				  err);
}

static int add_layers(const struct members *members, json_t *layers,
		      const struct image_config *config,
		      const struct digest *config_digest,
		      const struct import_wanted *wanted, struct planned_image *image,
		      struct husk_error *err)
{
	CLEANUP_FREE struct descriptor *list = NULL;
	size_t count = json_array_size(layers);
	int r = 0;

	if (count != config->diff_id_count)
		return error_set(err, HUSK_E_IMAGE, wanted->path,
				 "an image has %zu layers in manifest.json, and %zu in "
				 "its config",
				 count, config->diff_id_count);
	if (count > OCI_MAX_LAYERS)
		return error_set(err, HUSK_E_TOO_BIG, wanted->path,
				 "an image has %zu layers, at most %d are taken", count,
				 OCI_MAX_LAYERS);
	list = calloc(count + 1, sizeof(*list));
	image->items = calloc(count + 1, sizeof(*image->items));
	if (!list || !image->items)
		return error_oom(err, wanted->path);
	for (size_t i = 0; r == 0 && i < count; i++) {
		const char *name = json_string_value(json_array_get(layers, i));
		struct source_item *item = &image->items[i];

		if (!name)
			return error_set(err, HUSK_E_IMAGE, wanted->path,
					 "manifest.json: a layer has no name");
		r = members_open(members, plain_name(name), &item->member, err);
		if (r == 0)
			r = describe_layer(members, &item->member, &config->diff_ids[i],
					   wanted, &list[i], err);
		item->digest = list[i].digest;
	}
	if (r < 0)
		return r;
	image->items[count].digest = *config_digest;
	image->items[count].data = image->config.data;
	image->items[count].size = image->config.size;
	image->item_count = count + 1;
	return import_manifest(image, config_digest, image->config.size, list, count,
			       wanted->path, err);
}

static int plan_image(const struct members *members, json_t *row,
		      const struct import_candidate *candidate,
		      const struct import_wanted *wanted, struct import_plan *plan,
		      struct husk_error *err)
{
	const char *name = json_string_value(json_object_get(row, "Config"));
	struct planned_image *image = import_plan_add(plan);
	struct image_config config = {0};
	struct digest digest;
	int r;

	if (!image)
		return error_oom(err, wanted->path);
	memcpy(image->name, candidate->name, sizeof(image->name));
	memcpy(image->tag, candidate->tag, sizeof(image->tag));
	r = members_read(members, plain_name(name), &image->config, err);
	if (r == 0)
		r = digest_of(DIGEST_SHA256, image->config.data, image->config.size,
			      &digest, err);
	if (r == 0)
		r = image_config_parse(image->config.data, image->config.size,
				       wanted->path, &config, err);
	if (r < 0)
		return r;
	r = add_layers(members, json_object_get(row, "Layers"), &config, &digest, wanted,
		       image, err);
	image_config_deinit(&config);
	return r;
}

int import_docker_plan(const struct members *members, const struct import_wanted *wanted,
		       struct import_plan *ret, struct husk_error *err)
{
	CLEANUP_FREE struct import_candidate *list = calloc(NAMES_MAX, sizeof(*list));
	CLEANUP_PLAN struct import_plan plan = {0};
	CLEANUP_JSON json_t *rows = NULL;
	size_t count = 0, chosen = 0, images = 0;
	int r = read_rows(members, &rows, err);

	if (r < 0)
		return r;
	if (!list)
		return error_oom(err, wanted->path);
	if (list_names(rows, list, &count) < 0)
		return error_set(err, HUSK_E_TOO_BIG, wanted->path,
				 "manifest.json has more than %d names", NAMES_MAX);
	r = import_choose(list, count, wanted, &chosen, &images, err);
	if (r < 0)
		return r;
	if (wanted->tag || wanted->name) {
		if (images > 1)
			return import_ambiguous(list, chosen, wanted, err);
		chosen = 1;
	}
	for (size_t i = 0; r == 0 && i < chosen; i++)
		r = plan_image(members, json_array_get(rows, list[i].image), &list[i],
			       wanted, &plan, err);
	if (r < 0)
		return r;
	*ret = plan;
	plan = (struct import_plan){0};
	return 0;
}
