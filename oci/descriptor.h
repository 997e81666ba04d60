/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors as documents hold them (OCI image-spec, descriptor.md). */
#ifndef OCI_DESCRIPTOR_H
#define OCI_DESCRIPTOR_H

#include "oci/document.h"
#include "oci/manifest.h"

/* Read one; at is its place ("layers[3]"). The digest and the size must be there. */
int descriptor_read(const struct document *document, const char *at, const json_t *value,
		    struct descriptor *ret);

/* Read an array of them, at most max. *ret is heap, NULL where there are none. */
int descriptor_read_all(const struct document *document, const char *key,
			const json_t *array, size_t max, struct descriptor **ret,
			size_t *ret_count);

#endif
