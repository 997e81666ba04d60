/* SPDX-License-Identifier: Apache-2.0 */
/* Ending what is in a group, where the kernel has no cgroup.kill. */
#ifndef CGROUP_KILL_H
#define CGROUP_KILL_H

/*
 * Kill every process listed in NAME/cgroup.procs of dir, again and again until none is
 * listed. New tasks should have been forbidden before. 0, -errno, or -ETIMEDOUT after two
 * seconds.
 */
int cgroup_kill_listed(int dir, const char *name);

#endif
