/* SPDX-License-Identifier: Apache-2.0 */
#include "session/snapshot.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct snapshot *snapshot_new(const struct snapshot *old)
{
	const size_t entries = (size_t)SNAPSHOT_ENTRIES_MAX + 1;
	struct snapshot *snap = calloc(1, sizeof(*snap));

	if (!snap)
		return NULL;
	snap->refs = 1;
	snap->max = SNAPSHOT_ENTRIES_MAX;
	snap->until = INT64_MAX;
	snap->newest = INT64_MIN;
	snap->dirs = BUFFER_INIT(entries * sizeof(struct snapshot_dir));
	snap->files = BUFFER_INIT(entries * sizeof(struct snapshot_file));
	snap->names = BUFFER_INIT(SNAPSHOT_NAMES_MAX);
	/* Most trees stay as large as they were. (Where there is no room: the first
	 * addition says so.) */
	if (old) {
		(void)buffer_reserve(&snap->dirs, old->dirs.size);
		(void)buffer_reserve(&snap->files, old->files.size);
		(void)buffer_reserve(&snap->names, old->names.size);
	}
	return snap;
}

int snapshot_full(struct snapshot *snapshot)
{
	snapshot->cut = true;
	return -EFBIG;
}

/* The clock is looked at now and then: entries come at a microsecond each. */
static bool is_late(struct snapshot *snap)
{
	enum { OFTEN = 256 };

	return ++snap->added % OFTEN == 0 && clock_ns() >= snap->until;
}

static int add_name(struct snapshot *snap, const char *name, uint32_t *ret)
{
	size_t at = snap->names.size;
	int r;

	if (snap->dir_count + snap->file_count >= snap->max || is_late(snap))
		return snapshot_full(snap);
	r = buffer_add(&snap->names, name, strlen(name) + 1);
	if (r == -EFBIG)
		return snapshot_full(snap);
	*ret = (uint32_t)at;
	return r;
}

int snapshot_add_dir(struct snapshot *snapshot, uint32_t parent, const char *name,
		     uint32_t twin)
{
	struct snapshot_dir dir = {
	    .parent = parent, .twin = twin, .state = SNAPSHOT_GONE};
	int r = add_name(snapshot, name, &dir.name);

	if (r == 0)
		r = buffer_add(&snapshot->dirs, &dir, sizeof(dir));
	if (r == 0)
		snapshot->dir_count++;
	return r;
}

int snapshot_add_file(struct snapshot *snapshot, const char *name,
		      struct snapshot_file *file)
{
	int r = add_name(snapshot, name, &file->name);

	if (r == 0)
		r = buffer_add(&snapshot->files, file, sizeof(*file));
	if (r < 0)
		return r;
	snapshot->file_count++;
	if (file->ctime > snapshot->newest)
		snapshot->newest = file->ctime;
	return 0;
}

bool snapshot_hides(const struct snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->dir_count; i++) {
		if (snapshot_dirs(snapshot)[i].state == SNAPSHOT_HIDDEN)
			return true;
	}
	return false;
}

struct snapshot *snapshot_unref(struct snapshot *snapshot)
{
	if (!snapshot || --snapshot->refs > 0)
		return NULL;
	buffer_deinit(&snapshot->dirs);
	buffer_deinit(&snapshot->files);
	buffer_deinit(&snapshot->names);
	free(snapshot);
	return NULL;
}

int snapshot_add_path(const struct snapshot *snapshot, uint32_t dir, struct buffer *path)
{
	const struct snapshot_dir *dirs = snapshot_dirs(snapshot);
	size_t size = 0;
	char *at;

	for (uint32_t d = dir; d != 0; d = dirs[d].parent) {
		size += strlen(snapshot_name(snapshot, dirs[d].name)) + 1;
		if (size > path->max - path->size)
			return -EFBIG;
	}
	at = buffer_reserve(path, size);
	if (!at)
		return -ENOMEM;
	path->size += size;
	for (uint32_t d = dir; d != 0; d = dirs[d].parent) {
		const char *name = snapshot_name(snapshot, dirs[d].name);
		size_t n = strlen(name);

		size -= n + 1;
		memcpy(at + size, name, n);
		at[size + n] = '/';
	}
	path->data[path->size] = '\0';
	return 0;
}
