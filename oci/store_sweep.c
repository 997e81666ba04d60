/* SPDX-License-Identifier: Apache-2.0 */
/* What killed makers left in tmp/. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/store_own.h"

/* Only by its lock can a thing be told from one that is being made. 1 where
 * more than a lock was removed. */
static unsigned sweep_one(const struct store *store, const char *entry)
{
	static const char suffix[] = ".lock";
	char name[256], lock[256 + sizeof(suffix)];
	size_t size = strlen(entry);
	struct stat st;
	bool is_there;
	int fd;

	if (size >= sizeof(name) || strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0)
		return 0;
	(void)snprintf(name, sizeof(name), "%s", entry);
	if (size > sizeof(suffix) - 1 &&
	    strcmp(name + size - (sizeof(suffix) - 1), suffix) == 0)
		name[size - (sizeof(suffix) - 1)] = '\0';
	(void)snprintf(lock, sizeof(lock), "%s%s", name, suffix);
	fd = store_try_lock_file(store->part[STORE_TMP], lock);
	if (fd < 0)
		return 0;
	is_there = fstatat(store->part[STORE_TMP], name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	store_temp_drop(store, name, &fd);
	return is_there;
}

unsigned store_sweep(const struct store *store)
{
	int fd = store_open_dir_at(store->part[STORE_TMP], ".");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	unsigned removed = 0;

	if (!dir) {
		fd_close(&fd);
		return 0;
	}
	while ((entry = readdir(dir)) != NULL)
		removed += sweep_one(store, entry->d_name);
	(void)closedir(dir);
	return removed;
}
