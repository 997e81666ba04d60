/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups v2: choosing the group below which boxes are put. Reading only; what has
 * to be done there is decided here and done by v2.c.
 */
#ifndef CGROUP_V2_SPOT_H
#define CGROUP_V2_SPOT_H

#include "cgroup/obstacle.h"
#include "cgroup/view.h"

enum cgroup_step {
	CGROUP_STEP_NONE,   /* its children have controllers already */
	CGROUP_STEP_ENABLE, /* controllers are to be switched on for its children */
	CGROUP_STEP_MOVE,   /* first the caller, alone in it, has to go to a leaf */
};

struct cgroup_spot {
	int dir;
	char path[4096];    /* below the mount point */
	unsigned available; /* controllers that it has */
	unsigned enabled;   /* those that its children have */
	enum cgroup_step step;
};

/*
 * From our own group upwards, take the first that will do. 1: found, and ret->dir is the
 * caller's to close; 0: none, and why tells about the first one looked at; or -errno.
 */
int cgroup_spot_find(const struct cgroup_view *view, struct cgroup_spot *ret,
		     struct cgroup_obstacle *why);

/* The controllers named in a file of a group such as cgroup.controllers; 0 on any
 * failure. */
unsigned cgroup_spot_controllers(int dir, const char *file);

/* Is the calling process the only one in a group? */
bool cgroup_spot_only_us(int dir);

#endif
