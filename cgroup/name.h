/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of our directories, and the locks that tell whether their maker lives.
 *
 * Who makes a directory holds an exclusive flock(2) on a file in it (or on itself) as
 * long as it is in use; the kernel drops the lock with the last descriptor. Who gets the
 * lock of a directory that was there before may remove it.
 *
 * A sweeper may come in between mkdir and flock. Then either it has the lock, or, once
 * the maker has it, the directory is gone; the maker sees both and takes another name.
 */
#ifndef CGROUP_NAME_H
#define CGROUP_NAME_H

#define CGROUP_BOX_PREFIX   "husk-"
#define CGROUP_LEAF_PREFIX  "husk-caller-"
#define CGROUP_SCOPE_SUFFIX ".scope"

enum { CGROUP_NAME_DIGITS = 16, CGROUP_NAME_SIZE = 32 };

enum cgroup_name_kind {
	CGROUP_NAME_FOREIGN,
	CGROUP_NAME_BOX,   /* holds a box: whatever is in it dies with it */
	CGROUP_NAME_LEAF,  /* holds a calling process: never killed */
	CGROUP_NAME_SCOPE, /* a scope that systemd was asked for: systemd's to remove */
};

enum cgroup_name_kind cgroup_name_kind(const char *name);

/* prefix and random digits. 0 or -errno. */
int cgroup_name_random(const char *prefix, char ret[CGROUP_NAME_SIZE]);

/* Make NAME in dir and lock it by lock_file ("": the directory itself), which is opened
 * with flags. The descriptor that carries the lock, or -errno and nothing is left. */
int cgroup_name_claim(int dir, const char *name, const char *lock_file, int flags);

/* The same with a fresh name, which is returned. */
int cgroup_name_make(int dir, const char *prefix, const char *lock_file, int flags,
		     char ret[CGROUP_NAME_SIZE]);

/* Lock a directory that is there. The descriptor; -EWOULDBLOCK where its maker lives; or
 * another -errno. */
int cgroup_name_lock(int dir, const char *name, const char *lock_file, int flags);

#endif
