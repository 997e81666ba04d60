/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/timing.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

_Static_assert((int)STEP_COUNT <= (int)WIRE_STEPS, "init counts every step");
_Static_assert((int)STEP_COUNT + 12 <= (int)TIMING_ROWS, "every step has a row");

void timing_start(struct run *run)
{
	if (!run->call->timing)
		return;
	run->clock = calloc(1, sizeof(*run->clock));
	timing_step(run, TIMING_BEGIN);
}

void timing_step(struct run *run, enum timing_phase phase)
{
	if (run->clock)
		run->clock->begun_ns[phase] = (uint64_t)clock_ns();
}

void timing_reported(struct run *run)
{
	if (run->clock && run->clock->watched_ns == 0)
		run->clock->watched_ns = (uint64_t)clock_ns();
}

static void add(struct box_timing *timing, const char *name, const char *words,
		uint64_t ns, uint32_t times)
{
	if (timing->count < TIMING_ROWS)
		timing->rows[timing->count++] = (struct timing_row){
		    .name = name, .words = words, .ns = ns, .times = times};
}

/* A phase ends where the next one that was reached begins. */
static void add_phase(struct box_timing *timing, const struct run *run,
		      enum timing_phase phase, const char *name, const char *words)
{
	const uint64_t *begun = run->clock->begun_ns;
	int next = (int)phase + 1;

	while (next < TIMING_STOP && begun[next] == 0)
		next++;
	if (begun[phase] != 0 && begun[next] != 0)
		add(timing, name, words, begun[next] - begun[phase], 1);
}

static uint64_t between(uint64_t from, uint64_t to)
{
	return from != 0 && to > from ? to - from : 0;
}

/* What happened in the shim and the stub, up to init's first look at the clock. */
static void add_moments(struct box_timing *timing, const struct run *run,
			uint64_t init_ns)
{
	const uint64_t *moment = run->stub.begun_ns;

	add(timing, step_name(STEP_CLONE), step_words(STEP_CLONE),
	    between(moment[STUB_MOMENT_CLONE], moment[STUB_MOMENT_IDS]), 1);
	add(timing, step_name(STEP_ID_MAP), step_words(STEP_ID_MAP),
	    between(moment[STUB_MOMENT_IDS], moment[STUB_MOMENT_EXEC]), 1);
	add(timing, step_name(STEP_EXEC_INIT), step_words(STEP_EXEC_INIT),
	    between(moment[STUB_MOMENT_EXEC], init_ns), 1);
}

static void add_steps(struct box_timing *timing, const struct run *run,
		      const struct wire_timing *init)
{
	uint64_t sum = 0;

	for (uint32_t step = 0; step < STEP_COUNT; step++)
		sum += init->ns[step];
	add_moments(timing, run, between(sum, init->since_ns));
	for (uint32_t step = STEP_NONE + 1; step < STEP_COUNT; step++) {
		if (init->times[step] > 0)
			add(timing, step_name(step), step_words(step), init->ns[step],
			    init->times[step]);
	}
	add(timing, "program", "the program itself, and its end",
	    between(init->since_ns, run->clock->watched_ns), 1);
}

void timing_collect(struct run *run)
{
	struct timing_clock *clock = run->clock;
	struct wire_timing init = {0};
	struct box_timing *timing;

	if (!clock)
		return;
	timing = calloc(1, sizeof(*timing));
	if (timing && run->block_fd >= 0 &&
	    pread(run->block_fd, &init, sizeof(init),
		  offsetof(struct wire_header, timing)) != (ssize_t)sizeof(init))
		memset(&init, 0, sizeof(init));
	if (timing) {
		timing->from_template = run->part == LAYOUT_BOX;
		add_phase(timing, run, TIMING_BEGIN, "begin",
			  "begin, and make the session's template");
		add_phase(timing, run, TIMING_CGROUP, step_name(STEP_CGROUP),
			  step_words(STEP_CGROUP));
		add_phase(timing, run, TIMING_PREPARE, "prepare",
			  "prepare mount sources, pipes and the channel");
		add_phase(timing, run, TIMING_PLAN, step_name(STEP_PLAN),
			  "make the plan and hand it over");
		add(timing, "shim", "start the process that starts the box",
		    between(clock->begun_ns[TIMING_SHIM],
			    run->stub.begun_ns[STUB_MOMENT_CLONE]),
		    1);
		add_steps(timing, run, &init);
		add(timing, "teardown", "end init and its namespaces, and wait for that",
		    between(clock->watched_ns, clock->begun_ns[TIMING_COUNTERS]), 1);
		add_phase(timing, run, TIMING_COUNTERS, "counters",
			  "read what the box used");
		timing->total_ns =
		    between(clock->begun_ns[TIMING_BEGIN], clock->begun_ns[TIMING_STOP]);
	}
	free(run->outcome->timing);
	run->outcome->timing = timing;
	free(clock);
	run->clock = NULL;
}

static double us(uint64_t ns)
{
	return (double)ns / 1000;
}

int box_timing_text(const struct box_timing *timing, struct buffer *out)
{
	int r = buffer_addf(out, "%-14s%6s%10s%6s  %s\n", "STEP", "TIMES", "US", "%",
			    timing->from_template
				? "WHAT (mounts from the session's template)"
				: "WHAT (mounts made for this box)");

	for (uint32_t i = 0; r == 0 && i < timing->count; i++) {
		const struct timing_row *row = &timing->rows[i];

		r = buffer_addf(out, "%-14s%6u%10.1f%6.1f  %s\n", row->name, row->times,
				us(row->ns),
				timing->total_ns > 0
				    ? 100.0 * (double)row->ns / (double)timing->total_ns
				    : 0.0,
				row->words);
	}
	if (r == 0)
		r = buffer_addf(out, "%-14s%6s%10.1f%6.1f\n", "total", "",
				us(timing->total_ns), 100.0);
	return r;
}
