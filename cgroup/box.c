/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One box: its directories, its caps and how far they hold, whatever the driver.
 */
#include "cgroup/place.h"
#include "cgroup/sweep.h"

#include "base/error.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_TRIES = 16, PLACE_TRIES = 3 };

/* For messages: what a cap is called by those who ask for it. */
static const char *const cap_names[CGROUP_CAPS] = {
    [CGROUP_MEMORY] = "memory",
    [CGROUP_CPU] = "CPU",
    [CGROUP_PIDS] = "task",
};

static unsigned asked_for(const struct cgroup_caps *caps)
{
	return (caps->memory_bytes ? CGROUP_BIT(CGROUP_MEMORY) : 0) |
	       (caps->cpu_milli ? CGROUP_BIT(CGROUP_CPU) : 0) |
	       (caps->pids ? CGROUP_BIT(CGROUP_PIDS) : 0);
}

static int cannot(const struct cgroup_place *place, enum cgroup_controller controller,
		  const struct cgroup_obstacle *obstacle, struct husk_error *err)
{
	char where[64], text[480], remedy[480];

	(void)snprintf(where, sizeof(where), "%s cap", cap_names[controller]);
	cgroup_obstacle_text(obstacle, controller, text, sizeof(text));
	cgroup_obstacle_remedy(obstacle, controller, cgroup_setting_now(place->systemd),
			       remedy, sizeof(remedy));
	(void)error_set(err, HUSK_E_SYSTEM, where, "cannot be enforced: %s", text);
	if (err)
		err->sys_errno = obstacle->sys_errno;
	error_hint(err,
		   "%s; or run without what cannot be had: --limits best-effort "
		   "(C: HUSK_LIMITS_BEST_EFFORT, Python: enforce_limits=False)",
		   remedy);
	return HUSK_E_SYSTEM;
}

static int check_missing(const struct cgroup_place *place, unsigned asked,
			 struct husk_error *err)
{
	unsigned there = cgroup_place_controllers(place);

	for (int i = 0; i < CGROUP_CAPS; i++)
		if (asked & ~there & CGROUP_BIT(i))
			return cannot(place, i, &place->missing[i], err);
	return 0;
}

/* The lock goes first: of a file that is open while its directory is removed the kernel
 * keeps what it knows, some kilobytes a box, until memory is short. A sweeper that comes
 * between the two does the same as we; and it will where we cannot. */
static void remove_dirs(struct cgroup_box *box)
{
	fd_close(&box->join);
	for (size_t i = 0; i < box->place->count; i++) {
		if (box->fds[i] < 0)
			continue;
		fd_close(&box->fds[i]);
		(void)cgroup_remove_box(box->place->groups[i].dir, box->name);
	}
}

/* How a group that refuses a directory matters: only for a cap that must hold. */
struct dirs {
	unsigned wanted; /* controllers */
	unsigned must;	 /* those without which it is a failure */
	size_t failed;	 /* the group that was the failure */
};

/* Another name, or another look, may help. */
static bool may_retry(int r)
{
	return r == -EEXIST || r == -EWOULDBLOCK || r == -ENOENT || r == -ENODEV;
}

/* Make the box's directories under one new name. 0; -errno and nothing is left. */
static int claim_dirs(struct cgroup_box *box, struct dirs *dirs)
{
	const struct cgroup_place *place = box->place;
	int r = cgroup_name_random(CGROUP_BOX_PREFIX, box->name);

	for (size_t i = 0; r == 0 && i < place->count; i++) {
		unsigned controllers = place->groups[i].controllers;

		if (!(controllers & dirs->wanted))
			continue;
		r = cgroup_name_claim(place->groups[i].dir, box->name,
				      place->ops->lock_file, place->ops->lock_flags);
		if (r >= 0) {
			box->fds[i] = r;
			r = 0;
		} else if (!may_retry(r) && !(controllers & dirs->must)) {
			r = 0;
		} else {
			dirs->failed = i;
		}
	}
	if (r < 0)
		remove_dirs(box);
	return r;
}

/* Make the directories; where a sweeper was quicker, others. -ENODEV: the place is gone.
 */
static int make_dirs(struct cgroup_box *box, struct dirs *dirs)
{
	int r = -EEXIST;

	for (int i = 0; i < NAME_TRIES && may_retry(r); i++)
		r = claim_dirs(box, dirs);
	return r == -ENOENT ? -ENODEV : r;
}

static bool swap_in_use(void)
{
	char text[512];
	const char *line;
	ssize_t n = fd_read_text(-1, "/proc/swaps", text, sizeof(text));

	/* A heading, then a line for each; what does not fit is certainly in use. A
	 * kernel without swap has no such file. */
	if (n < 0)
		return n != -ENOENT;
	line = strchr(text, '\n');
	return line && line[1];
}

