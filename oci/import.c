/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/import.h"

#include "base/memory.h"
#include "oci/import_detect.h"
#include "oci/import_docker.h"
#include "oci/import_layout.h"
#include "oci/import_plan.h"
#include "oci/import_rootfs.h"
#include "oci/import_source.h"
#include "oci/place.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int make_plan(struct import_found *found, const struct import_wanted *wanted,
		     struct import_plan *ret, struct husk_error *err)
{
	struct members members = import_members(found);

	switch (found->format) {
	case IMPORT_ROOTFS:
		return import_rootfs_plan(found, wanted, ret, err);
	case IMPORT_DOCKER_ARCHIVE:
		return import_docker_plan(&members, wanted, ret, err);
	default:
		return import_layout_plan(&members, wanted, ret, err);
	}
}

/* Images without a name are called what a reference to them in place would be. */
static int name_for(const struct import_found *found, const struct planned_image *image,
		    const char *given, char **ret, struct husk_error *err)
{
	static const char *const kinds[] = {[IMPORT_OCI_DIRECTORY] = "oci",
					    [IMPORT_OCI_ARCHIVE] = "oci-archive",
					    [IMPORT_DOCKER_ARCHIVE] = "docker-archive"};
	char where[PATH_MAX];
	int n;

	if (given || image->name[0] != '\0') {
		*ret = strdup(given ? given : image->name);
	} else {
		int r = place_absolute(found->path, where, err);

		if (r < 0)
			return r;
		n = asprintf(ret, "%s:%s%s%s", kinds[found->format], where,
			     image->tag[0] ? ":" : "", image->tag);
		*ret = n < 0 ? NULL : *ret;
	}
	return *ret ? 0 : error_oom(err, found->path);
}

/* What the name stands for already, if nothing has to be done: 1. */
static int have(struct store *store, const char *name, const struct planned_image *image,
		const struct platform *wanted, struct store_image *ret)
{
	struct store_image there;
	struct platform platform;

	if (store_find_image(store, name, &there, NULL) < 0)
		return 0;
	if (digest_equal(&there.top, &image->top.digest) &&
	    platform_parse(there.platform, &platform, NULL) == 0 &&
	    platform_match(wanted, &platform) > 0 &&
	    (there.chain.algorithm == DIGEST_NONE ||
	     store_has_root(store, &there.chain))) {
		*ret = there;
		return 1;
	}
	store_image_deinit(&there);
	return 0;
}

static int fetch_planned(struct store *store, const struct import_found *found,
			 const struct planned_image *image,
			 const struct import_options *options, struct store_image *ret,
			 struct husk_error *err)
{
	struct members members = import_members(found);
	struct import_source source = {
	    .layout = found->format == IMPORT_OCI_DIRECTORY ||
			      found->format == IMPORT_OCI_ARCHIVE
			  ? &members
			  : NULL,
	    .items = image->items,
	    .count = image->item_count,
	    .path = found->path,
	    .cancel_fd = options->fetch.cancel_fd,
	};
	struct fetch_source use = import_source_use(&source);
	struct fetch_options fetch = options->fetch;
	CLEANUP_FREE char *name = NULL;
	int r = name_for(found, image, options->name, &name, err);

	if (r < 0)
		return r;
	fetch.name = name;
	if (have(store, name, image, &fetch.platform, ret))
		return 0;
	return fetch_image(store, &use, &image->top, &image->top_data, &fetch, ret, err);
}

int import_path(struct store *store, const char *path,
		const struct import_options *options, struct store_image **ret,
		size_t *ret_count, struct husk_error *err)
{
	CLEANUP_FOUND struct import_found found = IMPORT_FOUND_NONE;
	CLEANUP_PLAN struct import_plan plan = {0};
	struct import_wanted wanted = {.path = path,
				       .tag = options->tag,
				       .name = options->name,
				       .platform = options->fetch.platform,
				       .cancel_fd = options->fetch.cancel_fd};
	struct store_image *images;
	char scratch[PATH_MAX];
	size_t done = 0;
	int r;

	if ((size_t)snprintf(scratch, sizeof(scratch), "%s/tmp", store_path(store)) >=
	    sizeof(scratch))
		return error_set(err, HUSK_E_INVALID, "store", "its path is too long");
	r = import_detect(path, options->format, scratch, wanted.cancel_fd, &found, err);
	if (r == 0)
		r = make_plan(&found, &wanted, &plan, err);
	if (r < 0)
		return r;
	images = calloc(plan.count, sizeof(*images));
	if (!images)
		return error_oom(err, path);
	while (r == 0 && done < plan.count) {
		r = fetch_planned(store, &found, &plan.images[done], options,
				  &images[done], err);
		done += r == 0;
	}
	if (r < 0) {
		store_images_free(images, done);
		return r;
	}
	*ret = images;
	*ret_count = done;
	return 0;
}
