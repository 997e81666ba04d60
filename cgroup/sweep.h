/* SPDX-License-Identifier: Apache-2.0 */
/* Removing what dead callers left. */
#ifndef CGROUP_SWEEP_H
#define CGROUP_SWEEP_H

#include "cgroup/place.h"

/* In the groups of a place, not below them. Of many that live no more than some are
 * looked at (base/sample.h), so that the start of a box does not take longer for them;
 * who calls this often enough meets all. */
void cgroup_sweep_place(const struct cgroup_place *place);

/* Remove a box's directory, whose lock we hold, with what is in it. 0 or -errno. */
int cgroup_remove_box(int dir, const char *name);

/* Has this group no directory but the one named? */
bool cgroup_sweep_only_child(int dir, const char *name);

#endif
