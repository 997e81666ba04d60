/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of `docker save`: manifest.json names for each image its config, its names
 * (RepoTags) and its layers, uncompressed tars (moby's image spec v1.2). */
#ifndef OCI_IMPORT_DOCKER_H
#define OCI_IMPORT_DOCKER_H

#include <stdbool.h>

#include "oci/import_plan.h"
#include "oci/members.h"

/* Is its manifest.json one of images, or some other file of that name. */
int import_docker_looks_like(const struct members *members, bool *ret,
			     struct husk_error *err);

/* The images that are wanted, ready to be fetched. */
int import_docker_plan(const struct members *members, const struct import_wanted *wanted,
		       struct import_plan *ret, struct husk_error *err);

#endif
