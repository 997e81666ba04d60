/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of ours whose lock can be had was left by a caller that is dead (with all
 * its forks). A box in it is killed, though its init does not outlive its caller by much
 * anyway. Each v1 hierarchy is swept by itself: what belongs together may lie in
 * different groups for each, and each directory has a lock of its own.
 */
#include "cgroup/sweep.h"

#include "cgroup/kill.h"

#include "base/fd.h"
#include "base/sample.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_PAUSE_US = 20, LAST_PAUSE_US = 5000, GIVE_UP_US = 2000000 };

/* Trees are shallow; this only keeps a strange one from exhausting descriptors. */
enum { DEPTH_MAX = 32 };

int cgroup_remove_box(int dir, const char *name)
{
	long pause = FIRST_PAUSE_US;
	bool killed = false;

	for (long waited = 0; waited < GIVE_UP_US; waited += pause) {
		if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return -errno;
		/* The last process may be gone for everybody but the kernel: wait a
		 * little before believing that there are others. */
		if (!killed && waited > LAST_PAUSE_US) {
			(void)cgroup_kill_group(dir, name);
			killed = true;
		}
		nanosleep(&(struct timespec){.tv_nsec = pause * 1000}, NULL);
		pause = pause * 2 > LAST_PAUSE_US ? LAST_PAUSE_US : pause * 2;
	}
	return -EBUSY;
}

/* 1 where it was removed. */
static int sweep_one(int dir, const char *name, enum cgroup_name_kind kind, bool unified)
{
	CLEANUP_FD int lock =
	    unified ? cgroup_name_lock(dir, name, "", O_RDONLY | O_DIRECTORY)
		    : cgroup_name_lock(dir, name, "tasks", O_RDONLY);

	if (lock < 0)
		return 0;
	if (kind == CGROUP_NAME_LEAF)
		return unlinkat(dir, name, AT_REMOVEDIR) == 0;
	return cgroup_remove_box(dir, name) == 0;
}

static void close_dir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/* A stream of its own over a directory that stays open. */
static DIR *list(int dir)
{
	CLEANUP_FD int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (stream)
		(void)fd_take(&fd);
	return stream;
}

static int sweep_tree(int dir, bool unified, int depth)
{
	__attribute__((cleanup(close_dir))) DIR *stream = list(dir);
	struct dirent *entry;
	int removed = 0;

	while (stream && (entry = readdir(stream))) {
		enum cgroup_name_kind kind = cgroup_name_kind(entry->d_name);
		CLEANUP_FD int below = -1;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		if (kind == CGROUP_NAME_BOX || kind == CGROUP_NAME_LEAF) {
			removed += sweep_one(dir, entry->d_name, kind, unified);
			continue;
		}
		if (depth == 0)
			continue;
		below = openat(dir, entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			removed += sweep_tree(below, unified, depth - 1);
	}
	return removed;
}

bool cgroup_sweep_only_child(int dir, const char *name)
{
	__attribute__((cleanup(close_dir))) DIR *stream = list(dir);
	struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    strcmp(entry->d_name, name) != 0)
			return false;
	return stream != NULL;
}

static bool is_ours(const char *name)
{
	enum cgroup_name_kind kind = cgroup_name_kind(name);

	return kind == CGROUP_NAME_BOX || kind == CGROUP_NAME_LEAF;
}

/* One name in one group; where that was dead, so is what has its name in the others. */
static bool sweep_name(const struct cgroup_place *place, const struct sample_name *found)
{
	enum cgroup_name_kind kind = cgroup_name_kind(found->text);
	bool unified = place->driver != CGROUP_V1;

	if (!sweep_one(place->groups[found->dir].dir, found->text, kind, unified))
		return false;
	for (unsigned i = 0; i < place->count; i++)
		if (i != found->dir)
			(void)sweep_one(place->groups[i].dir, found->text, kind, unified);
	return true;
}

void cgroup_sweep_place(const struct cgroup_place *place)
{
	struct sample sample;
	bool again = true;

	while (again && sample_init(&sample) == 0) {
		unsigned first = (unsigned)sample.random;

		again = false;
		/* On v1 all hierarchies have the names of most boxes. */
		for (size_t i = 0; i < place->count && sample.whole; i++) {
			unsigned group = (unsigned)((first + i) % place->count);

			(void)sample_take(&sample, place->groups[group].dir, group,
					  is_ours);
		}
		for (size_t i = 0; i < sample.count; i++)
			again |= sweep_name(place, &sample.names[i]);
		again = again && !sample.whole;
	}
}

int cgroup_sweep(void)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	int removed = 0;
	int r = cgroup_view_read(&view);

	if (r < 0)
		return r;
	for (size_t i = 0; i < view.count; i++) {
		CLEANUP_FD int root = cgroup_open_group(&view.list[i], "");

		if (root >= 0)
			removed += sweep_tree(root, view.list[i].unified, DEPTH_MAX);
	}
	return removed;
}
