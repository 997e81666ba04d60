/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's rules that this follows (Documentation/admin-guide/cgroup-v2.rst):
 * - A group other than the real root cannot both hold processes and give controllers to
 * its children. So either our group is ours alone and we move to a leaf, or boxes go
 * below a group above us that holds no processes.
 * - Without privilege, a process can be put into a group only where the common ancestor
 * of both may be written to. So the spot is our own group or one above it, never
 * elsewhere.
 * - Below a threaded group there is no memory controller.
 *
 * And systemd's (its "Control Group APIs and Delegation"): groups of units are managed by
 * systemd alone, except for those that it delegates, which it marks with an extended
 * attribute. Being able to write to a group does not make it ours.
 */
#include "cgroup/v2_spot.h"

#include "base/fd.h"
#include "base/memory.h"
#include "cgroup/knob.h"
#include "cgroup/name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LIST_SIZE = 64 << 10 };

enum inhabitants { NOBODY, ONLY_US, OTHERS };

/* What is read about one group. */
struct facts {
	bool writable;
	int write_errno;
	const char *unwritable; /* which file */
	bool root;		/* the real root of the hierarchy */
	bool threaded;
	unsigned available, enabled;
	enum inhabitants inhabitants;
};

unsigned cgroup_spot_controllers(int dir, const char *file)
{
	char text[512];
	ssize_t n = cgroup_read(dir, ".", file, text, sizeof(text));

	return n > 0 ? cgroup_controllers_in(text, (size_t)n, ' ') & CGROUP_CAP_BITS : 0;
}

static enum inhabitants read_inhabitants(int dir)
{
	CLEANUP_FREE char *text = malloc(LIST_SIZE);
	enum inhabitants found = NOBODY;
	const char *at = text;
	ssize_t n;

	if (!text)
		return OTHERS;
	n = cgroup_read(dir, ".", "cgroup.procs", text, LIST_SIZE);
	if (n < 0)
		return OTHERS;
	while (*at) {
		char *end;

		/* 0 is a process outside of our PID namespace. */
		if (strtol(at, &end, 10) != getpid())
			return OTHERS;
		found = ONLY_US;
		at = *end == '\n' ? end + 1 : end;
	}
	return found;
}

bool cgroup_spot_only_us(int dir)
{
	return read_inhabitants(dir) == ONLY_US;
}

static void read_facts(int dir, struct facts *ret)
{
	static const char *const needed[] = {".", "cgroup.procs",
					     "cgroup.subtree_control"};
	char type[64];

	*ret = (struct facts){.writable = true};
	for (size_t i = 0; ret->writable && i < sizeof(needed) / sizeof(needed[0]); i++)
		if (faccessat(dir, needed[i], W_OK, AT_EACCESS) < 0) {
			ret->writable = false;
			ret->write_errno = errno;
			ret->unwritable = i == 0 ? NULL : needed[i];
		}
	/* The real root has no such file. */
	if (cgroup_read(dir, ".", "cgroup.type", type, sizeof(type)) < 0)
		ret->root = true;
	else
		ret->threaded = strcmp(type, "domain\n") != 0;
	ret->available = cgroup_spot_controllers(dir, "cgroup.controllers");
	ret->enabled = cgroup_spot_controllers(dir, "cgroup.subtree_control");
	ret->inhabitants = ret->root ? NOBODY : read_inhabitants(dir);
}

/* Can boxes be put below a group with these facts, and what must be done first? */
static enum cgroup_why decide(const struct facts *facts, bool own, enum cgroup_step *ret)
{
	if (!facts->writable)
		return facts->write_errno == EROFS ? CGROUP_READ_ONLY : CGROUP_NOT_OURS;
	if (facts->threaded)
		return CGROUP_THREADED;
	if (!facts->available)
		return CGROUP_NO_CONTROLLER;
	*ret = CGROUP_STEP_NONE;
	if ((facts->available & ~facts->enabled) == 0)
		return CGROUP_CLEAR;
	if (facts->inhabitants == NOBODY)
		*ret = CGROUP_STEP_ENABLE;
	else if (facts->inhabitants == ONLY_US && own)
		*ret = CGROUP_STEP_MOVE;
	else
		return CGROUP_BUSY;
	return CGROUP_CLEAR;
}

/* A user's manager leaves no mark on its units: what we were given we know by its name.
 */
static bool is_delegated(int dir, const char *path)
{
	/* The first is newer and may be read by anybody, the second by root alone. */
	static const char *const marks[] = {"user.delegate", "trusted.delegate"};
	const char *slash = strrchr(path, '/');
	char value[8];

	if (cgroup_name_kind(slash ? slash + 1 : path) == CGROUP_NAME_SCOPE)
		return true;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (fgetxattr(dir, marks[i], value, sizeof(value)) == 1 &&
		    value[0] == '1')
			return true;
	return false;
}

/* Does systemd give groups of this name to units? */
static bool names_unit(const char *path)
{
	static const char *const kinds[] = {".service", ".scope", ".slice",
					    ".socket",	".mount", ".swap"};
	size_t size = strlen(path);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t kind = strlen(kinds[i]);

		if (size > kind && strcmp(path + size - kind, kinds[i]) == 0)
			return true;
	}
	return false;
}

