/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/oci.h"

#include "base/printable.h"
#include "oci/import.h"
#include "oci/oci_get.h"
#include "oci/place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN = 160 };

/* Parse, and find in the stores; what is missing is an error. */
static int find(struct places *places, const char *reference,
		const struct husk_image_options *options, struct store_image *ret,
		struct store **ret_store, struct husk_error *err)
{
	CLEANUP_TARGET struct target target = {0};
	struct platform platform;
	char other[84];
	int r = target_parse(reference, &target, err);

	if (r == 0 && options->platform)
		r = platform_parse(options->platform, &platform, err);
	if (r == 0)
		r = places_init(places, options, err);
	if (r < 0)
		return r;
	r = places_find(places, &target, options->platform ? &platform : NULL, ret,
			ret_store, other, err);
	if (r < 0)
		return r;
	return r > 0 ? 0 : places_missing(places, reference, &target, other, err);
}

int oci_find(const char *reference, const struct husk_image_options *options,
	     struct store_image *ret, struct husk_error *err)
{
	CLEANUP_PLACES struct places places = {0};
	struct store *store = NULL;

	return find(&places, reference, options, ret, &store, err);
}

int oci_pull(const char *reference, const struct husk_image_options *options,
	     int cancel_fd, struct store_image *ret, struct husk_error *err)
{
	CLEANUP_TARGET struct target target = {0};
	CLEANUP_PLACES struct places places = {0};
	struct store *store = NULL;
	char shown[SHOWN];
	int r = target_parse(reference, &target, err);

	if (r < 0)
		return r;
	if (!target.is_name && target.file == IMPORT_ANY) {
		(void)error_set(err, HUSK_E_INVALID, "image",
				"%s is a digest; a registry is asked for a name",
				printable(shown, sizeof(shown), reference));
		error_hint(err, "write NAME@sha256:...");
		return HUSK_E_INVALID;
	}
	r = places_init(&places, options, err);
	if (r == 0)
		r = store_open(places.own, STORE_WRITE, &store, err);
	if (r < 0)
		return r;
	r = oci_pull_into(store, &target, options, cancel_fd, ret, err);
	store = store_close(store);
	return r;
}

/* -- import and export -- */

/* An explicit name is one of a registry, so that --image finds it. */
static int import_name_of(const char *reference, char ret[REFERENCE_TEXT],
			  struct husk_error *err)
{
	struct reference parsed;
	char shown[SHOWN];
	int r = reference_parse(reference, &parsed, err);

	if (r < 0)
		return r;
	if (parsed.digest.algorithm != DIGEST_NONE) {
		(void)error_set(err, HUSK_E_INVALID,
				printable(shown, sizeof(shown), reference),
				"an image that is imported cannot be named by a digest");
		error_hint(err, "give it a tag: NAME:TAG");
		return HUSK_E_INVALID;
	}
	reference_text(&parsed, ret);
	return 0;
}

/* A path, or a reference to a file ("oci:PATH:TAG"), which says more. */
static int import_target(const char *path, struct target *ret, struct husk_error *err)
{
	struct stat st;
	int r;

	if (fstatat(AT_FDCWD, path, &st, 0) < 0) {
		r = target_parse(path, ret, NULL);
		if (r == 0 && ret->file != IMPORT_ANY)
			return 0;
		if (r == 0)
			target_deinit(ret);
	}
	*ret = (struct target){0};
	if (strlen(path) >= sizeof(ret->path))
		return error_set(err, HUSK_E_INVALID, "import", "the path is too long");
	(void)snprintf(ret->path, sizeof(ret->path), "%s", path);
	return 0;
}

int oci_import(const char *path, const char *reference,
	       const struct husk_image_options *options, int cancel_fd,
	       struct store_image **ret, size_t *ret_count, struct husk_error *err)
{
	CLEANUP_TARGET struct target target = {0};
	struct import_options import = {0};
	char name[REFERENCE_TEXT], own[PATH_MAX];
	struct store *store = NULL;
	int r = import_target(path, &target, err);

	if (r == 0 && reference) {
		r = import_name_of(reference, name, err);
		import.name = name;
	}
	if (r == 0)
		r = oci_fetch_options(options, cancel_fd, &import.fetch, err);
	if (r == 0)
		r = place_own(options, own, err);
	if (r == 0)
		r = store_open(own, STORE_WRITE, &store, err);
	if (r < 0)
		return r;
	import.format = target.file;
	import.tag = target.tag;
	r = import_path(store, target.path, &import, ret, ret_count, err);
	store = store_close(store);
	return r;
}

int oci_export(const char *reference, const char *path, int32_t format,
	       const struct husk_image_options *options, int cancel_fd,
	       struct husk_error *err)
{
	CLEANUP_PLACES struct places places = {0};
	struct store_image image = {0};
	struct store *store = NULL;
	int r = find(&places, reference, options, &image, &store, err);

	if (r < 0)
		return r;
	r = export_path(store, &image, path, format, cancel_fd, err);
	store_image_deinit(&image);
	return r;
}

/* -- the caller's own store -- */

