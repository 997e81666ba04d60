/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of husk/image.h: what the caller gave is checked and brought to this
 * version, the work is done in oci/. */
#include <husk/image.h>

#include <string.h>

#include "oci/oci.h"
#include "session/cancel.h"
#include "session/image_handle.h"
#include "session/settings.h"

/* What every function begins with. *ret_cancel: the descriptor to watch. */
static int begin(const char *reference, const struct husk_image_options *options,
		 struct husk_image_options *ret_known, int *ret_cancel,
		 struct husk_error *err)
{
	if (!reference || reference[0] == '\0')
		return error_set(err, HUSK_E_INVALID, "image", "its name is empty");
	*ret_cancel = -1;
	return settings_images(options, ret_known, ret_cancel, err);
}

/* What a session takes for something else can be no image's name. */
static int check_name(const char *reference, struct husk_error *err)
{
	if (strncmp(reference, "dir:", 4) == 0)
		return error_set(err, HUSK_E_INVALID, reference,
				 "it is a directory, and no image for the store");
	if (strcmp(reference, "host") != 0)
		return 0;
	error_set(err, HUSK_E_INVALID, reference,
		  "it stands for this machine's own programs, and is no image for the "
		  "store");
	error_hint(err, "an image of that name is written library/host");
	return HUSK_E_INVALID;
}

int husk_image_pull(const char *reference, const struct husk_image_options *options,
		    husk_image **ret_image, struct husk_error *err)
{
	struct husk_image_options known;
	struct store_image found;
	int cancel, r = begin(reference, options, &known, &cancel, err);

	if (r == 0)
		r = check_name(reference, err);
	if (r == 0)
		r = oci_pull(reference, &known, cancel, &found, err);
	if (r < 0)
		return r;
	if (ret_image)
		return image_handle_new(&found, ret_image, err);
	store_image_deinit(&found);
	return 0;
}

int husk_image_find(const char *reference, const struct husk_image_options *options,
		    husk_image **ret_image, struct husk_error *err)
{
	struct husk_image_options known;
	struct store_image found;
	int cancel, r = begin(reference, options, &known, &cancel, err);

	if (r == 0)
		r = oci_find(reference, &known, &found, err);
	if (r < 0)
		return r;
	if (ret_image)
		return image_handle_new(&found, ret_image, err);
	store_image_deinit(&found);
	return 0;
}

int husk_image_import(const char *path, const char *reference,
		      const struct husk_image_options *options, husk_images **ret_images,
		      struct husk_error *err)
{
	struct husk_image_options known;
	struct store_image *found = NULL;
	husk_images *list = NULL;
	size_t count = 0;
	int cancel, r;

	if (!path || path[0] == '\0')
		return error_set(err, HUSK_E_INVALID, "import", "the path is empty");
	r = settings_images(options, &known, &cancel, err);
	if (r == 0 && reference)
		r = check_name(reference, err);
	if (r == 0)
		r = oci_import(path, reference, &known, cancel, &found, &count, err);
	if (r == 0)
		r = image_list_new(found, count, &list, err);
	if (r < 0)
		return r;
	if (ret_images)
		*ret_images = list;
	else
		(void)husk_images_free(list);
	return 0;
}

int husk_image_export(const char *reference, const char *path, int32_t format,
		      const struct husk_image_options *options, struct husk_error *err)
{
	struct husk_image_options known;
	int cancel, r = begin(reference, options, &known, &cancel, err);

	if (r == 0 && (!path || path[0] == '\0'))
		r = error_set(err, HUSK_E_INVALID, "export", "the path is empty");
	if (r == 0 && format != HUSK_IMAGE_OCI && format != HUSK_IMAGE_DOCKER)
		r = error_set(err, HUSK_E_INVALID, "export",
			      "%d is neither the OCI format nor docker's", format);
	return r < 0 ? r : oci_export(reference, path, format, &known, cancel, err);
}

int husk_image_list(const struct husk_image_options *options, husk_images **ret_images,
		    struct husk_error *err)
{
	struct husk_image_options known;
	struct store_image *found = NULL;
	struct husk_error why = {0};
	size_t count = 0;
	int cancel, damaged, r = settings_images(options, &known, &cancel, err);

	if (r < 0)
		return r;
	damaged = oci_list(&known, &found, &count, &why);
	if (damaged < 0) {
		if (err)
			*err = why;
		return damaged;
	}
	r = image_list_new(found, count, ret_images, err);
	if (r == 0 && damaged > 0) {
		(*ret_images)->damaged = (size_t)damaged;
		(*ret_images)->damage = why;
	}
	return r;
}

int husk_image_remove(const char *reference, const struct husk_image_options *options,
		      uint64_t *ret_freed, struct husk_error *err)
{
	struct husk_image_options known;
	uint64_t freed = 0;
	int cancel, r = begin(reference, options, &known, &cancel, err);

	if (r == 0)
		r = oci_remove(reference, &known, &freed, err);
	if (r == 0 && ret_freed)
		*ret_freed = freed;
	return r;
}

int husk_image_prune(const struct husk_image_options *options, uint64_t *ret_count,
		     uint64_t *ret_freed, struct husk_error *err)
{
	struct husk_image_options known;
	uint64_t count = 0, freed = 0;
	int cancel, r = settings_images(options, &known, &cancel, err);

	if (r == 0)
		r = oci_prune(&known, &count, &freed, err);
	if (r < 0)
		return r;
	if (ret_count)
		*ret_count = count;
	if (ret_freed)
		*ret_freed = freed;
	return 0;
}

int husk_image_sweep(const struct husk_image_options *options, uint64_t *ret_count,
		     struct husk_error *err)
{
	struct husk_image_options known;
	uint64_t count = 0;
	int cancel, r = settings_images(options, &known, &cancel, err);

	if (r == 0)
		r = oci_sweep(&known, &count, err);
	if (r == 0 && ret_count)
		*ret_count = count;
	return r;
}

int husk_image_inspect(const char *reference, const struct husk_image_options *options,
		       char **ret_json, struct husk_error *err)
{
	struct husk_image_options known;
	int cancel, r = begin(reference, options, &known, &cancel, err);

	return r < 0 ? r : oci_inspect(reference, &known, ret_json, err);
}
