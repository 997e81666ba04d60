/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/view.h"

#include "base/buffer.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A mount table is as long as its machine has mounts; beyond this it is not one. The
 * kernel gives a page of it at a time, and more room than that would be copied for
 * nothing. */
enum { TABLE_MAX = 64 << 20, TABLE_STEP = 4 << 10 };

static int read_whole(const char *path, struct buffer *ret)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (;;) {
		char *at = buffer_reserve(ret, TABLE_STEP);
		ssize_t n;

		if (!at)
			return ret->size > ret->max - TABLE_STEP ? -EFBIG : -ENOMEM;
		n = read(fd, at, TABLE_STEP);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		ret->size += (size_t)n;
		at[n] = '\0';
		if (n == 0)
			return 0;
	}
}

/* Nothing can be said of what cannot be looked at for want of descriptors. */
static bool is_shortage(int r)
{
	return r == -EMFILE || r == -ENFILE;
}

/* The mount point, or another negative value than a shortage where something else is
 * there. */
static int open_mount(const struct cgroup_mount *mount, bool check)
{
	CLEANUP_FD int fd = open(mount->point, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!check)
		return fd_take(&fd);
	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return -1;
	if (fs.f_type != (mount->unified ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC))
		return -1;
	return st.st_dev == mount->dev ? fd_take(&fd) : -1;
}

static int add_hierarchy(struct cgroup_view *view, const struct cgroup_mount *mount,
			 int fd, const char *own)
{
	struct cgroup_hierarchy *hierarchy = &view->list[view->count];

	*hierarchy = (struct cgroup_hierarchy){
	    .unified = mount->unified,
	    .read_only = mount->read_only,
	    .dev = mount->dev,
	    .mount = fd,
	    .point = strdup(mount->point),
	    .own = strdup(own),
	};
	view->count++;
	return hierarchy->point && hierarchy->own ? 0 : -ENOMEM;
}

static bool holds(const struct cgroup_mount *mount, int controller)
{
	return controller < 0 ? mount->unified
			      : (mount->controllers & CGROUP_BIT(controller)) != 0;
}

/* A hierarchy may be mounted several times, whole and in part: take the latest mount that
 * shows our own group, and rather one that can be written to. controller -1: unified. */
static int choose_mount(struct cgroup_view *view, const struct cgroup_mounts *mounts,
			int controller, const char *own, bool check)
{
	const struct cgroup_mount *best = NULL;
	CLEANUP_FD int best_fd = -1;

	for (size_t i = mounts->count; i-- > 0 && (!best || best->read_only);) {
		const struct cgroup_mount *mount = &mounts->list[i];
		CLEANUP_FD int fd = -1;

		if (!holds(mount, controller) || !cgroup_path_below(mount->root, own))
			continue;
		if (best && mount->read_only)
			continue;
		fd = open_mount(mount, check);
		if (is_shortage(fd))
			return fd;
		if (fd < 0)
			continue;
		fd_close(&best_fd);
		best_fd = fd_take(&fd);
		best = mount;
	}
	if (!best)
		return 0;
	if (controller >= 0)
		for (size_t i = 0; i < view->count; i++)
			if (!view->list[i].unified && view->list[i].dev == best->dev) {
				view->list[i].controllers |= CGROUP_BIT(controller);
				return 0;
			}
	if (add_hierarchy(view, best, fd_take(&best_fd),
			  cgroup_path_below(best->root, own)) < 0)
		return -ENOMEM;
	if (controller >= 0)
		view->list[view->count - 1].controllers = CGROUP_BIT(controller);
	return 0;
}

int cgroup_view_build(const char *own_text, const char *mounts_text, bool check,
		      struct cgroup_view *ret)
{
	CLEANUP_CGROUP_OWN struct cgroup_own own = {0};
	CLEANUP_CGROUP_MOUNTS struct cgroup_mounts mounts = {0};
	int r;

	*ret = (struct cgroup_view){0};
	r = cgroup_own_parse(own_text, &own);
	if (r == 0)
		r = cgroup_mounts_parse(mounts_text, &mounts);
	for (size_t i = 0; i < mounts.count; i++) {
		ret->mounted |= mounts.list[i].controllers;
		ret->unified_mounted |= mounts.list[i].unified;
	}
	if (r == 0 && own.unified)
		r = choose_mount(ret, &mounts, -1, own.unified, check);
	for (int i = 0; r == 0 && i < CGROUP_CONTROLLERS; i++)
		if (own.v1[i])
			r = choose_mount(ret, &mounts, i, own.v1[i], check);
	if (r < 0)
		cgroup_view_deinit(ret);
	return r;
}

int cgroup_view_read(struct cgroup_view *ret)
{
	CLEANUP_BUFFER struct buffer own = BUFFER_INIT(TABLE_MAX);
	CLEANUP_BUFFER struct buffer mounts = BUFFER_INIT(TABLE_MAX);
	struct stat st;
	int r;

	r = read_whole("/proc/self/cgroup", &own);
	if (r == 0)
		r = read_whole("/proc/self/mountinfo", &mounts);
	if (r == 0)
		r = cgroup_view_build(own.data, mounts.data, true, ret);
	if (r < 0)
		return r;
	/* What sd_booted(3) asks. */
	ret->systemd = lstat("/run/systemd/system", &st) == 0 && S_ISDIR(st.st_mode);
	return 0;
}

void cgroup_view_deinit(struct cgroup_view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		fd_close(&view->list[i].mount);
		free(view->list[i].point);
		free(view->list[i].own);
	}
	*view = (struct cgroup_view){0};
}

const struct cgroup_hierarchy *cgroup_view_unified(const struct cgroup_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->list[i].unified)
			return &view->list[i];
	return NULL;
}

int cgroup_open_group(const struct cgroup_hierarchy *hierarchy, const char *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	const char *at = path[0] ? path : ".";
	int fd = fd_open_beneath(hierarchy->mount, at, flags, 0, 0);

	/* The way there is the kernel's own words, holds no ".." (cgroup_path_below) and
	 * these file systems have no links: where openat2 is missing nothing is lost. */
	if (fd == -ENOSYS || fd == -EPERM) {
		fd = openat(hierarchy->mount, at, flags);
		if (fd < 0)
			return -errno;
	}
	return fd;
}

void cgroup_show_path(const struct cgroup_hierarchy *hierarchy, const char *path,
		      const char *file, char *ret, size_t size)
{
	(void)snprintf(ret, size, "%s%s%s%s%s", hierarchy->point, path[0] ? "/" : "",
		       path, file ? "/" : "", file ? file : "");
}
