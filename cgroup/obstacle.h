/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in the way of a cap, in words, and what to do about it. The words and the
 * remedies are a table with one row per kind of obstacle.
 */
#ifndef CGROUP_OBSTACLE_H
#define CGROUP_OBSTACLE_H

#include "cgroup/proc_text.h"

enum cgroup_why {
	CGROUP_CLEAR, /* nothing */
	CGROUP_NOT_MOUNTED,
	CGROUP_OUTSIDE,
	CGROUP_READ_ONLY,
	CGROUP_NOT_OURS,
	CGROUP_NOT_DELEGATED,
	CGROUP_NO_CONTROLLER,
	CGROUP_NOT_PASSED_DOWN,
	CGROUP_BUSY,
	CGROUP_THREADED,
	CGROUP_NO_MANAGER,
	CGROUP_NO_LIBRARY,
	CGROUP_MANAGER_REFUSED,
	CGROUP_SWAP_UNCOUNTED,
	CGROUP_REFUSED,
	CGROUP_SHORTAGE, /* CGROUP_REFUSED for want of descriptors */
	CGROUP_DID_NOT_STICK,
	CGROUP_WHYS,
};

struct cgroup_obstacle {
	enum cgroup_why why;
	int sys_errno;	/* of the refused call, or 0 */
	uid_t owner;	/* of what path names; (uid_t)-1: unknown */
	char path[320]; /* the directory or file */
	char said[160]; /* what a file read back, or a manager answered */
};

#define CGROUP_NO_OWNER ((uid_t)-1)

/* Where we are, as far as remedies differ by it. */
enum cgroup_setting {
	CGROUP_PLAIN_USER,
	CGROUP_PLAIN_ROOT,
	CGROUP_SYSTEMD_USER,
	CGROUP_SYSTEMD_ROOT,
	CGROUP_CONTAINER,
	CGROUP_SETTINGS,
};

/* systemd: the machine was booted with it. */
enum cgroup_setting cgroup_setting_now(bool systemd);

/* Fill in an obstacle at dir/file (file NULL: dir itself), whose owner is looked up. */
void cgroup_obstacle_at(struct cgroup_obstacle *ret, enum cgroup_why why, int sys_errno,
			int dir, const char *file, const char *shown_path);

/* The obstacle and its remedy, one line each. */
void cgroup_obstacle_text(const struct cgroup_obstacle *obstacle,
			  enum cgroup_controller controller, char *ret, size_t size);
void cgroup_obstacle_remedy(const struct cgroup_obstacle *obstacle,
			    enum cgroup_controller controller,
			    enum cgroup_setting setting, char *ret, size_t size);

#endif
