/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the door that its files share. */
#ifndef OCI_OCI_GET_H
#define OCI_OCI_GET_H

#include "oci/oci.h"
#include "oci/place.h"

/* Fill in fetch options from the caller's. HUSK_E_INVALID for a malformed platform. */
int oci_fetch_options(const struct husk_image_options *options, int cancel_fd,
		      struct fetch_options *ret, struct husk_error *err);

/* Get the image into the store (open for writing): from its registry or its file. What a
 * digest names and the store has is not asked for again. */
int oci_pull_into(struct store *store, const struct target *target,
		  const struct husk_image_options *options, int cancel_fd,
		  struct store_image *ret, struct husk_error *err);

/* An image's documents, from the store: the manifest and the config's bytes. */
int oci_read_documents(struct store *store, const struct store_image *image,
		       struct manifest *ret_manifest, struct buffer *ret_config,
		       struct husk_error *err);

/* What oci_inspect says. */
int oci_describe(struct store *store, const struct store_image *image, char **ret_json,
		 struct husk_error *err);

#endif
