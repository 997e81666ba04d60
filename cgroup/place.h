/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place where boxes of this process are put, and the drivers: what differs between
 * the kinds of control groups, as a table of functions.
 *
 * A place is found once (detect.c), does not change afterwards, and is shared by the
 * boxes made in it, each of which holds a reference.
 */
#ifndef CGROUP_PLACE_H
#define CGROUP_PLACE_H

#include "cgroup/cgroup.h"
#include "cgroup/knob.h"
#include "cgroup/name.h"
#include "cgroup/obstacle.h"
#include "cgroup/view.h"

#include <time.h>

enum { CGROUP_GROUPS = CGROUP_JOIN_MAX };

/* A group below which boxes get a directory: on v1 one in each hierarchy, on v2 one. */
struct cgroup_group {
	int dir;	      /* its directory */
	unsigned controllers; /* what a directory below it can be used for */
	char path[320];	      /* for messages */
};

/* v2: where the calling process was moved to, and what it takes to undo that. */
struct cgroup_leaf {
	int fd; /* its directory, with the lock; -1: not moved */
	char name[CGROUP_NAME_SIZE];
	pid_t mover; /* a fork of it is in the leaf as well, and undoes nothing */
	unsigned switched_on; /* controllers, for the children of the group */
};

struct cgroup_place {
	unsigned refs; /* guarded by detect.c */
	enum cgroup_driver driver;
	const struct cgroup_ops *ops; /* NULL: nothing usable, count is 0 */
	struct cgroup_group groups[CGROUP_GROUPS];
	size_t count;
	struct cgroup_obstacle missing[CGROUP_CAPS]; /* why a cap cannot be had here */
	struct cgroup_leaf leaf;
	bool systemd;	     /* the machine was booted with it */
	bool must_move;	     /* more is to be had by moving the caller */
	bool oom_killer_off; /* v1: boxes would inherit a switched-off OOM killer */
	bool clone_into;     /* v2: the kernel knows CLONE_INTO_CGROUP */
	bool sweep_due;	     /* nobody has swept it yet; guarded by detect.c */
	struct timespec found_at;
};

struct cgroup_box {
	struct cgroup_place *place;
	char name[CGROUP_NAME_SIZE];
	int fds[CGROUP_GROUPS]; /* by group, with the lock; v1: tasks, v2: the directory
				 */
	int join;		/* v2: cgroup.procs, opened when asked for */
	enum cgroup_hold hold[CGROUP_CAPS];
	bool oom_ends_all;
	uint64_t memory_limit;
	_Atomic uint64_t pids_denied; /* what it was before a kill forbade new tasks */
};

/* Since Linux 4.19: the kernel ends all of a group or nothing of it. */
#define CGROUP_OOM_GROUP "memory.oom.group"

/* What may be done to find a place. */
enum cgroup_allow {
	CGROUP_ALLOW_NOTHING, /* look only: what is needed is worked out and not done */
	CGROUP_ALLOW_ENABLE,  /* switch controllers on in a group that is ours */
	CGROUP_ALLOW_MOVE,    /* also move the calling process */
};

struct cgroup_ops {
	const char *lock_file; /* in a box's directory; "" is the directory itself */
	int lock_flags;
	/* Groups with one of these get a directory though no cap asks for them. */
	unsigned always;
	/* The writes that make these caps. Returns how many. */
	size_t (*knobs)(const struct cgroup_place *place, const struct cgroup_caps *caps,
			struct cgroup_knob list[CGROUP_KNOBS]);
	int (*kill)(struct cgroup_box *box);
	void (*count)(const struct cgroup_box *box, struct cgroup_counters *ret);
	uint64_t (*oom_kills)(const struct cgroup_box *box);
};

/* v2.c, v1.c: look for a place. They leave place->count at 0 and fill in place->missing
 * where there is none. 0 or -errno (-ENOMEM). */
int cgroup_v2_find(const struct cgroup_view *view, enum cgroup_allow allow,
		   struct cgroup_place *place);
int cgroup_v1_find(const struct cgroup_view *view, struct cgroup_place *place);

/* Undo, where that is possible, that the calling process was moved. */
void cgroup_v2_leave(struct cgroup_place *place);

/* The same obstacle for every cap. */
void cgroup_place_blocked(struct cgroup_place *place,
			  const struct cgroup_obstacle *obstacle);

/* All controllers of all groups. */
unsigned cgroup_place_controllers(const struct cgroup_place *place);

/* The group that has a controller, or -1. */
int cgroup_place_group(const struct cgroup_place *place,
		       enum cgroup_controller controller);

/* detect.c: find a place, as yet unshared. */
int cgroup_place_find(enum cgroup_allow allow, struct cgroup_place *ret);
void cgroup_place_deinit(struct cgroup_place *place);

/* detect.c: the process's place, found when first asked for; the reference is the
 * caller's. NULL: out of memory. */
struct cgroup_place *cgroup_place_get(enum cgroup_allow allow);
void cgroup_place_put(struct cgroup_place *place);
/* The place turned out to be gone: have the next asker look anew. */
void cgroup_place_lost(struct cgroup_place *place);

#endif
