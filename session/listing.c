/* SPDX-License-Identifier: Apache-2.0 */
#include "session/listing.h"

#include "session/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct husk_listing *listing_new(void)
{
	struct husk_listing *listing = calloc(1, sizeof(*listing));

	if (!listing)
		return NULL;
	listing->entries =
	    BUFFER_INIT((SNAPSHOT_ENTRIES_MAX + (size_t)SNAPSHOT_ENTRIES_MAX) *
			sizeof(struct listing_entry));
	listing->paths = BUFFER_INIT(LISTING_PATHS_MAX);
	return listing;
}

int husk_listing_complete(const husk_listing *listing)
{
	return !listing || !listing->cut;
}

struct husk_listing *husk_listing_free(struct husk_listing *listing)
{
	if (!listing)
		return NULL;
	buffer_deinit(&listing->entries);
	buffer_deinit(&listing->paths);
	free(listing);
	return NULL;
}

static int add_path(struct buffer *paths, const char *prefix,
		    const struct snapshot *snapshot, uint32_t dir, const char *name)
{
	int r = buffer_add_text(paths, prefix);

	if (r == 0)
		r = snapshot_add_path(snapshot, dir, paths);
	if (r == 0)
		r = buffer_add(paths, name, strlen(name) + 1);
	return r;
}

int listing_add(struct husk_listing *listing, const char *prefix,
		const struct snapshot *snapshot, uint32_t dir, const char *name,
		uint64_t size, int change)
{
	struct listing_entry entry = {
	    .size = size,
	    .path = (uint32_t)listing->paths.size,
	    .change = change,
	};
	int r;

	if (listing->cut)
		return 0;
	r = add_path(&listing->paths, prefix, snapshot, dir, name);
	if (r == 0)
		r = buffer_add(&listing->entries, &entry, sizeof(entry));
	if (r == 0)
		listing->count++;
	else
		listing->paths.size = entry.path;
	if (r != -EFBIG)
		return r;
	listing->cut = true;
	return 0;
}

static int by_path(const void *a, const void *b, void *paths)
{
	const struct listing_entry *x = a, *y = b;

	return strcmp((const char *)paths + x->path, (const char *)paths + y->path);
}

void listing_sort(struct husk_listing *listing)
{
	if (listing->count > 1)
		qsort_r(listing->entries.data, listing->count,
			sizeof(struct listing_entry), by_path, listing->paths.data);
}

size_t husk_listing_count(const struct husk_listing *listing)
{
	return listing ? listing->count : 0;
}

const char *husk_listing_path(const struct husk_listing *listing, size_t index)
{
	if (index >= husk_listing_count(listing))
		return NULL;
	return listing->paths.data + listing_at(listing, index)->path;
}

uint64_t husk_listing_size(const struct husk_listing *listing, size_t index)
{
	return index < husk_listing_count(listing) ? listing_at(listing, index)->size : 0;
}
