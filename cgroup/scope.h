/* SPDX-License-Identifier: Apache-2.0 */
/* A delegated scope from systemd. */
#ifndef CGROUP_SCOPE_H
#define CGROUP_SCOPE_H

#include "cgroup/obstacle.h"
#include "cgroup/view.h"

/* Could a scope be asked for? Connects to the manager and hangs up. */
bool cgroup_scope_reachable(const struct cgroup_view *view, struct cgroup_obstacle *why);

/* Ask for one, and return when the calling process is in it. False: why says why not. */
bool cgroup_scope_enter(const struct cgroup_view *view, struct cgroup_obstacle *why);

/* The group, below the mount point, whose controllers a scope of ours would get. */
void cgroup_scope_parent(char *ret, size_t size);

/* The slice and the unit of the manager that we would ask, as our own group's path names
 * them: "" where there is none to be kept. */
struct cgroup_unit {
	char slice[256];
	char unit[256];
};
void cgroup_scope_unit(const char *own, unsigned uid, struct cgroup_unit *ret);

#endif
