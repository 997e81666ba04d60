/* SPDX-License-Identifier: Apache-2.0 */
#include "session/setup_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "session/beneath.h"
#include "session/remove.h"
#include "session/setup_evict.h"
#include "session/tree.h"
#include "session/walk.h"
#include "session/workspace_temp.h"

static const char where[] = "setup cache";
static const char lock_ending[] = ".lock";

enum { LOCK_TRIES = 16 };

/* Only its owner may write to it: who can write there decides what sessions import. */
static int check_owner(int fd, struct husk_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_sys(err, errno, where, "cannot look at it");
	if (st.st_uid == geteuid() && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	error_set(err, HUSK_E_INVALID, where,
		  "its directory belongs to, or is open to changes by, somebody else");
	error_hint(err, "give it to this user with mode 0700, or name another directory");
	return HUSK_E_INVALID;
}

/* A maker that was killed gave its lock up, but not the file. */
static void sweep_locks(const struct setup_cache *cache)
{
	CLEANUP_WALK struct walk walk = WALK_INIT;
	struct walk_entry entry;
	char key[SETUP_KEY_SIZE];

	if (walk_init(&walk, cache->fd, false) < 0)
		return;
	while (walk_next(&walk, &entry) > 0) {
		int lock;

		if (strlen(entry.name) != SETUP_KEY_SIZE - 1 + strlen(lock_ending) ||
		    strcmp(entry.name + SETUP_KEY_SIZE - 1, lock_ending) != 0)
			continue;
		memcpy(key, entry.name, sizeof(key) - 1);
		key[sizeof(key) - 1] = '\0';
		lock = setup_cache_try_lock(cache, key);
		setup_cache_unlock(cache, key, &lock);
	}
}

int setup_cache_open(const char *dir, uint64_t max, struct setup_cache *ret,
		     struct husk_error *err)
{
	struct workspace top = WORKSPACE_INIT;
	CLEANUP_FD int fd = -1;
	char self[64];
	int r;

	if (workspace_open(dir, NULL, &top, NULL) < 0)
		return 0;
	if (mkdirat(top.fd, "setup", 0700) == 0 || errno == EEXIST)
		fd = openat(top.fd, "setup",
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	(void)workspace_deinit(&top, NULL);
	if (fd < 0)
		return 0;
	r = check_owner(fd, err);
	if (r < 0)
		return r;
	/* What killed makers left. */
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	(void)workspace_sweep(self);
	ret->fd = fd_take(&fd);
	ret->max = max;
	sweep_locks(ret);
	return 0;
}

void setup_cache_close(struct setup_cache *cache)
{
	fd_close(&cache->fd);
}

/* Whether `name` still is what is open as fd. */
static bool in_place(const struct setup_cache *cache, const char *name, int fd)
{
	struct stat by_name, by_fd;

	return fstatat(cache->fd, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstat(fd, &by_fd) == 0 && by_name.st_dev == by_fd.st_dev &&
	       by_name.st_ino == by_fd.st_ino;
}

int setup_cache_find(const struct setup_cache *cache, const char *key,
		     struct setup_entry *ret)
{
	struct setup_entry entry = SETUP_ENTRY_INIT;
	int r = 1;

	entry.fd = beneath_open_dir(cache->fd, key, O_RDONLY);
	if (entry.fd < 0)
		return entry.fd == -ENOENT ? 0 : entry.fd;
	/* Who removes it has the lock, and then it is as good as gone. */
	if (flock(entry.fd, LOCK_SH | LOCK_NB) < 0 || !in_place(cache, key, entry.fd))
		r = 0;
	if (r == 1) {
		entry.deps = beneath_open_dir(entry.fd, "deps", O_RDONLY);
		if (entry.deps < 0)
			r = entry.deps;
	}
	if (r <= 0) {
		setup_entry_deinit(&entry);
		return r;
	}
	(void)futimens(entry.fd, NULL);
	*ret = entry;
	return 1;
}

void setup_entry_deinit(struct setup_entry *entry)
{
	fd_close(&entry->deps);
	fd_close(&entry->fd);
}

static void lock_name(const char *key, char name[SETUP_KEY_SIZE + 8])
{
	(void)snprintf(name, SETUP_KEY_SIZE + 8, "%s%s", key, lock_ending);
}

/* The file goes with the lock, so what was locked may not be the file any more. */
int setup_cache_try_lock(const struct setup_cache *cache, const char *key)
{
	char name[SETUP_KEY_SIZE + 8];

	lock_name(key, name);
	for (int i = 0; i < LOCK_TRIES; i++) {
		CLEANUP_FD int fd = openat(
		    cache->fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			return -errno;
		if (in_place(cache, name, fd))
			return fd_take(&fd);
	}
	return -EWOULDBLOCK;
}

void setup_cache_unlock(const struct setup_cache *cache, const char *key, int *lock)
{
	char name[SETUP_KEY_SIZE + 8];

	if (*lock < 0)
		return;
	lock_name(key, name);
	(void)unlinkat(cache->fd, name, 0);
	fd_close(lock);
}

int setup_stage_new(const struct setup_cache *cache, struct setup_stage *ret)
{
	struct setup_stage stage = SETUP_STAGE_INIT;
	int r = workspace_temp_make(cache->fd, stage.name, &stage.fd);

	if (r < 0)
		return r;
	if (mkdirat(stage.fd, "deps", 0755) < 0)
		r = -errno;
	if (r == 0) {
		stage.deps = beneath_open_dir(stage.fd, "deps", O_RDONLY);
		r = stage.deps < 0 ? stage.deps : 0;
	}
	if (r < 0) {
		setup_stage_remove(cache, &stage);
		return r;
	}
	*ret = stage;
	return 0;
}

void setup_stage_remove(const struct setup_cache *cache, struct setup_stage *stage)
{
	struct remove_report report;

	if (stage->fd < 0)
		return;
	fd_close(&stage->deps);
	(void)workspace_temp_remove(cache->fd, stage->name, stage->fd, &report);
	fd_close(&stage->fd);
}

/* -- sealing --------------------------------------------------------------------------
 */

/* Boxes that act as other ids are to read it, and none is to write to it. */
static int set_mode(const struct tree_entry *entry, mode_t mode)
{
	if (geteuid() == 0 &&
	    fchownat(entry->dir, entry->name, 0, 0, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (mode == 0 || (entry->st->st_mode & 07777) == mode)
		return 0;
	return fchmodat(entry->dir, entry->name, mode, AT_SYMLINK_NOFOLLOW) < 0 ? -errno
										: 0;
}

static int seal(void *user, enum tree_step step, const struct tree_entry *entry)
{
	uint64_t *bytes = user;

	*bytes += 4096; /* about what an entry takes besides its content */
	switch (step) {
	case TREE_ENTER:
		return set_mode(entry, 0755);
	case TREE_FILE:
		*bytes += (uint64_t)entry->st->st_blocks * 512;
		return set_mode(entry, entry->st->st_mode & S_IXUSR ? 0755 : 0644);
	case TREE_LINK:
		return set_mode(entry, 0);
	case TREE_OTHER:
		return unlinkat(entry->dir, entry->name, 0) < 0 ? -errno : 0;
	default:
		return 0;
	}
}

int setup_stage_seal(const struct setup_stage *stage, uint64_t *ret_bytes)
{
	/* The command may have changed its mode; its owner was the box's id. */
	if (geteuid() == 0 && fchown(stage->deps, 0, 0) < 0)
		return -errno;
	if (fchmod(stage->deps, 0755) < 0)
		return -errno;
	*ret_bytes = 0;
	return tree_each(stage->deps, NULL, seal, ret_bytes);
}

static int write_size(const struct setup_stage *stage, uint64_t bytes)
{
	CLEANUP_FD int fd =
	    openat(stage->fd, "size", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char text[32];
	int n = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)bytes);

	return fd < 0 ? -errno : fd_write_all(fd, text, (size_t)n);
}

int setup_cache_publish(const struct setup_cache *cache, const char *key, uint64_t bytes,
			struct setup_stage *stage, struct setup_entry *ret)
{
	int r;

	if (bytes > cache->max)
		return 0;
	r = write_size(stage, bytes);
	/* An entry of this name that could not be read is in the way, and stays. */
	if (r == 0 &&
	    renameat2(cache->fd, stage->name, cache->fd, key, RENAME_NOREPLACE) < 0)
		r = -errno;
	if (r < 0)
		return r;
	(void)flock(stage->fd, LOCK_SH);
	*ret = (struct setup_entry){.fd = stage->fd, .deps = stage->deps};
	*stage = SETUP_STAGE_INIT;
	(void)setup_evict(cache, key);
	return 1;
}