int oci_list(const struct husk_image_options *options, struct store_image **ret,
	     size_t *ret_count, struct husk_error *err)
{
	CLEANUP_PLACES struct places places = {0};
	struct store *store = NULL;
	int r = places_init(&places, options, err);

	if (r == 0)
		r = places_store(&places, 0, &store, err);
	if (r < 0)
		return r;
	if (store)
		return store_list_images(store, ret, ret_count, err);
	*ret = NULL;
	*ret_count = 0;
	return 0;
}

/* How many names the image has; a digest that stands for several says not which. */
static int check_only_name(struct store *store, const struct store_image *image,
			   struct husk_error *err)
{
	struct store_image *images = NULL;
	size_t count = 0, same = 0;
	char first[SHOWN] = "", second[SHOWN] = "";
	int r = store_list_images(store, &images, &count, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		if (!digest_equal(&images[i].manifest, &image->manifest))
			continue;
		if (same++ < 2)
			(void)printable(same == 1 ? first : second, SHOWN,
					images[i].name);
	}
	store_images_free(images, count);
	if (same < 2)
		return 0;
	(void)error_set(err, HUSK_E_IMAGE, "image",
			"it has %zu names, among them %s and %s", same, first, second);
	error_hint(err, "remove it by its names");
	return HUSK_E_IMAGE;
}

/* The name that is to go, from the caller's own store. */
static int name_to_remove(struct places *places, const char *reference,
			  struct store_image *ret, struct husk_error *err)
{
	CLEANUP_TARGET struct target target = {0};
	struct store *store = NULL, *own = NULL;
	struct husk_error why = {0};
	int r = target_parse(reference, &target, err);

	if (r < 0)
		return r;
	r = places_find(places, &target, NULL, ret, &store, NULL, &why);
	/* A name whose file is damaged can go for all that. */
	if (r == HUSK_E_IMAGE && places->damaged &&
	    places->damaged == places->stores[0]) {
		ret->name = strdup(target.name);
		return ret->name ? 0 : error_oom(err, "image");
	}
	if (r < 0 && err)
		*err = why;
	if (r < 0)
		return r;
	if (r == 0)
		return places_missing(places, reference, &target, NULL, err);
	r = places_store(places, 0, &own, err);
	if (r == 0 && store != own)
		r = error_set(err, HUSK_E_IMAGE, "image",
			      "it lies in %s, which is the machine's, not in %s",
			      PLACE_MACHINE, places->own);
	if (r == 0 && (!target.name || strcmp(target.name, ret->name) != 0))
		r = check_only_name(own, ret, err);
	if (r < 0)
		store_image_deinit(ret);
	return r;
}

int oci_remove(const char *reference, const struct husk_image_options *options,
	       uint64_t *ret_freed, struct husk_error *err)
{
	CLEANUP_PLACES struct places places = {0};
	struct store *store = NULL;
	struct store_image image = {0};
	uint64_t freed = 0;
	int r = places_init(&places, options, err);

	if (r == 0)
		r = name_to_remove(&places, reference, &image, err);
	if (r < 0)
		return r;
	places_close(&places); /* removing wants the store for itself */
	r = store_open(places.own, STORE_WRITE, &store, err);
	if (r == 0)
		r = store_remove_image(store, image.name, &freed, err);
	store = store_close(store);
	store_image_deinit(&image);
	if (r == 0)
		*ret_freed = freed;
	return r;
}

int oci_prune(const struct husk_image_options *options, uint64_t *ret_count,
	      uint64_t *ret_freed, struct husk_error *err)
{
	uint64_t count = 0, freed = 0;
	struct store *store = NULL;
	char own[PATH_MAX];
	struct stat st;
	int r = place_own(options, own, err);

	if (r < 0)
		return r;
	if (fstatat(AT_FDCWD, own, &st, 0) == 0) {
		r = store_open(own, STORE_WRITE, &store, err);
		if (r == 0)
			r = store_prune(store, &count, &freed, err);
		store = store_close(store);
	}
	if (r < 0)
		return r;
	*ret_count = count;
	*ret_freed = freed;
	return 0;
}

/* Opening it does all. What others left in a store of theirs is their business. */
int oci_sweep(const struct husk_image_options *options, uint64_t *ret_count,
	      struct husk_error *err)
{
	struct store *store = NULL;
	char own[PATH_MAX];
	struct stat st;
	int r = place_own(options, own, err);

	*ret_count = 0;
	if (r < 0 || fstatat(AT_FDCWD, own, &st, 0) < 0 || st.st_uid != geteuid())
		return r;
	r = store_open(own, STORE_WRITE, &store, err);
	if (r == 0)
		*ret_count = store_swept(store);
	store = store_close(store);
	return r;
}

int oci_inspect(const char *reference, const struct husk_image_options *options,
		char **ret_json, struct husk_error *err)
{
	CLEANUP_PLACES struct places places = {0};
	struct store_image image = {0};
	struct store *store = NULL;
	int r = find(&places, reference, options, &image, &store, err);

	if (r < 0)
		return r;
	r = oci_describe(store, &image, ret_json, err);
	store_image_deinit(&image);
	return r;
}
