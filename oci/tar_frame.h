/* SPDX-License-Identifier: Apache-2.0 */
/* Our own view of where a tar's entries are and what they are called (POSIX pax; GNU tar
 * 1.34 where it goes further). It looks at the stream before libarchive does. Two readers
 * that disagree on where a header is can be made to see different files: oci/tar.c
 * refuses a layer where libarchive's view is not this one. Names come from here, because
 * libarchive converts them by the locale. */
#ifndef OCI_TAR_FRAME_H
#define OCI_TAR_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "oci/tar_header.h"
#include "oci/tar_pax.h"

enum {
	TAR_MAX_EXTENSION = 1 << 20, /* bytes of one pax or long-name record */
};

/* One entry. */
struct tar_member {
	uint64_t position; /* of its first header, extensions included */
	char type;
	char *path; /* heap, the link's target behind it */
	char *link; /* inside path's memory; "" where there is none */
	struct tar_member *next;
};

struct tar_frame {
	const char *where;
	uint64_t at; /* bytes taken so far */
	enum { FRAME_HEADER, FRAME_EXTENSION, FRAME_SPARSE, FRAME_SKIP, FRAME_END } state;
	unsigned char block[TAR_BLOCK];
	size_t filled;	/* of block */
	uint64_t skip;	/* bytes of content and padding still to come */
	uint64_t after; /* what skip becomes once the sparse headers are through */
	size_t padding; /* how many of the last bytes to skip only fill up the block */
	uint64_t stored, mapped; /* bytes of a sparse file: told, and counted */
	char extension;		 /* type of the record that is being collected */
	size_t extension_size;
	struct buffer collected;

	/* What the extension headers said about the entry to come. */
	bool begun, have_pax, have_size;
	uint64_t position, size;
	struct buffer path, link; /* size 0: not told */
	int path_from;		  /* how strong: 1 long name, 2 pax, 3 pax sparse name */
	int link_from;
	struct pax_sparse sparse;

	struct tar_member *first, **last; /* found, not taken yet */
	uint64_t count;
};

void tar_frame_init(struct tar_frame *frame, const char *where);
void tar_frame_deinit(struct tar_frame *frame);
/* HUSK_E_IMAGE, HUSK_E_TOO_BIG, HUSK_E_MEMORY. */
int tar_frame_feed(struct tar_frame *frame, const void *data, size_t size,
		   struct husk_error *err);
/* The stream has ended: how many zero bytes fill up the last block, where nothing but
 * they are missing? Some writers (umoci) leave them out, and the end marker. */
size_t tar_frame_missing(const struct tar_frame *frame);
/* The stream has ended: in the middle of something? */
int tar_frame_finish(const struct tar_frame *frame, struct husk_error *err);
/* The next entry, the caller's; NULL where none was found yet. */
struct tar_member *tar_frame_take(struct tar_frame *frame);
struct tar_member *tar_member_free(struct tar_member *member);

#endif
