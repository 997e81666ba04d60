/* SPDX-License-Identifier: Apache-2.0 */
/* The two formats of an export; oci/import.h has the function that chooses. */
#ifndef OCI_EXPORT_H
#define OCI_EXPORT_H

#include "base/error.h"
#include "oci/manifest.h"
#include "oci/store.h"
#include "oci/tar_write.h"

struct export
{
	struct store *store;
	const struct store_image *image;
	const char *path; /* for messages */
	int cancel_fd;
	struct tar_out out;
	struct manifest manifest;
};

int export_oci(struct export *export, struct husk_error *err);
int export_docker(struct export *export, struct husk_error *err);

/* The image's name without a digest, as a whole ("docker.io/library/a:1") or as people
 * write it ("a:1"); "" where it is no name of a registry or has no tag. */
enum { EXPORT_NAME = 1024 };
void export_name(const struct export *export, bool familiar, char ret[EXPORT_NAME]);

#endif
