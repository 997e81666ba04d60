/* SPDX-License-Identifier: Apache-2.0 */
/* Ending what is in a group. */
#ifndef CGROUP_KILL_H
#define CGROUP_KILL_H

/*
 * End everything in group NAME of dir by SIGKILL: with cgroup.kill (Linux 5.14, v2),
 * which returns at once; else by cgroup_kill_listed. 0, -errno.
 */
int cgroup_kill_group(int dir, const char *name);

/*
 * Forbid new tasks, as far as the group has controllers for that, and kill every process
 * that is listed in it, again and again until none is. 0, -errno, or -ETIMEDOUT after two
 * seconds.
 */
int cgroup_kill_listed(int dir, const char *name);

#endif
