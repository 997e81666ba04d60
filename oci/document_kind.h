/* SPDX-License-Identifier: Apache-2.0 */
/* What a document is, from what it says and from its shape. */
#ifndef OCI_DOCUMENT_KIND_H
#define OCI_DOCUMENT_KIND_H

#include "oci/document.h"
#include "oci/manifest.h"

/* MEDIA_MANIFEST or MEDIA_INDEX, as document_kind of oci/manifest.h. */
int document_kind_of(const struct document *document, const json_t *top, const char *type,
		     enum media_kind *ret);

#endif
