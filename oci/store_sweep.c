/* SPDX-License-Identifier: Apache-2.0 */
/* What killed makers left in tmp/. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/store_own.h"

/* Only by its lock can a thing be told from one that is being made. */
static void sweep_one(const struct store *store, const char *entry)
{
	static const char suffix[] = ".lock";
	char name[256], lock[256 + sizeof(suffix)];
	size_t size = strlen(entry);
	int fd;

	if (size >= sizeof(name) || strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0)
		return;
	(void)snprintf(name, sizeof(name), "%s", entry);
	if (size > sizeof(suffix) - 1 &&
	    strcmp(name + size - (sizeof(suffix) - 1), suffix) == 0)
		name[size - (sizeof(suffix) - 1)] = '\0';
	(void)snprintf(lock, sizeof(lock), "%s%s", name, suffix);
	fd = store_try_lock_file(store->part[STORE_TMP], lock);
	if (fd >= 0)
		store_temp_drop(store, name, &fd);
}

void store_sweep(const struct store *store)
{
	int fd = store_open_dir_at(store->part[STORE_TMP], ".");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		fd_close(&fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL)
		sweep_one(store, entry->d_name);
	(void)closedir(dir);
}