static void knob_obstacle(const struct cgroup_box *box, int group, const char *file,
			  int result, const char *seen, struct cgroup_obstacle *ret)
{
	const struct cgroup_group *at = &box->place->groups[group];
	char inside[96], shown[sizeof(ret->path)];

	(void)snprintf(inside, sizeof(inside), "%s/%s", box->name, file);
	(void)snprintf(shown, sizeof(shown), "%.200s/%s", at->path, inside);
	cgroup_obstacle_at(ret, result > 0 ? CGROUP_DID_NOT_STICK : CGROUP_REFUSED,
			   result < 0 ? -result : 0, at->dir, inside, shown);
	(void)snprintf(ret->said, sizeof(ret->said), "%s", seen);
}

/* Write one knob. 0 where what it is for holds; 1 where not, and ret says why. */
static int turn_knob(struct cgroup_box *box, const struct cgroup_knob *knob,
		     struct cgroup_obstacle *ret)
{
	const struct cgroup_place *place = box->place;
	int group = cgroup_place_group(place, knob->controller);
	char seen[64];
	int r;

	if (group < 0 || box->fds[group] < 0) {
		*ret = place->missing[knob->controller];
		return 1;
	}
	r = cgroup_knob_apply(place->groups[group].dir, box->name, knob, seen);
	if (r == 0 && strcmp(knob->file, CGROUP_OOM_GROUP) == 0)
		box->oom_ends_all = true;
	if (r == -ENOENT && (knob->absent == CGROUP_ABSENT_FINE ||
			     (knob->absent == CGROUP_ABSENT_SWAP && !swap_in_use())))
		return 0;
	if (r == 0)
		return 0;
	knob_obstacle(box, group, knob->file, r, seen, ret);
	if (r == -ENOENT && knob->absent == CGROUP_ABSENT_SWAP)
		ret->why = CGROUP_SWAP_UNCOUNTED;
	return 1;
}

static int set_caps(struct cgroup_box *box, const struct cgroup_caps *caps, bool enforce,
		    struct husk_error *err)
{
	struct cgroup_knob list[CGROUP_KNOBS];
	unsigned asked = asked_for(caps);
	size_t count = box->place->ops->knobs(box->place, caps, list);

	for (int i = 0; i < CGROUP_CAPS; i++)
		if (asked & cgroup_place_controllers(box->place) & CGROUP_BIT(i))
			box->hold[i] = CGROUP_ENFORCED;
	for (size_t i = 0; i < count; i++) {
		struct cgroup_obstacle obstacle;

		if (turn_knob(box, &list[i], &obstacle) == 0)
			continue;
		if (enforce)
			return cannot(box->place, list[i].controller, &obstacle, err);
		box->hold[list[i].controller] = CGROUP_BEST_EFFORT;
	}
	if (box->hold[CGROUP_MEMORY] == CGROUP_ENFORCED)
		box->memory_limit = cgroup_memory_value(caps->memory_bytes);
	return 0;
}

static struct cgroup_box *box_free_memory(struct cgroup_box *box)
{
	if (box) {
		cgroup_place_put(box->place);
		free(box);
	}
	return NULL;
}

static int dirs_refused(const struct cgroup_place *place, const struct dirs *dirs, int r,
			struct husk_error *err)
{
	const struct cgroup_group *group = &place->groups[dirs->failed];
	struct cgroup_obstacle obstacle;
	int cap = 0;

	while (cap < CGROUP_CAPS - 1 &&
	       !(dirs->must & group->controllers & CGROUP_BIT(cap)))
		cap++;
	cgroup_obstacle_at(&obstacle, CGROUP_REFUSED, -r, group->dir, NULL, group->path);
	return cannot(place, cap, &obstacle, err);
}

static int box_init(struct cgroup_box *box, const struct cgroup_caps *caps, bool enforce,
		    struct husk_error *err)
{
	unsigned asked = asked_for(caps);
	struct dirs dirs = {0};
	int r;

	for (int i = 0; i < CGROUP_CAPS; i++)
		if (asked & CGROUP_BIT(i))
			box->hold[i] = CGROUP_BEST_EFFORT;
	r = enforce ? check_missing(box->place, asked, err) : 0;
	if (r < 0 || !box->place->count)
		return r;
	dirs.wanted = asked | box->place->ops->always;
	if (caps->rough_cpu_time)
		dirs.wanted &= ~CGROUP_BIT(CGROUP_CPUACCT);
	dirs.must = enforce ? asked : 0;
	r = make_dirs(box, &dirs);
	if (r == -ENODEV)
		return r;
	if (r < 0)
		return dirs.must ? dirs_refused(box->place, &dirs, r, err) : 0;
	r = set_caps(box, caps, enforce, err);
	if (r < 0)
		remove_dirs(box);
	return r;
}

