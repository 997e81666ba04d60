/* SPDX-License-Identifier: Apache-2.0 */
/* A list of files of the workspace with, after a call, how each was changed.
 *
 * Bounded: the paths of one listing take at most LISTING_PATHS_MAX bytes together,
 * whatever tree a box has built; what does not fit any more is left out, and the listing
 * is marked as cut. (A chain of 50,000 directories with a file in each would be 2.5 GB of
 * paths.) */
#ifndef SESSION_LISTING_H
#define SESSION_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <husk/session.h>

#include "base/buffer.h"

#define LISTING_PATHS_MAX (UINT32_C(64) << 20)

struct listing_entry {
	uint64_t size;
	uint32_t path;	/* where in husk_listing.paths */
	int32_t change; /* enum husk_change, or 0 */
};

struct husk_listing {
	struct buffer entries; /* of struct listing_entry */
	struct buffer paths;
	size_t count;
	bool cut; /* there is, or may be, more than is listed */
};

struct snapshot;

/* NULL where there is no memory. */
struct husk_listing *listing_new(void);

/* Add the file `name` of the directory `dir` of a snapshot, its path prefixed with
 * prefix. Where the bound is reached: nothing is added, cut is set, and 0 returned.
 * -ENOMEM. */
int listing_add(struct husk_listing *listing, const char *prefix,
		const struct snapshot *snapshot, uint32_t dir, const char *name,
		uint64_t size, int change);

/* Sort by the bytes of the paths. */
void listing_sort(struct husk_listing *listing);

/* Entry by index, which must be less than count. */
static inline const struct listing_entry *listing_at(const struct husk_listing *listing,
						     size_t index)
{
	return (const struct listing_entry *)(const void *)listing->entries.data + index;
}

#endif
