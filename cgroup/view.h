/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control group trees as the calling process sees them: which hierarchy, mounted
 * where, and in which group of it the process is. Reading only.
 */
#ifndef CGROUP_VIEW_H
#define CGROUP_VIEW_H

#include "cgroup/proc_text.h"

/* One hierarchy that can be reached, with the group that we are in. */
struct cgroup_hierarchy {
	bool unified;
	bool read_only;
	unsigned controllers; /* v1 */
	dev_t dev;
	int mount;   /* O_PATH, the mount point */
	char *point; /* its path, for messages */
	char *own; /* our group below it, without a leading slash; "": the mount point */
};

enum { CGROUP_HIERARCHIES = CGROUP_CONTROLLERS + 1 };

struct cgroup_view {
	struct cgroup_hierarchy list[CGROUP_HIERARCHIES];
	size_t count;
	unsigned mounted; /* v1 controllers that are mounted, reachable or not */
	bool unified_mounted;
	bool systemd; /* the machine (or this container) was booted with systemd */
};

/* From texts in the form of /proc/self/cgroup and /proc/self/mountinfo. With check, what
 * is mounted must really be a control group file system and the one that the table tells
 * of (something else may have been mounted over it). 0, -ENOMEM. */
int cgroup_view_build(const char *own, const char *mounts, bool check,
		      struct cgroup_view *ret);

/* From /proc and /run. 0 or -errno. */
int cgroup_view_read(struct cgroup_view *ret);

void cgroup_view_deinit(struct cgroup_view *view);
#define CLEANUP_CGROUP_VIEW __attribute__((cleanup(cgroup_view_deinit)))

/* The unified hierarchy, or NULL. */
const struct cgroup_hierarchy *cgroup_view_unified(const struct cgroup_view *view);

/* Open a group below the mount point ("": the mount point itself) for reading its
 * directory. The descriptor or -errno. */
int cgroup_open_group(const struct cgroup_hierarchy *hierarchy, const char *path);

/* The path of a group (and of a file in it, or NULL) for messages. */
void cgroup_show_path(const struct cgroup_hierarchy *hierarchy, const char *path,
		      const char *file, char *ret, size_t size);

#endif
