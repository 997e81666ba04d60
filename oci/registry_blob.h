/* SPDX-License-Identifier: Apache-2.0 */
/* For oci/registry.c: one blob from one place into the store, from what is there on. */
#ifndef OCI_REGISTRY_BLOB_H
#define OCI_REGISTRY_BLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "oci/blob.h"
#include "oci/endpoint.h"
#include "oci/manifest.h"

struct blob_transfer {
	const char *repository;
	const struct descriptor *what;
	struct blob *blob;
	void (*progress)(void *user, uint64_t bytes); /* may be NULL */
	void *user;
	bool no_range;	/* a part was asked for in vain */
	uint64_t asked; /* from where on the last time */
	bool failed;	/* the store's side failed: no other place would help */
};

/* All bytes are there after it; the blob is not finished. */
int blob_transfer_run(struct blob_transfer *transfer, struct endpoint *endpoint,
		      struct husk_error *err);

/* Is it what was asked for: a part that begins at from, of size in all? */
bool content_range_fits(const char *value, uint64_t from, uint64_t size);

#endif
