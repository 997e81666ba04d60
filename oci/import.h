/* SPDX-License-Identifier: Apache-2.0 */
/* Images from files: an OCI layout (directory or tar), an archive of docker save, a tar
 * of a root file system. And back. */
#ifndef OCI_IMPORT_H
#define OCI_IMPORT_H

#include <stdint.h>

#include "base/error.h"
#include "oci/fetch.h"
#include "oci/store.h"

enum import_format {
	IMPORT_ANY, /* find out from the content */
	IMPORT_OCI_DIRECTORY,
	IMPORT_OCI_ARCHIVE,
	IMPORT_DOCKER_ARCHIVE,
	IMPORT_ROOTFS,
};

struct import_options {
	enum import_format format;
	const char *tag;  /* which image of the source ("oci:PATH:TAG"); NULL: the one
			   * there  is, or all where name is NULL too */
	const char *name; /* NULL: the names that the source has */
	struct fetch_options fetch; /* fetch.name is ignored */
};

/* *ret: heap, the images that were put into the store. */
int import_path(struct store *store, const char *path,
		const struct import_options *options, struct store_image **ret,
		size_t *ret_count, struct husk_error *err);

/* Write an image to path, by a temporary file beside it and rename. format: enum
 * husk_image_format. */
int export_path(struct store *store, const struct store_image *image, const char *path,
		int32_t format, int cancel_fd, struct husk_error *err);

#endif
