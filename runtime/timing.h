/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of one box went: by the caller's clock for what the caller does, by
 * moments that the shim and the stub note, and by what init writes down at each step
 * (struct wire_timing). Nothing of it is done where a call does not ask for it.
 */
#ifndef RUNTIME_TIMING_H
#define RUNTIME_TIMING_H

#include <stdint.h>

#include "runtime/run.h"

enum { TIMING_ROWS = 80 };

struct timing_row {
	const char *name, *words;
	uint64_t ns;
	uint32_t times;
};

struct box_timing {
	struct timing_row rows[TIMING_ROWS]; /* in the order in which they happen */
	uint32_t count;
	uint64_t total_ns;
	bool from_template; /* the mounts were there already */
};

/* What the caller does, in this order. */
enum timing_phase {
	TIMING_BEGIN, /* and the template, where this call makes it */
	TIMING_CGROUP,
	TIMING_PREPARE, /* trees, pipes */
	TIMING_PLAN,
	TIMING_SHIM,
	TIMING_WATCH, /* the box is on its way: init's steps */
	TIMING_COUNTERS,
	TIMING_STOP,
	TIMING_PHASES,
};

struct timing_clock {
	uint64_t begun_ns[TIMING_PHASES]; /* 0: not reached */
	uint64_t watched_ns;		  /* init's report came */
};

/* Each is nothing where the call is not timed. timing_start allocates; without memory the
 * call is not timed. */
void timing_start(struct run *run);
void timing_step(struct run *run, enum timing_phase phase);
/* Init has reported: what follows is the end of its namespaces. */
void timing_reported(struct run *run);
/* Everything together, into the outcome. */
void timing_collect(struct run *run);

#endif
