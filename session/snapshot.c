/* SPDX-License-Identifier: Apache-2.0 */
#include "session/snapshot.h"

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
