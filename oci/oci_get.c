/* SPDX-License-Identifier: Apache-2.0 */
/* An image for a session: found, or pulled where the policy says so, and held. The run
 * path of an image that is there: nothing here may load a library that only pulls need.
 */
#include "oci/oci_get.h"

#include "base/fd.h"
#include "base/memory.h"
#include "oci/bounds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void oci_image_deinit(struct oci_image *image)
{
	fd_close(&image->root);
	fd_close(&image->lease);
	free(image->name);
	free(image->store);
	image_config_deinit(&image->config);
	*image = (struct oci_image){.root = -1, .lease = -1};
}

int oci_read_documents(struct store *store, const struct store_image *image,
		       struct manifest *ret_manifest, struct buffer *ret_config,
		       struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(OCI_MAX_DOCUMENT);
	int r = store_read_blob(store, &image->manifest, &text, err);

	if (r == 0)
		r = manifest_parse(text.data, text.size, image->name, ret_manifest, err);
	if (r < 0)
		return r;
	*ret_config = BUFFER_INIT(OCI_MAX_DOCUMENT);
	r = store_read_blob(store, &ret_manifest->config.digest, ret_config, err);
	if (r < 0) {
		buffer_deinit(ret_config);
		manifest_deinit(ret_manifest);
	}
	return r;
}

static int read_config(struct store *store, const struct store_image *image,
		       struct image_config *ret, struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(0);
	struct manifest manifest;
	int r = oci_read_documents(store, image, &manifest, &text, err);

	if (r < 0)
		return r;
	manifest_deinit(&manifest);
	return image_config_parse(text.data, text.size, image->name, ret, err);
}

/* Hold what was found. */
static int hold(struct store *store, const struct store_image *image,
		struct oci_image *ret, struct husk_error *err)
{
	struct oci_image held = {.root = -1,
				 .lease = -1,
				 .top = image->top,
				 .manifest = image->manifest,
				 .chain = image->chain};
	int r = 0;

	if (image->chain.algorithm != DIGEST_NONE)
		r = store_root_lease(store, &image->chain, &held.root, &held.lease, err);
	if (r == 0)
		r = read_config(store, image, &held.config, err);
	if (r == 0) {
		held.name = strdup(image->name);
		held.store = strdup(store_path(store));
		if (!held.name || !held.store)
			r = error_oom(err, "image");
	}
	if (r < 0) {
		oci_image_deinit(&held);
		return r;
	}
	*ret = held;
	return 0;
}

static int pull_and_hold(const struct target *target,
			 const struct husk_image_options *options, const char *path,
			 int cancel_fd, struct oci_image *ret, struct husk_error *err)
{
	struct store *store = NULL;
	struct store_image image = {0};
	int r = store_open(path, STORE_WRITE, &store, err);

	if (r < 0)
		return r;
	r = oci_pull_into(store, target, options, cancel_fd, &image, err);
	if (r == 0) {
		r = hold(store, &image, ret, err);
		store_image_deinit(&image);
	}
	store = store_close(store);
	return r;
}

/* May what the store has serve without a look at where it came from? */
static bool may_use_store(const struct target *target, int32_t pull)
{
	struct stat st;

	if (pull == HUSK_PULL_NEVER)
		return true;
	if (target->file != IMPORT_ANY) /* a file is looked at, where it still is */
		return pull == HUSK_PULL_MISSING &&
		       fstatat(AT_FDCWD, target->path, &st, 0) < 0 && errno == ENOENT;
	return pull == HUSK_PULL_MISSING || !target->is_name ||
	       target->reference.digest.algorithm != DIGEST_NONE;
}

static bool may_pull(const struct target *target, int32_t pull)
{
	return pull != HUSK_PULL_NEVER && (target->is_name || target->file != IMPORT_ANY);
}

/* 1: held; 0: not there, or not whole. */
static int get_from_stores(struct places *places, const char *reference,
			   const struct target *target, const struct platform *platform,
			   int32_t pull, struct oci_image *ret, struct husk_error *err)
{
	struct husk_error why = {0};
	struct store_image image = {0};
	struct store *store = NULL;
	char other[84] = "";
	int r = 0;

	if (may_use_store(target, pull)) {
		r = places_find(places, target, platform, &image, &store, other, &why);
		if (r == HUSK_E_IMAGE && places->damaged && may_pull(target, pull))
			return 0; /* pulled again, it is written anew */
	}
	if (r > 0) {
		r = hold(store, &image, ret, &why);
		store_image_deinit(&image);
		if (r == 0)
			return 1;
		if (r == HUSK_E_IMAGE && may_pull(target, pull))
			return 0; /* its parts are gone or damaged: they can be had */
	}
	if (r < 0) {
		if (err)
			*err = why;
		return r;
	}
	return may_pull(target, pull)
		   ? 0
		   : places_missing(places, reference, target, other, err);
}

int oci_image_get(const char *reference, const struct husk_image_options *options,
		  int32_t pull, int cancel_fd, struct oci_image *ret,
		  struct husk_error *err)
{
	CLEANUP_TARGET struct target target = {0};
	CLEANUP_PLACES struct places places = {0};
	struct platform platform;
	int r = target_parse(reference, &target, err);

	if (r == 0 && options->platform)
		r = platform_parse(options->platform, &platform, err);
	if (r == 0)
		r = places_init(&places, options, err);
	if (r == 0)
		r = get_from_stores(&places, reference, &target,
				    options->platform ? &platform : NULL, pull, ret, err);
	if (r != 0)
		return r < 0 ? r : 0;
	places_close(&places);
	return pull_and_hold(&target, options, places.own, cancel_fd, ret, err);
}
