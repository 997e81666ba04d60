/* SPDX-License-Identifier: Apache-2.0 */
/* Removing what dead callers left. */
#ifndef CGROUP_SWEEP_H
#define CGROUP_SWEEP_H

#include "cgroup/place.h"

/* In the groups of a place, not below them. */
void cgroup_sweep_place(const struct cgroup_place *place);

/*
 * In one group's directory. unified: by the locks of v2. Returns how many were removed.
 */
int cgroup_sweep_group(int dir, bool unified);

/* Remove a box's directory, whose lock we hold, with what is in it. 0 or -errno. */
int cgroup_remove_box(int dir, const char *name);

/* Has this group no directory but the one named? */
bool cgroup_sweep_only_child(int dir, const char *name);

#endif
