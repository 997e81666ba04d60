/* SPDX-License-Identifier: Apache-2.0 */
/* A tar of a root file system as an image of one layer. */
#ifndef OCI_IMPORT_ROOTFS_H
#define OCI_IMPORT_ROOTFS_H

#include "oci/import_detect.h"
#include "oci/import_plan.h"

/* The file is the layer, byte for byte; config and manifest say no more than they must,
 * so that the same file is the same image everywhere. found stays in use by the plan. */
int import_rootfs_plan(struct import_found *found, const struct import_wanted *wanted,
		       struct import_plan *ret, struct husk_error *err);

#endif
