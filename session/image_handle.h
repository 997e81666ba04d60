/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind husk_image and husk_images. */
#ifndef SESSION_IMAGE_HANDLE_H
#define SESSION_IMAGE_HANDLE_H

#include <husk/image.h>

#include "oci/oci.h"

struct husk_image {
	struct store_image image;
	char digest[DIGEST_TEXT];
	char manifest[DIGEST_TEXT];
};

struct husk_images {
	size_t damaged;		  /* names that are not in it */
	struct husk_error damage; /* the first of them */
	size_t count;
	struct husk_image images[];
};

/* Make a handle of what the store says; *from is taken over also on failure. */
int image_handle_new(struct store_image *from, husk_image **ret, struct husk_error *err);
/* The same for an array of them on the heap. */
int image_list_new(struct store_image *from, size_t count, husk_images **ret,
		   struct husk_error *err);

#endif
