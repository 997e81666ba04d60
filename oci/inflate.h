/* SPDX-License-Identifier: Apache-2.0 */
/* A stream made plain while it comes: gzip (with several members), zstd (with several and
 * with skippable frames), or what was plain already. Checksums and lengths are verified,
 * and what comes out is bounded, absolutely and in proportion to what went in. */
#ifndef OCI_INFLATE_H
#define OCI_INFLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "oci/manifest.h"

struct inflate_source {
	/* The count, 0 at the end, negative with err filled in. */
	ssize_t (*read)(void *user, void *data, size_t size, struct husk_error *err);
	void *user;
	enum compression compression; /* a body that is something else is refused */
	const char *where;	      /* in messages; must live as long as the stream */
	uint64_t max; /* bytes that may come out; 0: OCI_MAX_LAYER_BYTES */
	/* The memory is shared with all others that say so, and waited for. Not for who
	 * has another stream of that kind open: it would wait for itself. */
	bool shares_memory;
	/* Called now and then while it is waited for, with the bytes that have come out;
	 * may be NULL. Not 0: HUSK_E_CANCELLED. */
	int (*waiting)(void *user, uint64_t done);
};

struct inflate;
int inflate_new(const struct inflate_source *source, struct inflate **ret,
		struct husk_error *err);
/* Fill data; fewer than size only at the end, 0 after it. HUSK_E_IMAGE where the stream
 * is cut or damaged, HUSK_E_TOO_BIG, or what the source failed with. */
ssize_t inflate_read(struct inflate *inflate, void *data, size_t size,
		     struct husk_error *err);
/* What the stream turned out to be; known after the first inflate_read. */
enum compression inflate_kind(const struct inflate *inflate);
struct inflate *inflate_free(struct inflate *inflate);

#endif
