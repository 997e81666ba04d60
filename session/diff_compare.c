/* SPDX-License-Identifier: Apache-2.0 */
#include "session/diff_compare.h"

#include "base/memory.h"
#include "session/listing.h"
#include "session/snapshot.h"

#include <errno.h>
#include <string.h>

/* What is known of a directory of one snapshot in view of the other. */
enum {
	UNSEEN = 0, /* of before: it is not there any more */
	SEEN = 1,   /* both sides were read */
	UNSURE = 2  /* one side could not be read: nothing is said of anything below */
};

struct comparison {
	const struct snapshot *before;
	const struct snapshot *after;
	int64_t since;
	struct husk_listing *changes;
	unsigned char *before_state; /* by directory */
	unsigned char *after_state;
};

static const struct snapshot_dir *before_dir(const struct comparison *c, uint32_t dir)
{
	return snapshot_dirs(c->before) + dir;
}

static const struct snapshot_file *
before_file(const struct comparison *c, const struct snapshot_dir *dir, uint32_t index)
{
	return snapshot_files(c->before) + dir->first_file + index;
}

static const struct snapshot_file *
after_file(const struct comparison *c, const struct snapshot_dir *dir, uint32_t index)
{
	return snapshot_files(c->after) + dir->first_file + index;
}

static int add_created(struct comparison *c, uint32_t dir,
		       const struct snapshot_file *file)
{
	/* What was there before is not fully known: only a late ctime is proof. */
	if (c->before->cut && file->ctime < c->since)
		return 0;
	return listing_add(c->changes, "", c->after, dir,
			   snapshot_name(c->after, file->name), file->size,
			   HUSK_FILE_CREATED);
}

static int add_deleted(struct comparison *c, uint32_t dir,
		       const struct snapshot_file *file)
{
	if (c->after->cut)
		return 0;
	return listing_add(c->changes, "", c->before, dir,
			   snapshot_name(c->before, file->name), 0, HUSK_FILE_DELETED);
}

static int add_if_modified(struct comparison *c, uint32_t dir,
			   const struct snapshot_file *old,
			   const struct snapshot_file *file)
{
	bool same_inode = old->ino == file->ino;

	if (same_inode && old->ctime == file->ctime && old->mtime == file->mtime &&
	    old->size == file->size)
		return 0;
	/* Changed in place by the host, after the last walk and before the call. */
	if (same_inode && file->ctime < c->since)
		return 0;
	return listing_add(c->changes, "", c->after, dir,
			   snapshot_name(c->after, file->name), file->size,
			   HUSK_FILE_MODIFIED);
}

/* The files of a directory that is on both sides, or (twin SNAPSHOT_NONE) only after. */
static int compare_files(struct comparison *c, uint32_t dir, uint32_t twin)
{
	static const struct snapshot_dir none;
	const struct snapshot_dir *new = snapshot_dirs(c->after) + dir;
	const struct snapshot_dir *old =
	    twin == SNAPSHOT_NONE ? &none : before_dir(c, twin);
	uint32_t i = 0, j = 0;
	int r = 0;

	while (r == 0 && (i < new->file_count || j < old->file_count)) {
		int order = i >= new->file_count ? 1 : j >= old->file_count ? -1 : 0;

		if (order == 0)
			order = strcmp(
			    snapshot_name(c->after, after_file(c, new, i)->name),
			    snapshot_name(c->before, before_file(c, old, j)->name));
		if (order < 0)
			r = add_created(c, dir, after_file(c, new, i));
		else if (order > 0)
			r = add_deleted(c, twin, before_file(c, old, j));
		else
			r = add_if_modified(c, dir, before_file(c, old, j),
					    after_file(c, new, i));
		i += order <= 0;
		j += order >= 0;
	}
	return r;
}

/* Parents come before their directories in a snapshot, so one pass carries UNSURE down.
 */
static int compare_after(struct comparison *c)
{
	for (uint32_t d = 0; d < c->after->dir_count; d++) {
		const struct snapshot_dir *dir = snapshot_dirs(c->after) + d;
		const uint32_t twin = dir->twin;
		int r;

		if (dir->state == SNAPSHOT_GONE)
			continue;
		c->after_state[d] = SEEN;
		if (dir->state == SNAPSHOT_HIDDEN ||
		    (d > 0 && c->after_state[dir->parent] == UNSURE) ||
		    (twin != SNAPSHOT_NONE &&
		     before_dir(c, twin)->state == SNAPSHOT_HIDDEN))
			c->after_state[d] = UNSURE;
		if (twin != SNAPSHOT_NONE)
			c->before_state[twin] = c->after_state[d];
		if (c->after_state[d] == UNSURE)
			continue;
		r = compare_files(c, d, twin);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_deleted_dirs(struct comparison *c)
{
	for (uint32_t d = 0; d < c->before->dir_count; d++) {
		const struct snapshot_dir *dir = before_dir(c, d);

		if (d > 0 && c->before_state[d] == UNSEEN &&
		    c->before_state[dir->parent] == UNSURE)
			c->before_state[d] = UNSURE;
		if (c->before_state[d] != UNSEEN)
			continue;
		for (uint32_t i = 0; i < dir->file_count; i++) {
			int r = add_deleted(c, d, before_file(c, dir, i));

			if (r < 0)
				return r;
		}
	}
	return 0;
}

int diff_compare(const struct snapshot *before, const struct snapshot *after,
		 int64_t since, struct husk_listing *changes)
{
	CLEANUP_FREE unsigned char *state =
	    calloc(before->dir_count + after->dir_count, 1);
	struct comparison c = {
	    .before = before,
	    .after = after,
	    .since = since,
	    .changes = changes,
	    .before_state = state,
	    .after_state = state + before->dir_count,
	};
	int r;

	if (!state)
		return -ENOMEM;
	r = compare_after(&c);
	if (r == 0)
		r = add_deleted_dirs(&c);
	changes->cut |= before->cut || after->cut || snapshot_hides(after);
	listing_sort(changes);
	return r;
}
