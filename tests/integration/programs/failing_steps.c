/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes every step of starting a box fail, one after the other, and prints what came of
 *it. It sees the inside of the library: only there can a step be told to fail.
 *
 *	failing_steps hooks			prints yes or no: can steps be made to
 *fail? failing_steps run LIMITS DIR ERRNO BOX	a line for each step (below); DIR:
 *workspace; BOX: the first of a session, the second (for which the template is made), or
 *the third (which starts from the template)
 *
 * Lines: `step NAME FAULT EXIT STARTED DETAIL`, FAULT "none" where there is none; the
 *program in the box makes the file ran-NAME in the workspace. Last: `descriptors BEFORE
 *AFTER`.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <husk.h>

#include "runtime/plan.h"
#include "runtime/verdict.h"
#include "session/session.h"

enum { TIMEOUT_US = 20 * 1000 * 1000 };

static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};

static husk_session *open_session(int limits, const char *workspace, int writable_root)
{
	HUSK_OPTIONS(options);
	struct husk_error err = {0};
	husk_session *session = NULL;

	options.limits = limits;
	options.workspace = workspace;
	options.allow_writable_root = writable_root;
	if (husk_session_open(&options, &session, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		exit(2);
	}
	return session;
}

static void run_failing(husk_session *session, uint32_t step, uint32_t error,
			struct box_outcome *outcome, struct verdict *verdict)
{
	char file[64];
	const char *const argv[] = {"touch", file, NULL};
	struct box_call call = {
	    .argv = argv,
	    .envp = environment,
	    .search = "/usr/bin:/bin",
	    .workdir = "/workspace",
	    .timeout_us = TIMEOUT_US,
	    .max_output = 65536,
	    .cancel_fd = -1,
	    .cancel_fd2 = -1,
	    .terminal = step == STEP_TERMINAL,
	    .explain_denials = step == STEP_TRACER,
	    .resize_fd = -1,
	    .inject_step = step,
	    .inject_errno = error,
	};
	struct husk_error err = {0};

	(void)snprintf(file, sizeof(file), "ran-%s", step_name(step));
	if (box_run(&session->spec, &call, outcome, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		exit(2);
	}
	verdict_reach(outcome, call.timeout_us, verdict);
}

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static int say_hooks(void)
{
	husk_session *session = open_session(HUSK_LIMITS_BEST_EFFORT, NULL, 0);
	struct box_outcome outcome;
	struct verdict verdict;

	run_failing(session, STEP_EXEC_INIT, ENOTNAM, &outcome, &verdict);
	puts(outcome.end == BOX_NOT_STARTED && outcome.error == ENOTNAM ? "yes" : "no");
	box_outcome_deinit(&outcome);
	husk_session_close(session);
	return 0;
}

static void run_step(husk_session *session, uint32_t step, uint32_t error)
{
	struct box_outcome outcome;
	struct verdict verdict;

	run_failing(session, step, error, &outcome, &verdict);
	printf("step %s %s %d %d %s\n", step_name(step),
	       verdict.fault ? fault_name(verdict.fault) : "none", verdict.exit_code,
	       outcome.started, verdict.detail);
	fflush(stdout);
	box_outcome_deinit(&outcome);
}

/* The box that fails is the so manieth of its session. */
static void run_in_session(int limits, const char *workspace, uint32_t step,
			   uint32_t error, int box)
{
	husk_session *session = open_session(limits, workspace, step == STEP_OVERLAY);
	struct box_outcome outcome;
	struct verdict verdict;

	for (int i = 1; i < box; i++) {
		run_failing(session, STEP_NONE, 0, &outcome, &verdict);
		box_outcome_deinit(&outcome);
	}
	run_step(session, step, error);
	husk_session_close(session);
}

static int run_all(int limits, const char *workspace, uint32_t error, int box)
{
	int before;

	/* No step failing: what is made once for the process is made here. */
	run_in_session(limits, workspace, STEP_NONE, error, box);
	before = descriptors();
	for (uint32_t step = STEP_NONE + 1; step < STEP_COUNT; step++)
		run_in_session(limits, workspace, step, error, box);
	printf("descriptors %d %d\n", before, descriptors());
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "hooks") == 0)
		return say_hooks();
	if (argc == 6 && strcmp(argv[1], "run") == 0)
		return run_all(strcmp(argv[2], "enforce") == 0 ? HUSK_LIMITS_ENFORCE
							       : HUSK_LIMITS_BEST_EFFORT,
			       argv[3], (uint32_t)strtoul(argv[4], NULL, 10),
			       (int)strtol(argv[5], NULL, 10));
	fprintf(stderr, "usage: failing_steps hooks | run LIMITS DIR ERRNO BOX\n");
	return 2;
}
