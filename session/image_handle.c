/* SPDX-License-Identifier: Apache-2.0 */
/* Images and lists of them as callers hold them. */
#include "session/image_handle.h"

#include <stdlib.h>

static void fill(struct husk_image *image, const struct store_image *from)
{
	image->image = *from;
	digest_text(&from->top, image->digest);
	digest_text(&from->manifest, image->manifest);
}

int image_handle_new(struct store_image *from, husk_image **ret, struct husk_error *err)
{
	husk_image *image = calloc(1, sizeof(*image));

	if (!image) {
		store_image_deinit(from);
		return error_oom(err, "image");
	}
	fill(image, from);
	*ret = image;
	return 0;
}

int image_list_new(struct store_image *from, size_t count, husk_images **ret,
		   struct husk_error *err)
{
	husk_images *list = calloc(1, sizeof(*list) + count * sizeof(list->images[0]));

	if (list) {
		list->count = count;
		*ret = list;
	}
	for (size_t i = 0; i < count; i++) {
		if (list)
			fill(&list->images[i], &from[i]);
		else
			store_image_deinit(&from[i]);
	}
	free(from);
	return list ? 0 : error_oom(err, "images");
}

husk_image *husk_image_free(husk_image *image)
{
	if (image) {
		store_image_deinit(&image->image);
		free(image);
	}
	return NULL;
}

husk_images *husk_images_free(husk_images *images)
{
	for (size_t i = 0; images && i < images->count; i++)
		store_image_deinit(&images->images[i].image);
	free(images);
	return NULL;
}

size_t husk_images_count(const husk_images *images)
{
	return images ? images->count : 0;
}

size_t husk_images_damaged(const husk_images *images, struct husk_error *ret_first)
{
	if (!images || images->damaged == 0)
		return 0;
	if (ret_first)
		*ret_first = images->damage;
	return images->damaged;
}

const husk_image *husk_images_get(const husk_images *images, size_t index)
{
	return images && index < images->count ? &images->images[index] : NULL;
}

const char *husk_image_name(const husk_image *image)
{
	return image ? image->image.name : NULL;
}

const char *husk_image_digest(const husk_image *image)
{
	return image ? image->digest : NULL;
}

const char *husk_image_manifest_digest(const husk_image *image)
{
	return image ? image->manifest : NULL;
}

const char *husk_image_platform(const husk_image *image)
{
	return image ? image->image.platform : NULL;
}

uint64_t husk_image_bytes(const husk_image *image)
{
	return image ? image->image.size : 0;
}

int64_t husk_image_added(const husk_image *image)
{
	return image ? image->image.added_s : 0;
}
