/* SPDX-License-Identifier: Apache-2.0 */
/* One value to be written to a file of a box's group and read back. */
#ifndef CGROUP_KNOB_H
#define CGROUP_KNOB_H

#include "cgroup/proc_text.h"

#include <stdint.h>

/* What it means that a knob's file is not there. */
enum cgroup_absence {
	CGROUP_ABSENT_BAD,  /* the cap cannot be had */
	CGROUP_ABSENT_FINE, /* nothing */
	CGROUP_ABSENT_SWAP, /* swap is not counted: bad where the machine has swap in use
			     */
};

struct cgroup_knob {
	enum cgroup_controller controller;
	enum cgroup_absence absent;
	const char *file;
	const char *reads_as; /* where that is not the value itself */
	char value[48];
};

enum { CGROUP_KNOBS = 8 };

/* What the kernel takes for a cap: values are clamped to what it can express, never to
 * less than was asked for. */
uint64_t cgroup_memory_value(uint64_t bytes);
uint64_t cgroup_pids_value(uint64_t pids);

/* CPU time as so many microseconds out of every period. */
struct cgroup_quota {
	uint64_t quota_us, period_us;
};
struct cgroup_quota cgroup_cpu_quota(uint64_t milli);

/* The box's file with a number as its value. */
struct cgroup_knob cgroup_knob_number(enum cgroup_controller controller, const char *file,
				      enum cgroup_absence absent, uint64_t value);

/*
 * Write knob to NAME/FILE in dir and read it back into seen. 0; -errno of what was
 * refused; -ENOENT where the file is missing; 1 where what was read back is something
 * else.
 */
int cgroup_knob_apply(int dir, const char *name, const struct cgroup_knob *knob,
		      char seen[64]);

/* Write text to NAME/FILE in dir. 0 or -errno. */
int cgroup_write(int dir, const char *name, const char *file, const char *text);

/* Read NAME/FILE in dir; the text ends in NUL. Its length or -errno. */
ssize_t cgroup_read(int dir, const char *name, const char *file, char *text, size_t size);

/* The same of a box, whose counters cannot be had again: where this process has no
 * descriptor left, it is tried for about 0.2 s more. */
ssize_t cgroup_read_patiently(int dir, const char *name, const char *file, char *text,
			      size_t size);

#endif
