/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups v2: one directory per box, below a group that v2_spot.c chooses.
 */
#include "cgroup/kill.h"
#include "cgroup/name.h"
#include "cgroup/place.h"
#include "cgroup/sweep.h"
#include "cgroup/v2_spot.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static ssize_t read_file(const struct cgroup_box *box, const char *file, char text[1024])
{
	if (box->fds[0] < 0)
		return -ENOENT;
	return cgroup_read_patiently(box->place->groups[0].dir, box->name, file, text,
				     1024);
}

static uint64_t read_number(const struct cgroup_box *box, const char *file)
{
	unsigned long long value;
	char text[1024];

	if (read_file(box, file, text) < 0 || !cgroup_number(text, &value))
		return CGROUP_UNKNOWN;
	return value;
}

static uint64_t read_keyed(const struct cgroup_box *box, const char *file,
			   const char *key)
{
	unsigned long long value;
	char text[1024];

	if (read_file(box, file, text) < 0 || !cgroup_keyed_value(text, key, &value))
		return CGROUP_UNKNOWN;
	return value;
}

/*
 * Where the kernel ends a whole group it first ends the process that it chose, and then
 * everything in the group; the first is usually still there, and counted again.
 */
static uint64_t v2_oom_kills(const struct cgroup_box *box)
{
	unsigned long long kills, groups = 0;
	char text[1024];

	if (read_file(box, "memory.events", text) < 0 ||
	    !cgroup_keyed_value(text, "oom_kill", &kills))
		return CGROUP_UNKNOWN;
	(void)cgroup_keyed_value(text, "oom_group_kill", &groups); /* since Linux 5.17 */
	if (kills == 0)
		return 0;
	return kills > groups ? kills - groups : 1;
}

static void v2_count(const struct cgroup_box *box, struct cgroup_counters *ret)
{
	ret->cpu_us = read_keyed(box, "cpu.stat", "usage_usec");
	ret->memory_peak = read_number(box, "memory.peak"); /* since Linux 5.19 */
	ret->pids_peak = read_number(box, "pids.peak");	    /* not before Linux 6.0 */
	ret->pids_denied = read_keyed(box, "pids.events", "max");
	ret->oom_kills = v2_oom_kills(box);
}

static int v2_kill(struct cgroup_box *box)
{
	int dir = box->place->groups[0].dir, r;

	if (box->fds[0] < 0)
		return -EOPNOTSUPP;
	r = cgroup_write(dir, box->name, "cgroup.kill", "1");
	if (r != -ENOENT)
		return r;
	box->pids_denied = read_keyed(box, "pids.events", "max");
	return cgroup_kill_listed(dir, box->name);
}

static size_t v2_knobs(const struct cgroup_place *place, const struct cgroup_caps *caps,
		       struct cgroup_knob list[CGROUP_KNOBS])
{
	size_t count = 0;

	(void)place;
	if (caps->memory_bytes) {
		list[count++] =
		    cgroup_knob_number(CGROUP_MEMORY, "memory.max", CGROUP_ABSENT_BAD,
				       cgroup_memory_value(caps->memory_bytes));
		/* Memory and swap together are capped by having none of the second. */
		list[count++] = cgroup_knob_number(CGROUP_MEMORY, "memory.swap.max",
						   CGROUP_ABSENT_SWAP, 0);
		list[count++] = cgroup_knob_number(CGROUP_MEMORY, CGROUP_OOM_GROUP,
						   CGROUP_ABSENT_FINE, 1);
	}
	if (caps->pids)
		list[count++] =
		    cgroup_knob_number(CGROUP_PIDS, "pids.max", CGROUP_ABSENT_BAD,
				       cgroup_pids_value(caps->pids));
	if (caps->cpu_milli) {
		struct cgroup_quota quota = cgroup_cpu_quota(caps->cpu_milli);
		struct cgroup_knob *knob = &list[count++];

		*knob = (struct cgroup_knob){.controller = CGROUP_CPU, .file = "cpu.max"};
		(void)snprintf(knob->value, sizeof(knob->value), "%llu %llu",
			       (unsigned long long)quota.quota_us,
			       (unsigned long long)quota.period_us);
	}
	return count;
}