/* Make path that of the group above. False at the mount point. */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (path[0] == '\0')
		return false;
	if (slash)
		*slash = '\0';
	else
		path[0] = '\0';
	return true;
}

/*
 * How far up groups may be ours. top is the path of our own group on entry. On return it
 * is that of the delegated group that we are in, else of the first group that is a
 * unit's, else the mount point. 1: delegated; 0: not; or -errno.
 */
static int find_top(const struct cgroup_hierarchy *hierarchy, char *top)
{
	do {
		CLEANUP_FD int dir = cgroup_open_group(hierarchy, top);

		if (dir < 0)
			return dir;
		if (is_delegated(dir, top))
			return 1;
		if (names_unit(top))
			return 0;
	} while (go_up(top));
	return 0;
}

static void note(const struct cgroup_view *view, const struct cgroup_spot *spot,
		 const char *file, enum cgroup_why why, int sys_errno,
		 struct cgroup_obstacle *ret)
{
	const struct cgroup_hierarchy *hierarchy = cgroup_view_unified(view);
	CLEANUP_FD int dir = cgroup_open_group(hierarchy, spot->path);
	char shown[sizeof(ret->path)];

	cgroup_show_path(hierarchy, spot->path, file, shown, sizeof(shown));
	cgroup_obstacle_at(ret, why, sys_errno, dir, file, shown);
}

/* Look at one group. The obstacle is that of the first one looked at. */
static bool consider(const struct cgroup_view *view, bool own, struct cgroup_spot *spot,
		     struct cgroup_obstacle *why)
{
	struct facts facts;
	enum cgroup_why blocked;

	read_facts(spot->dir, &facts);
	spot->available = facts.available;
	spot->enabled = facts.enabled;
	blocked = decide(&facts, own, &spot->step);
	if (blocked == CGROUP_CLEAR)
		return true;
	if (why->why == CGROUP_CLEAR)
		note(view, spot, facts.writable ? NULL : facts.unwritable, blocked,
		     facts.write_errno, why);
	return false;
}

/* Has this group caps, which boxes put above it would escape? */
static bool has_caps(const struct cgroup_view *view, const char *path)
{
	static const char *const files[] = {"memory.max", "memory.high", "pids.max",
					    "cpu.max"};
	CLEANUP_FD int dir = cgroup_open_group(cgroup_view_unified(view), path);
	char text[64];

	for (size_t i = 0; dir >= 0 && i < sizeof(files) / sizeof(files[0]); i++)
		if (cgroup_read(dir, ".", files[i], text, sizeof(text)) > 0 &&
		    strncmp(text, "max", 3) != 0)
			return true;
	return false;
}

/*
 * From spot->path up to top, the first group where boxes can be put as things are; else
 * the first where something has to be done. Having to move the caller counts for most:
 * where a group above needs nothing done, the caller stays. Outside of a delegated part
 * of the tree, no further up than the caller's caps reach.
 */
static int climb(const struct cgroup_view *view, const char *top, bool delegated,
		 struct cgroup_spot *spot, struct cgroup_spot *first,
		 struct cgroup_obstacle *why)
{
	bool own = true;

	do {
		spot->dir = cgroup_open_group(cgroup_view_unified(view), spot->path);
		if (spot->dir < 0)
			return spot->dir;
		if (consider(view, own, spot, why)) {
			if (spot->step == CGROUP_STEP_NONE)
				return 1;
			if (spot->step == CGROUP_STEP_ENABLE && first->dir < 0)
				return 1;
			if (first->dir < 0) {
				*first = *spot;
				spot->dir = -1;
			}
		}
		fd_close(&spot->dir);
		/* A threaded group's neighbours are no way out for a process that is in
		 * it. */
		if (own && why->why == CGROUP_THREADED)
			return 0;
		own = false;
	} while (strcmp(spot->path, top) != 0 &&
		 (delegated || !has_caps(view, spot->path)) && go_up(spot->path));
	return 0;
}

int cgroup_spot_find(const struct cgroup_view *view, struct cgroup_spot *ret,
		     struct cgroup_obstacle *why)
{
	const struct cgroup_hierarchy *hierarchy = cgroup_view_unified(view);
	CLEANUP_FREE struct cgroup_spot *first = calloc(1, sizeof(*first));
	CLEANUP_FREE char *top = strdup(hierarchy->own);
	int delegated, r;

	*why = (struct cgroup_obstacle){.why = CGROUP_CLEAR, .owner = CGROUP_NO_OWNER};
	*ret = (struct cgroup_spot){.dir = -1};
	if (!top || !first)
		return -ENOMEM;
	if (strlen(top) >= sizeof(ret->path))
		return -ENAMETOOLONG;
	(void)snprintf(ret->path, sizeof(ret->path), "%s", top);
	delegated = find_top(hierarchy, top);
	if (delegated < 0)
		return delegated;
	if (!delegated && view->systemd) {
		note(view, ret, NULL, CGROUP_NOT_DELEGATED, 0, why);
		return 0;
	}
	first->dir = -1;
	r = climb(view, top, delegated, ret, first, why);
	if (r == 1)
		fd_close(&first->dir);
	if (r == 1 || first->dir < 0)
		return r;
	*ret = *first;
	return 1;
}
