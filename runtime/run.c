/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/run.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "runtime/timing.h"

struct run *run_new(const struct box_spec *spec, const struct box_call *call,
		    struct box_outcome *outcome)
{
	struct run *run = aligned_alloc(64, (sizeof(*run) + 63) / 64 * 64);

	if (!run)
		return NULL;
	memset(run, 0, offsetof(struct run, shim_stack));
	run->spec = spec;
	run->call = call;
	run->outcome = outcome;
	run->trees = (struct layout_trees){.image = -1, .workspace = -1};
	run->template = (struct template_fds){.user = -1, .mount = -1};
	run->caller_fd = spec->caller_fd;
	run->own_caller_fd = run->block_fd = run->channel = run->box_channel = -1;
	run->out = run->box_out = run->err = run->box_err = run->in = run->box_in = -1;
	run->source = run->box_source = -1;
	run->shim_fd = run->stub.init_pidfd = -1;
	run->begin_us = clock_us();
	return run;
}

int run_injected(const struct run *run, uint32_t step)
{
#ifdef HUSK_TEST_HOOKS
	if (run->call->inject_step == step)
		return -(int)run->call->inject_errno;
#endif
	(void)run;
	(void)step;
	return 0;
}

static void close_trees(struct run *run)
{
	fd_close(&run->trees.image);
	fd_close(&run->trees.workspace);
	for (size_t i = 0; run->trees.mounts && i < run->spec->mount_count; i++)
		fd_close(&run->trees.mounts[i]);
	free(run->trees.mounts);
	run->trees.mounts = NULL;
}

struct run *run_free(struct run *run)
{
	int *const fds[] = {&run->own_caller_fd,
			    &run->block_fd,
			    &run->channel,
			    &run->box_channel,
			    &run->out,
			    &run->box_out,
			    &run->err,
			    &run->box_err,
			    &run->in,
			    &run->box_in,
			    &run->source,
			    &run->box_source,
			    &run->shim_fd,
			    &run->stub.init_pidfd};

	if (!run)
		return NULL;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		fd_close(fds[i]);
	fd_close(&run->template.user);
	fd_close(&run->template.mount);
	close_trees(run);
	cgroup_box_free(run->cgroup);
	free(run->clock);
	free(run);
	return NULL;
}

void run_failed(struct run *run, uint32_t step, int error, const char *subject)
{
	struct box_outcome *outcome = run->outcome;

	outcome->end = BOX_NOT_STARTED;
	outcome->started = false;
	outcome->step = step;
	outcome->error = error;
	(void)snprintf(outcome->subject, sizeof(outcome->subject), "%s",
		       subject ? subject : "");
	failure_words(outcome);
}

void box_outcome_init(struct box_outcome *outcome, const struct box_call *call)
{
	memset(outcome, 0, sizeof(*outcome));
	outcome->out = BUFFER_INIT(call->discard ? 0 : call->max_output);
	outcome->err = BUFFER_INIT(call->discard ? 0 : call->max_output);
}

void box_outcome_deinit(struct box_outcome *outcome)
{
	buffer_deinit(&outcome->out);
	buffer_deinit(&outcome->err);
	denial_list_deinit(&outcome->denials);
	free(outcome->timing);
	outcome->timing = NULL;
}

void run_count(struct run *run)
{
	struct box_outcome *outcome = run->outcome;

	if (!run->cgroup || outcome->has_cgroup)
		return;
	outcome->has_cgroup = true;
	cgroup_box_counters(run->cgroup, &outcome->counters);
	if (outcome->counters.pids_peak != UINT64_MAX && outcome->counters.pids_peak > 0)
		outcome->counters.pids_peak--; /* init is ours */
	outcome->memory = cgroup_box_memory(run->cgroup);
	outcome->cpus = cgroup_box_cpus(run->cgroup);
	outcome->pids = cgroup_box_pids(run->cgroup);
}

/* What it was refused, by the notes that init left in the plan. */
static int read_denials(struct run *run, struct husk_error *err)
{
	struct box_outcome *outcome = run->outcome;

	if (run->denials_at == 0)
		return 0;
	if (denial_list_read(&outcome->denials, run->block_fd, run->denials_at, run->spec,
			     outcome) < 0)
		return error_oom(err, "denials");
	return 0;
}

/* RUN_AGAIN: the template could not be entered or no user namespace be made below its
 * own; nothing has run, and the next box is built by itself. */
enum { RUN_AGAIN = 2 };

static int run_once(const struct box_spec *spec, const struct box_call *call,
		    struct box_outcome *ret, struct husk_error *err)
{
	struct run *run = run_new(spec, call, ret);
	int r;

	if (!run)
		return error_oom(err, "run");
	timing_start(run);
	if (template_get(spec, call, &run->template))
		run->part = LAYOUT_BOX;
	r = run_launch(run, err);
	if (r == 0)
		run_supervise(run);
	timing_step(run, TIMING_COUNTERS);
	if (run->part == LAYOUT_BOX && ret->end == BOX_NOT_STARTED &&
	    ret->error != EMFILE && ret->error != ENFILE &&
	    (ret->step == STEP_TEMPLATE || ret->step == STEP_CLONE)) {
		template_refuse(spec);
		ret->step = STEP_NONE;
		ret->reason[0] = ret->hint[0] = ret->subject[0] = '\0';
		run_free(run);
		return RUN_AGAIN;
	}
	if (r >= 0)
		run_count(run);
	ret->denials.known = call->explain_denials;
	if (r == 0)
		r = read_denials(run, err);
	timing_step(run, TIMING_STOP);
	timing_collect(run);
	ret->wall_us = clock_us() - run->begin_us;
	run_free(run);
	return r;
}

int box_run(const struct box_spec *spec, const struct box_call *call,
	    struct box_outcome *ret, struct husk_error *err)
{
	int r, cancel_state;

	/* A thread that is cancelled in the middle would leave a box without its keeper.
	 */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	box_outcome_init(ret, call);
	do {
		r = run_once(spec, call, ret, err);
	} while (r == RUN_AGAIN);
	pthread_setcancelstate(cancel_state, NULL);
	return r < 0 ? r : 0;
}

int box_explain(const struct box_spec *spec, const struct box_call *call,
		struct buffer *out, struct husk_error *err)
{
	struct box_outcome unused = {0};
	struct run *run = run_new(spec, call, &unused);
	CLEANUP_PLAN struct plan plan = {0};
	int r;

	if (!run)
		return error_oom(err, "plan");
	r = run_plan(run, &plan, err);
	if (r == 0) {
		r = buffer_addf(out, "ids %u:%u in the box, %u:%u on the host\n",
				spec->uid, spec->gid, spec->ids.uid, spec->ids.gid);
		if (r == 0)
			r = buffer_addf(out,
					"deadline %llu us\noutput %llu bytes a stream\n",
					(unsigned long long)call->timeout_us,
					(unsigned long long)call->max_output);
		if (r == 0)
			r = plan_describe(plan_header(&plan), out);
		if (r < 0)
			r = error_oom(err, "plan");
	}
	run_free(run);
	return r;
}
