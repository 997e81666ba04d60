/* SPDX-License-Identifier: Apache-2.0 */
#include "session/setup_evict.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <husk/setup.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/fd.h"
#include "session/beneath.h"
#include "session/remove.h"
#include "session/setup_cache.h"
#include "session/walk.h"
#include "session/workspace_temp.h"

enum { KEPT_MAX = 16 << 20 };

struct kept {
	char key[SETUP_KEY_SIZE];
	uint64_t bytes;
	struct timespec used;
};

static bool is_key(const char *name)
{
	return strlen(name) == SETUP_KEY_SIZE - 1 &&
	       strspn(name, "0123456789abcdef") == SETUP_KEY_SIZE - 1;
}

/* One without a size that can be read counts as nothing, and goes in its turn. */
static int look(const struct setup_cache *cache, const char *name, struct buffer *all)
{
	CLEANUP_FD int fd = beneath_open_dir(cache->fd, name, O_RDONLY);
	struct kept kept = {.bytes = 0};
	char text[32];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	memcpy(kept.key, name, SETUP_KEY_SIZE);
	kept.used = st.st_mtim;
	if (fd_read_text(fd, "size", text, sizeof(text)) > 0)
		kept.bytes = strtoull(text, NULL, 10);
	return buffer_add(all, &kept, sizeof(kept));
}

static int look_at_all(const struct setup_cache *cache, struct buffer *all)
{
	CLEANUP_WALK struct walk walk = WALK_INIT;
	struct walk_entry entry;
	int r = walk_init(&walk, cache->fd, false);

	while (r == 0 && (r = walk_next(&walk, &entry)) > 0)
		r = is_key(entry.name) ? look(cache, entry.name, all) : 0;
	return r;
}

static int compare_use(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->key, y->key);
}

/* Nobody who comes later finds it under its name, and a removal that is cut short is
 * finished by the next sweep: the tree takes the place of an empty directory with a
 * temporary name. */
static bool drop(const struct setup_cache *cache, const char *key)
{
	CLEANUP_FD int fd = beneath_open_dir(cache->fd, key, O_RDONLY);
	CLEANUP_FD int empty = -1;
	char name[WORKSPACE_NAME_SIZE];
	struct remove_report report;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	if (workspace_temp_make(cache->fd, name, &empty) < 0)
		return false;
	if (renameat(cache->fd, key, cache->fd, name) < 0) {
		(void)unlinkat(cache->fd, name, AT_REMOVEDIR);
		return false;
	}
	return workspace_temp_remove(cache->fd, name, fd, &report) == 0;
}

struct setup_evicted setup_evict(const struct setup_cache *cache, const char *keep)
{
	struct buffer all CLEANUP_BUFFER = BUFFER_INIT(KEPT_MAX);
	struct setup_evicted gone = {.trees = 0};
	struct kept *kept;
	uint64_t total = 0;
	size_t count;

	(void)look_at_all(cache, &all);
	kept = (struct kept *)(void *)all.data;
	count = all.size / sizeof(*kept);
	for (size_t i = 0; i < count; i++)
		total += kept[i].bytes;
	if (count > 1)
		qsort(kept, count, sizeof(*kept), compare_use);
	/* With no room at all, those go too whose size cannot be told. */
	for (size_t i = 0; (total > cache->max || cache->max == 0) && i < count; i++) {
		if (strcmp(kept[i].key, keep) == 0 || !drop(cache, kept[i].key))
			continue;
		total -= kept[i].bytes;
		gone.trees++;
		gone.bytes += kept[i].bytes;
	}
	return gone;
}

int husk_setup_prune(const char *cache_dir, uint64_t keep_bytes, uint64_t *ret_trees,
		     uint64_t *ret_bytes, struct husk_error *err)
{
	struct setup_cache cache = SETUP_CACHE_INIT;
	struct setup_evicted gone = {.trees = 0};
	struct stat st;
	int r = 0;

	if (!cache_dir || cache_dir[0] != '/')
		return error_set(err, HUSK_E_INVALID, "setup cache",
				 "\"%.100s\" is not an absolute path",
				 cache_dir ? cache_dir : "");
	if (fstatat(AT_FDCWD, cache_dir, &st, 0) == 0)
		r = setup_cache_open(cache_dir, keep_bytes, &cache, err);
	if (r < 0)
		return r;
	if (cache.fd >= 0)
		gone = setup_evict(&cache, "");
	setup_cache_close(&cache);
	if (ret_trees)
		*ret_trees = gone.trees;
	if (ret_bytes)
		*ret_bytes = gone.bytes;
	return 0;
}