static const struct cgroup_ops v2_ops = {
    .lock_file = "",
    .lock_flags = O_RDONLY | O_DIRECTORY,
    .always = CGROUP_CAP_BITS,
    .knobs = v2_knobs,
    .kill = v2_kill,
    .count = v2_count,
    .oom_kills = v2_oom_kills,
};

/* Switch on for the children of the spot what they do not have. One by one: a controller
 * that the kernel refuses must not cost us the others. */
static int enable_controllers(struct cgroup_spot *spot)
{
	int first = 0;

	for (int i = 0; i < CGROUP_CAPS; i++) {
		char word[32];
		int r;

		if (!(spot->available & ~spot->enabled & CGROUP_BIT(i)))
			continue;
		(void)snprintf(word, sizeof(word), "+%s", cgroup_controller_name(i));
		r = cgroup_write(spot->dir, ".", "cgroup.subtree_control", word);
		if (r < 0 && first == 0)
			first = r;
	}
	spot->enabled = cgroup_spot_controllers(spot->dir, "cgroup.subtree_control");
	return spot->enabled ? 0 : first;
}

/*
 * Move the calling process to a leaf of its own group. It stays there, as it can be
 * nowhere else while the group gives controllers to its children. 0; -errno: nothing is
 * changed.
 */
static int move_to_leaf(const struct cgroup_spot *spot, struct cgroup_leaf *leaf)
{
	int r;

	leaf->fd = cgroup_name_make(spot->dir, CGROUP_LEAF_PREFIX, "",
				    O_RDONLY | O_DIRECTORY, leaf->name);
	if (leaf->fd < 0) {
		r = leaf->fd;
		leaf->fd = -1;
		return r;
	}
	leaf->mover = getpid();
	r = cgroup_write(spot->dir, leaf->name, "cgroup.procs", "0");
	if (r < 0) {
		(void)unlinkat(spot->dir, leaf->name, AT_REMOVEDIR);
		fd_close(&leaf->fd);
	}
	return r;
}

static void move_back(int dir, struct cgroup_leaf *leaf)
{
	(void)cgroup_write(dir, ".", "cgroup.procs", "0");
	(void)unlinkat(dir, leaf->name, AT_REMOVEDIR);
	fd_close(&leaf->fd);
}

/* Do what the spot needs. 0; -errno, and then nothing is changed. */
static int prepare(struct cgroup_spot *spot, struct cgroup_place *place)
{
	unsigned before = spot->enabled;
	int r = 0;

	if (spot->step == CGROUP_STEP_NONE)
		return 0;
	if (spot->step == CGROUP_STEP_MOVE)
		r = move_to_leaf(spot, &place->leaf);
	if (r < 0)
		return r;
	r = enable_controllers(spot);
	/* Somebody may have come into the group meanwhile. */
	if (r < 0 && place->leaf.fd >= 0)
		move_back(spot->dir, &place->leaf);
	place->leaf.switched_on = spot->enabled & ~before;
	return r;
}

/*
 * Switching controllers off takes the caps of whatever is below. So only where nothing is
 * but the leaf, and in the leaf nobody but us: then no fork of ours can have a box there,
 * and into the group itself nobody can come while it gives controllers to its children.
 */
static bool alone(int dir, const struct cgroup_leaf *leaf)
{
	return cgroup_spot_only_us(leaf->fd) && cgroup_sweep_only_child(dir, leaf->name);
}

void cgroup_v2_leave(struct cgroup_place *place)
{
	struct cgroup_leaf *leaf = &place->leaf;
	int dir = place->groups[0].dir;

	/* A scope of systemd's goes when the process does. */
	if (leaf->fd < 0 || leaf->mover != getpid() || place->driver != CGROUP_V2 ||
	    !alone(dir, leaf))
		return;
	for (int i = 0; i < CGROUP_CAPS; i++) {
		char word[32];

		if (!(leaf->switched_on & CGROUP_BIT(i)))
			continue;
		(void)snprintf(word, sizeof(word), "-%s", cgroup_controller_name(i));
		(void)cgroup_write(dir, ".", "cgroup.subtree_control", word);
	}
	move_back(dir, leaf);
}

