/* SPDX-License-Identifier: Apache-2.0 */
/* OCI layouts, as a directory or as an archive (OCI image-spec, image-layout.md). */
#ifndef OCI_IMPORT_LAYOUT_H
#define OCI_IMPORT_LAYOUT_H

#include "oci/import_plan.h"
#include "oci/members.h"

/* The images that are wanted, ready to be fetched. */
int import_layout_plan(const struct members *members, const struct import_wanted *wanted,
		       struct import_plan *ret, struct husk_error *err);

#endif
