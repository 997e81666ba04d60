/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups v1: each controller has a hierarchy of its own, and a box has a
 * directory in each that it needs. Boxes are put below the group that the calling process
 * is in, so that they stay within whatever that one is allowed. There is no rule against
 * groups that hold both processes and groups, and nothing has to be moved.
 *
 * The freezer is not used: setting pids.max to 0 stops a box from growing as well as
 * freezing it does, and saves every box a directory in one more hierarchy.
 */
#include "cgroup/kill.h"
#include "cgroup/place.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Buffers of sockets may come to this part of the memory cap, beside it. */
enum { SOCKET_SHARE = 4 };

static ssize_t read_knob(const struct cgroup_box *box, enum cgroup_controller controller,
			 const char *file, char text[256])
{
	int group = cgroup_place_group(box->place, controller);

	if (group < 0 || box->fds[group] < 0)
		return -ENOENT;
	return cgroup_read_patiently(box->place->groups[group].dir, box->name, file, text,
				     256);
}

static uint64_t read_number(const struct cgroup_box *box,
			    enum cgroup_controller controller, const char *file)
{
	unsigned long long value;
	char text[256];

	if (read_knob(box, controller, file, text) < 0 || !cgroup_number(text, &value))
		return CGROUP_UNKNOWN;
	return value;
}

static uint64_t read_keyed(const struct cgroup_box *box,
			   enum cgroup_controller controller, const char *file,
			   const char *key)
{
	unsigned long long value;
	char text[256];

	if (read_knob(box, controller, file, text) < 0 ||
	    !cgroup_keyed_value(text, key, &value))
		return CGROUP_UNKNOWN;
	return value;
}

/* Since Linux 4.13. */
static uint64_t v1_oom_kills(const struct cgroup_box *box)
{
	return read_keyed(box, CGROUP_MEMORY, "memory.oom_control", "oom_kill");
}

static void v1_count(const struct cgroup_box *box, struct cgroup_counters *ret)
{
	uint64_t cpu_ns = read_number(box, CGROUP_CPUACCT, "cpuacct.usage");

	ret->cpu_us = cpu_ns == CGROUP_UNKNOWN ? CGROUP_UNKNOWN : cpu_ns / 1000;
	ret->memory_peak =
	    read_number(box, CGROUP_MEMORY, "memory.memsw.max_usage_in_bytes");
	if (ret->memory_peak == CGROUP_UNKNOWN)
		ret->memory_peak =
		    read_number(box, CGROUP_MEMORY, "memory.max_usage_in_bytes");
	ret->pids_peak = read_number(box, CGROUP_PIDS, "pids.peak");
	ret->pids_denied = read_keyed(box, CGROUP_PIDS, "pids.events", "max");
	ret->oom_kills = v1_oom_kills(box);
}

static int v1_kill(struct cgroup_box *box)
{
	const struct cgroup_place *place = box->place;
	int group = cgroup_place_group(place, CGROUP_PIDS);

	if (group >= 0 && box->fds[group] >= 0) {
		box->pids_denied = read_keyed(box, CGROUP_PIDS, "pids.events", "max");
		return cgroup_kill_listed(place->groups[group].dir, box->name);
	}
	for (size_t i = 0; i < place->count; i++)
		if (box->fds[i] >= 0)
			return cgroup_kill_listed(place->groups[i].dir, box->name);
	return -EOPNOTSUPP;
}

/* The caller's own group may have a smaller share of the CPU than is asked for a box; the
 * kernel then refuses the larger one (and it could not be had anyway). */
static struct cgroup_quota quota_within(int dir, struct cgroup_quota quota)
{
	char text[64];
	unsigned long long own_quota, own_period;

	if (cgroup_read(dir, ".", "cpu.cfs_quota_us", text, sizeof(text)) < 0 ||
	    !cgroup_number(text, &own_quota) || own_quota == 0)
		return quota;
	if (cgroup_read(dir, ".", "cpu.cfs_period_us", text, sizeof(text)) < 0 ||
	    !cgroup_number(text, &own_period))
		return quota;
	/* Both sides are below 2^40 by what the kernel and cgroup_cpu_quota allow. */
	if ((__uint128_t)quota.quota_us * own_period >
	    (__uint128_t)own_quota * quota.period_us)
		return (struct cgroup_quota){.quota_us = own_quota,
					     .period_us = own_period};
	return quota;
}

static size_t v1_knobs(const struct cgroup_place *place, const struct cgroup_caps *caps,
		       struct cgroup_knob list[CGROUP_KNOBS])
{
	int cpu = cgroup_place_group(place, CGROUP_CPU);
	size_t count = 0;

