/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsing of /proc/self/cgroup, /proc/self/mountinfo and of the files in a control group,
 * as text: which groups the calling process is in, where control group trees are mounted,
 * what a file says.
 */
#ifndef CGROUP_PROC_TEXT_H
#define CGROUP_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The controllers that we use. The first three are those that caps are for. */
enum cgroup_controller {
	CGROUP_MEMORY,
	CGROUP_CPU,
	CGROUP_PIDS,
	CGROUP_CAPS,
	CGROUP_CPUACCT =
	    CGROUP_CAPS, /* v1 only; v2 counts CPU time without a controller */
	CGROUP_CONTROLLERS,
};

#define CGROUP_BIT(controller) (1u << (controller))
#define CGROUP_CAP_BITS	       (CGROUP_BIT(CGROUP_CAPS) - 1)

/* "memory", "cpu", "pids", "cpuacct". */
const char *cgroup_controller_name(enum cgroup_controller controller);

/* The controllers named in text, which are parted by `by` and may end in a newline. */
unsigned cgroup_controllers_in(const char *text, size_t size, char by);

/* The caller's groups as the kernel names them, from the root of the hierarchy (or of the
 * cgroup namespace). NULL: not there. */
struct cgroup_own {
	char *unified;
	char *v1[CGROUP_CONTROLLERS];
};

/* 0, -ENOMEM. Lines that are not understood are passed over. */
int cgroup_own_parse(const char *text, struct cgroup_own *ret);
void cgroup_own_deinit(struct cgroup_own *own);
#define CLEANUP_CGROUP_OWN __attribute__((cleanup(cgroup_own_deinit)))

/* One mounted control group tree. */
struct cgroup_mount {
	dev_t dev;
	bool unified;
	bool read_only;
	unsigned controllers; /* v1: those of the hierarchy that we use */
	char *root;	      /* the group that is at the mount point */
	char *point;
};

/* In the order of the table: later ones cover earlier ones. */
struct cgroup_mounts {
	struct cgroup_mount *list;
	size_t count;
};

/* 0, -ENOMEM. Other file systems and lines that are not understood are passed over. */
int cgroup_mounts_parse(const char *text, struct cgroup_mounts *ret);
void cgroup_mounts_deinit(struct cgroup_mounts *mounts);
#define CLEANUP_CGROUP_MOUNTS __attribute__((cleanup(cgroup_mounts_deinit)))

/*
 * Where group `own` is below a mount of group `root`: a pointer into own, without a
 * leading slash, "" for the mount point itself. NULL where it is not below it, or where a
 * ".." says that it is outside of the cgroup namespace.
 */
const char *cgroup_path_below(const char *root, const char *own);

/* The value after key in a file of "key value" lines. */
bool cgroup_keyed_value(const char *text, const char *key, unsigned long long *ret);

/* A whole text that is one decimal number, as in memory.max; "max" is ULLONG_MAX. */
bool cgroup_number(const char *text, unsigned long long *ret);

#endif