/* CLONE_INTO_CGROUP has no file to be seen by; clone3 itself is older than it is. */
static bool kernel_clones_into(void)
{
	struct utsname name;
	char *end;
	unsigned long major, minor = 0;

	if (uname(&name) < 0)
		return false;
	major = strtoul(name.release, &end, 10);
	if (*end == '.')
		minor = strtoul(end + 1, NULL, 10);
	return major > 5 || (major == 5 && minor >= 7);
}

/* Why a controller is not among those that boxes in the spot can have. */
static void explain_missing(struct cgroup_place *place, const struct cgroup_view *view,
			    const struct cgroup_spot *spot, unsigned controllers)
{
	const char *path = place->groups[0].path;
	CLEANUP_FD int root = cgroup_open_group(cgroup_view_unified(view), "");
	unsigned offered =
	    root >= 0 ? cgroup_spot_controllers(root, "cgroup.controllers") : 0;

	for (int i = 0; i < CGROUP_CAPS; i++) {
		struct cgroup_obstacle *missing = &place->missing[i];

		if (controllers & CGROUP_BIT(i))
			missing->why = CGROUP_CLEAR;
		else if (spot->available & CGROUP_BIT(i))
			cgroup_obstacle_at(missing, CGROUP_REFUSED, EBUSY, spot->dir,
					   "cgroup.subtree_control", path);
		else if (offered & CGROUP_BIT(i))
			cgroup_obstacle_at(missing, CGROUP_NOT_PASSED_DOWN, 0, spot->dir,
					   NULL, path);
		else
			cgroup_obstacle_at(missing, CGROUP_NO_CONTROLLER, 0, spot->dir,
					   NULL, path);
	}
}

static void take_spot(struct cgroup_place *place, const struct cgroup_view *view,
		      struct cgroup_spot *spot, unsigned controllers)
{
	struct cgroup_group *group = &place->groups[0];

	cgroup_show_path(cgroup_view_unified(view), spot->path, NULL, group->path,
			 sizeof(group->path));
	explain_missing(place, view, spot, controllers);
	group->dir = fd_take(&spot->dir);
	group->controllers = controllers;
	place->count = 1;
	place->driver = CGROUP_V2;
	place->ops = &v2_ops;
	place->clone_into = kernel_clones_into();
}

int cgroup_v2_find(const struct cgroup_view *view, enum cgroup_allow allow,
		   struct cgroup_place *place)
{
	struct cgroup_obstacle why;
	struct cgroup_spot spot;
	int r = cgroup_spot_find(view, &spot, &why);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		cgroup_obstacle_at(&why, CGROUP_REFUSED, -r, -1, NULL,
				   cgroup_view_unified(view)->point);
	if (r <= 0) {
		cgroup_place_blocked(place, &why);
		return 0;
	}
	place->must_move = spot.step == CGROUP_STEP_MOVE;
	if (allow == CGROUP_ALLOW_NOTHING) {
		take_spot(place, view, &spot, spot.available);
	} else if (!place->must_move || allow == CGROUP_ALLOW_MOVE) {
		r = prepare(&spot, place);
		if (r == 0) {
			take_spot(place, view, &spot, spot.enabled);
		} else {
			char shown[sizeof(why.path)];

			cgroup_show_path(cgroup_view_unified(view), spot.path, NULL,
					 shown, sizeof(shown));
			cgroup_obstacle_at(&why,
					   r == -EBUSY ? CGROUP_BUSY : CGROUP_REFUSED, -r,
					   spot.dir, NULL, shown);
			cgroup_place_blocked(place, &why);
		}
	}
	fd_close(&spot.dir);
	return 0;
}
