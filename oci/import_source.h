/* SPDX-License-Identifier: Apache-2.0 */
/* A source for fetch_image (oci/fetch.h) over files: the blobs of a layout by their
 * digests, and what else an importer puts in, from memory or from a file. */
#ifndef OCI_IMPORT_SOURCE_H
#define OCI_IMPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "oci/digest.h"
#include "oci/fetch.h"
#include "oci/members.h"

/* One thing that is found by its digest rather than by a layout's path. */
struct source_item {
	struct digest digest;
	const char *data; /* borrowed; NULL: the member's bytes */
	size_t size;
	struct member member; /* borrowed */
};

struct import_source {
	const struct members *layout;	 /* NULL: there are only the items */
	const struct source_item *items; /* borrowed */
	size_t count;
	const char *path; /* for messages */
	int cancel_fd;	  /* -1: none */
};

/* The functions; user points at source, which must stay where it is. */
struct fetch_source import_source_use(struct import_source *source);

/* Is fd readable: the caller wants to stop. */
bool import_stopped(int cancel_fd);

/* Where a layout keeps a blob: "blobs/sha256/HEX". */
enum { BLOB_PATH = 6 + 7 + DIGEST_HEX };
void import_blob_path(const struct digest *digest, char path[BLOB_PATH]);

#endif
