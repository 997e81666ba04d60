/* SPDX-License-Identifier: Apache-2.0 */
/* The decompressors behind oci/inflate.c, one interface over each library. */
#ifndef OCI_INFLATE_CODEC_H
#define OCI_INFLATE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What there is to read and where to write; both move on. */
struct inflate_window {
	const unsigned char *in;
	size_t in_size;
	unsigned char *out;
	size_t out_size;
};

enum inflate_step {
	INFLATE_MORE, /* in the middle of a member or frame */
	INFLATE_END,  /* one has ended, its checksum is right */
	INFLATE_BAD,
};

struct inflate_codec {
	const char *name;
	int (*begin)(void **ret, const char *where, struct husk_error *err);
	/* The memory that the member or frame needs that begins so; NULL: so little that
	 * it does not count. */
	uint64_t (*wants)(const unsigned char *head, size_t size);
	/* Ready for the next member or frame. */
	void (*again)(void *state);
	/* reason: of INFLATE_BAD. */
	enum inflate_step (*step)(void *state, struct inflate_window *window,
				  const char **reason);
	void (*end)(void *state);
};

extern const struct inflate_codec inflate_isal, inflate_zlib, inflate_zstd;

#endif