int cgroup_box_new(const struct cgroup_caps *caps, bool enforce, struct cgroup_box **ret,
		   struct husk_error *err)
{
	enum cgroup_allow allow =
	    asked_for(caps) ? CGROUP_ALLOW_MOVE : CGROUP_ALLOW_ENABLE;
	int r = -ENODEV;

	if (caps->memory_bytes && cgroup_memory_value(caps->memory_bytes) == 0)
		return error_set(err, HUSK_E_INVALID, "memory cap",
				 "%llu bytes are less than one page",
				 (unsigned long long)caps->memory_bytes);
	for (int i = 0; r == -ENODEV && i < PLACE_TRIES; i++) {
		struct cgroup_box *box = calloc(1, sizeof(*box));

		if (!box)
			return error_oom(err, "control group");
		for (int k = 0; k < CGROUP_GROUPS; k++)
			box->fds[k] = -1;
		box->join = -1;
		box->memory_limit = CGROUP_UNKNOWN;
		box->pids_denied = CGROUP_UNKNOWN;
		box->place = cgroup_place_get(allow);
		if (!box->place) {
			free(box);
			return error_oom(err, "control group");
		}
		r = box_init(box, caps, enforce, err);
		if (r == 0) {
			*ret = box;
			return 0;
		}
		if (r == -ENODEV)
			cgroup_place_lost(box->place);
		(void)box_free_memory(box);
	}
	if (r == -ENODEV)
		return error_sys(
		    err, ENODEV, "control group",
		    "the group that boxes are put in goes away again and again");
	return r;
}

int cgroup_box_clone_fd(const struct cgroup_box *box)
{
	return box->place->clone_into ? box->fds[0] : -1;
}

ssize_t cgroup_box_join_fds(struct cgroup_box *box, int fds[CGROUP_JOIN_MAX])
{
	ssize_t count = 0;

	if (box->place->driver == CGROUP_V1) {
		for (size_t i = 0; i < box->place->count; i++)
			if (box->fds[i] >= 0)
				fds[count++] = box->fds[i];
		return count;
	}
	if (!box->place->count || box->fds[0] < 0)
		return 0;
	if (box->join < 0)
		box->join = openat(box->fds[0], "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (box->join < 0)
		return -errno;
	fds[0] = box->join;
	return 1;
}

enum cgroup_hold cgroup_box_memory(const struct cgroup_box *box)
{
	return box->hold[CGROUP_MEMORY];
}

enum cgroup_hold cgroup_box_cpus(const struct cgroup_box *box)
{
	return box->hold[CGROUP_CPU];
}

enum cgroup_hold cgroup_box_pids(const struct cgroup_box *box)
{
	return box->hold[CGROUP_PIDS];
}

bool cgroup_box_wants_rlimit_nproc(const struct cgroup_box *box)
{
	return box->hold[CGROUP_PIDS] == CGROUP_BEST_EFFORT;
}

bool cgroup_box_oom_ends_all(const struct cgroup_box *box)
{
	return box->oom_ends_all;
}

uint64_t cgroup_box_oom_kills(const struct cgroup_box *box)
{
	return box->place->ops ? box->place->ops->oom_kills(box) : CGROUP_UNKNOWN;
}

int cgroup_box_kill(struct cgroup_box *box)
{
	return box->place->ops ? box->place->ops->kill(box) : -EOPNOTSUPP;
}

void cgroup_box_counters(const struct cgroup_box *box, struct cgroup_counters *ret)
{
	*ret = (struct cgroup_counters){
	    .cpu_us = CGROUP_UNKNOWN,
	    .memory_peak = CGROUP_UNKNOWN,
	    .memory_limit = box->memory_limit,
	    .pids_peak = CGROUP_UNKNOWN,
	    .pids_denied = CGROUP_UNKNOWN,
	    .oom_kills = CGROUP_UNKNOWN,
	};
	if (box->place->ops)
		box->place->ops->count(box, ret);
	/* Forbidding new tasks to end the box is not what the box has run into. */
	if (box->pids_denied != CGROUP_UNKNOWN)
		ret->pids_denied = box->pids_denied;
}

struct cgroup_box *cgroup_box_free(struct cgroup_box *box)
{
	if (box) {
		remove_dirs(box);
		cgroup_sweep_due();
	}
	return box_free_memory(box);
}
