/* SPDX-License-Identifier: Apache-2.0 */
#include "session/files.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/memory.h"
#include "session/beneath.h"
#include "session/files_path.h"
#include "session/listing.h"
#include "session/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int fill(struct husk_listing *listing, const char *prefix,
		const struct snapshot *snapshot)
{
	const struct snapshot_file *files = snapshot_files(snapshot);
	int r = 0;

	for (uint32_t d = 0; d < snapshot->dir_count; d++) {
		const struct snapshot_dir *dir = snapshot_dirs(snapshot) + d;

		for (uint32_t i = 0; i < dir->file_count && r == 0; i++) {
			const struct snapshot_file *file = files + dir->first_file + i;

			r = listing_add(listing, prefix, snapshot, d,
					snapshot_name(snapshot, file->name), file->size,
					0);
		}
	}
	listing->cut |= snapshot->cut || snapshot_hides(snapshot);
	listing_sort(listing);
	return r;
}

static int list_dir(int fd, char *name, struct husk_listing *listing)
{
	const struct snapshot_how how = {.skip_deps = *name == '\0'};
	CLEANUP_FREE char *prefix = NULL;
	struct snapshot *snapshot;
	int r = snapshot_take(fd, &how, &snapshot);

	if (r < 0)
		return r;
	prefix = malloc(strlen(name) + 2);
	if (prefix) {
		size_t size = strlen(name);

		memcpy(prefix, name, size + 1);
		memcpy(prefix + size, size ? "/" : "", size ? 2 : 1);
	}
	r = !prefix ? -ENOMEM : -snapshot->root_errno;
	if (r == 0)
		r = fill(listing, prefix, snapshot);
	snapshot_unref(snapshot);
	return r;
}

int files_list(const struct workspace *workspace, const char *subdir,
	       struct husk_listing **ret_listing, struct husk_error *err)
{
	struct husk_listing *listing;
	CLEANUP_FREE char *name = NULL;
	CLEANUP_FD int fd = -1;
	int r = files_path_parse(workspace, subdir, true, &name, err);

	if (r < 0)
		return r;
	fd = beneath_open(workspace->fd, name, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return files_path_error(err, -fd, name, "listed");
	listing = listing_new();
	r = listing ? list_dir(fd, name, listing) : -ENOMEM;
	if (r < 0) {
		husk_listing_free(listing);
		return files_path_error(err, -r, name, "listed");
	}
	*ret_listing = listing;
	return 0;
}