	if (caps->memory_bytes) {
		uint64_t value = cgroup_memory_value(caps->memory_bytes);

		/* In this order: memory and swap together may not be less than memory. */
		list[count++] = cgroup_knob_number(CGROUP_MEMORY, "memory.limit_in_bytes",
						   CGROUP_ABSENT_BAD, value);
		list[count++] =
		    cgroup_knob_number(CGROUP_MEMORY, "memory.memsw.limit_in_bytes",
				       CGROUP_ABSENT_SWAP, value);
		/* Buffers of sockets are no part of memory here, and without a limit of
		 * their own there is none but the machine's. */
		list[count++] = cgroup_knob_number(
		    CGROUP_MEMORY, "memory.kmem.tcp.limit_in_bytes", CGROUP_ABSENT_FINE,
		    cgroup_memory_value(caps->memory_bytes / SOCKET_SHARE));
		if (place->oom_killer_off) {
			list[count] = cgroup_knob_number(
			    CGROUP_MEMORY, "memory.oom_control", CGROUP_ABSENT_FINE, 0);
			list[count++].reads_as = "oom_kill_disable 0";
		}
	}
	if (caps->pids)
		list[count++] =
		    cgroup_knob_number(CGROUP_PIDS, "pids.max", CGROUP_ABSENT_BAD,
				       cgroup_pids_value(caps->pids));
	if (caps->cpu_milli && cpu >= 0) {
		struct cgroup_quota quota = quota_within(
		    place->groups[cpu].dir, cgroup_cpu_quota(caps->cpu_milli));

		list[count++] = cgroup_knob_number(CGROUP_CPU, "cpu.cfs_period_us",
						   CGROUP_ABSENT_BAD, quota.period_us);
		list[count++] = cgroup_knob_number(CGROUP_CPU, "cpu.cfs_quota_us",
						   CGROUP_ABSENT_BAD, quota.quota_us);
	}
	return count;
}

static const struct cgroup_ops v1_ops = {
    .lock_file = "tasks",
    .lock_flags = O_WRONLY,
    .always =
	CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_PIDS) | CGROUP_BIT(CGROUP_CPUACCT),
    .knobs = v1_knobs,
    .kill = v1_kill,
    .count = v1_count,
    .oom_kills = v1_oom_kills,
};

/* Take a hierarchy into the place, or say why not. */
static void add_group(struct cgroup_place *place,
		      const struct cgroup_hierarchy *hierarchy)
{
	struct cgroup_group *group = &place->groups[place->count];
	struct cgroup_obstacle obstacle = {.why = CGROUP_CLEAR};
	CLEANUP_FD int dir = -1;

	cgroup_show_path(hierarchy, hierarchy->own, NULL, group->path,
			 sizeof(group->path));
	dir = cgroup_open_group(hierarchy, hierarchy->own);
	if (dir < 0)
		cgroup_obstacle_at(&obstacle, CGROUP_REFUSED, -dir, -1, NULL,
				   group->path);
	else if (hierarchy->read_only)
		cgroup_obstacle_at(&obstacle, CGROUP_READ_ONLY, EROFS, dir, NULL,
				   group->path);
	else if (faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) < 0)
		cgroup_obstacle_at(&obstacle, CGROUP_NOT_OURS, errno, dir, NULL,
				   group->path);
	for (int i = 0; i < CGROUP_CAPS; i++)
		if (hierarchy->controllers & CGROUP_BIT(i))
			place->missing[i] = obstacle;
	if (obstacle.why != CGROUP_CLEAR)
		return;
	group->dir = fd_take(&dir);
	group->controllers = hierarchy->controllers;
	place->count++;
}

int cgroup_v1_find(const struct cgroup_view *view, struct cgroup_place *place)
{
	int memory;
	char text[256];
	unsigned long long off;

	for (int i = 0; i < CGROUP_CAPS; i++)
		cgroup_obstacle_at(&place->missing[i],
				   view->mounted & CGROUP_BIT(i) ? CGROUP_OUTSIDE
								 : CGROUP_NOT_MOUNTED,
				   0, -1, NULL, "");
	for (size_t i = 0; i < view->count && place->count < CGROUP_GROUPS; i++)
		if (!view->list[i].unified)
			add_group(place, &view->list[i]);
	if (!(cgroup_place_controllers(place) & CGROUP_CAP_BITS)) {
		for (size_t i = 0; i < place->count; i++)
			fd_close(&place->groups[i].dir);
		place->count = 0;
		return 0;
	}
	place->driver = CGROUP_V1;
	place->ops = &v1_ops;
	memory = cgroup_place_group(place, CGROUP_MEMORY);
	place->oom_killer_off =
	    memory >= 0 &&
	    cgroup_read(place->groups[memory].dir, ".", "memory.oom_control", text,
			sizeof(text)) > 0 &&
	    cgroup_keyed_value(text, "oom_kill_disable", &off) && off;
	return 0;
}
