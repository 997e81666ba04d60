/* SPDX-License-Identifier: Apache-2.0 */
/* From a manifest to an image in the store: the same for registries, layouts and
 * archives. Layers are received and unpacked side by side; what the store has is not
 * asked for; the name appears last. */
#ifndef OCI_FETCH_H
#define OCI_FETCH_H

#include "base/buffer.h"
#include "base/error.h"
#include "oci/blob.h"
#include "oci/manifest.h"
#include "oci/store.h"

#include <husk/image.h>

/* Where documents and blobs come from. Functions may be called from several threads. */
struct fetch_source {
	/* A manifest, index or config whole; its digest is checked by the caller too.
	 * content_type (128 bytes) may be left "". */
	int (*document)(void *user, const struct descriptor *what, struct buffer *ret,
			struct husk_error *err);
	/* Fill blob from blob_have on; ends with blob_finish or blob_fail (oci/blob.h).
	 */
	int (*blob)(void *user, const struct descriptor *what, struct blob *blob,
		    void (*progress)(void *progress_user, uint64_t bytes),
		    void *progress_user, struct husk_error *err);
	void *user;
};

struct fetch_options {
	const char *name; /* the normalised name to give; also in messages */
	struct platform platform;
	husk_progress_fn on_progress; /* may be NULL */
	void *progress_user;
	int cancel_fd; /* -1: none */
};

/* top: the document that the name stands for, whose bytes are top_data (digest checked by
 * the caller) and which is a manifest or an index (nested ones are followed, bounded by
 * OCI_MAX_INDEX_DEPTH). ret is what was put into the store. */
int fetch_image(struct store *store, const struct fetch_source *source,
		const struct descriptor *top, const struct buffer *top_data,
		const struct fetch_options *options, struct store_image *ret,
		struct husk_error *err);

#endif
