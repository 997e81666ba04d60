/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/store_own.h"
#include "oci/unpack.h"

int store_gone_init(const struct store *store, struct store_gone *ret)
{
	int tmp = store->part[STORE_TMP], r = 0;

	*ret = (struct store_gone){.store = store, .dir = -1};
	ret->lock = store_temp_take(store, ret->name);
	if (ret->lock < 0)
		return ret->lock;
	if (mkdirat(tmp, ret->name, 0700) < 0)
		r = -errno;
	if (r == 0)
		r = ret->dir = store_open_dir_at(tmp, ret->name);
	if (r < 0)
		store_temp_drop(store, ret->name, &ret->lock);
	return r < 0 ? r : 0;
}

/* A letter that sorts as they are to be removed: with the roots their links to the files
 * of layers go, so that those count once. */
static char letter(enum store_part part)
{
	return part == STORE_ROOTS ? 'r' : part == STORE_LAYERS ? 'l' : 'b';
}

int store_gone_add(struct store_gone *gone, enum store_part part, const char *name)
{
	char to[256 + 32];

	(void)snprintf(to, sizeof(to), "%c%d-%s", letter(part), (int)part, name);
	if (renameat(gone->store->part[part], name, gone->dir, to) < 0)
		return -errno;
	gone->count++;
	return 0;
}

static uint64_t remove_those(const struct store_gone *gone, char which)
{
	int fd = store_open_dir_at(gone->dir, ".");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint64_t bytes = 0;

	if (!dir) {
		fd_close(&fd);
		return 0;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != which)
			continue;
		bytes += store_weigh(gone->dir, entry->d_name);
		if (unlinkat(gone->dir, entry->d_name, 0) < 0 && errno == EISDIR)
			(void)tree_remove(gone->dir, entry->d_name);
	}
	(void)closedir(dir);
	return bytes;
}

uint64_t store_gone_deinit(struct store_gone *gone)
{
	uint64_t bytes = 0;

	for (const char *which = "rlb"; *which; which++)
		bytes += remove_those(gone, *which);
	fd_close(&gone->dir);
	store_temp_drop(gone->store, gone->name, &gone->lock);
	return bytes;
}
