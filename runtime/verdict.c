/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/verdict.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "runtime/plan.h"

/* The command's own codes, as timeout(1), docker and shells use them. */
enum {
	EXIT_TIMEOUT = 124,
	EXIT_STARTUP = 125,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128,
};

static const char *const names[] = {
    [FAULT_NONE] = NULL,
    [FAULT_TIMEOUT] = "timeout",
    [FAULT_ESCAPE_BLOCKED] = "escape_blocked",
    [FAULT_OOM] = "oom",
    [FAULT_KILLED] = "killed",
    [FAULT_STARTUP_FAILED] = "startup_failed",
    [FAULT_CANCELLED] = "cancelled",
};

const char *fault_name(enum fault fault)
{
	return names[fault];
}

static void set_ended_by(struct verdict *verdict, int sig)
{
	verdict->signal = sig;
	verdict->exit_code = EXIT_SIGNAL + sig;
}

static void timed_out(const struct box_outcome *outcome, uint64_t timeout_us,
		      struct verdict *ret)
{
	unsigned long long ms = timeout_us / 1000;

	ret->fault = FAULT_TIMEOUT;
	ret->exit_code = EXIT_TIMEOUT;
	ret->signal = outcome->started ? SIGKILL : 0;
	(void)snprintf(ret->message, sizeof(ret->message),
		       "the deadline of %llu.%03llu s passed and the box was ended",
		       ms / 1000, ms % 1000);
	if (!outcome->started)
		(void)snprintf(ret->detail, sizeof(ret->detail),
			       "the program had not started yet");
	else if (outcome->denied > 0)
		(void)snprintf(ret->detail, sizeof(ret->detail),
			       "before that, a denied system call ended a process: %s",
			       outcome->denied_call);
}

static void startup_failed(const struct box_outcome *outcome, struct verdict *ret)
{
	const char *error = strerrorname_np(outcome->error);

	ret->fault = FAULT_STARTUP_FAILED;
	ret->exit_code = EXIT_STARTUP;
	(void)snprintf(ret->message, sizeof(ret->message), "%s", outcome->reason);
	(void)snprintf(
	    ret->detail, sizeof(ret->detail), "%s%s%s: %s", step_name(outcome->step),
	    outcome->subject[0] ? " " : "", outcome->subject,
	    outcome->error == 0 ? "refused" : (error ? error : "unknown error"));
}

static void no_program(const struct box_outcome *outcome, struct verdict *ret)
{
	ret->exit_code = outcome->found ? EXIT_CANNOT_EXECUTE : EXIT_NOT_FOUND;
}

/* How the main process itself ended; a task that init killed for a denied call is
 * reported as what it is, an end by SIGSYS. */
static void read_status(const struct box_outcome *outcome, struct verdict *ret)
{
	if (outcome->end == BOX_LOST)
		set_ended_by(ret, SIGKILL);
	else if (WIFSIGNALED(outcome->status) && WTERMSIG(outcome->status) == SIGKILL &&
		 outcome->denied_main)
		set_ended_by(ret, SIGSYS);
	else if (WIFSIGNALED(outcome->status))
		set_ended_by(ret, WTERMSIG(outcome->status));
	else
		ret->exit_code = WEXITSTATUS(outcome->status);
}

static void blocked(const struct box_outcome *outcome, struct verdict *ret)
{
	const char *call = outcome->denied > 0 ? outcome->denied_call : "";

	ret->fault = FAULT_ESCAPE_BLOCKED;
	(void)snprintf(ret->message, sizeof(ret->message),
		       outcome->denied_main || outcome->denied == 0
			   ? "a denied system call ended the program%s%s"
			   : "a denied system call ended a process in the box%s%s",
		       call[0] ? ": " : "", call);
	(void)snprintf(ret->detail, sizeof(ret->detail), "%s",
		       call[0] ? call : "unknown system call");
}

static void out_of_memory(const struct box_outcome *outcome, struct verdict *ret)
{
	const struct cgroup_counters *counters = &outcome->counters;
	char peak[64] = "";

	ret->fault = FAULT_OOM;
	(void)snprintf(ret->message, sizeof(ret->message),
		       "the box went over its memory cap and the kernel ended %s",
		       ret->signal == SIGKILL ? "the program" : "a process in it");
	if (counters->memory_peak != UINT64_MAX)
		(void)snprintf(peak, sizeof(peak), ", peak %llu bytes",
			       (unsigned long long)counters->memory_peak);
	(void)snprintf(ret->detail, sizeof(ret->detail),
		       "limit %llu bytes%s, %llu killed",
		       (unsigned long long)counters->memory_limit, peak,
		       (unsigned long long)counters->oom_kills);
}

static bool was_oom(const struct box_outcome *outcome)
{
	return outcome->has_cgroup && outcome->counters.oom_kills != UINT64_MAX &&
	       outcome->counters.oom_kills > 0;
}

/* Without notifications the filter kills by itself, and only the core-less SIGSYS of the
 * main process is known. A program may also raise it: then it asked for this reading. */
static bool was_blocked(const struct box_outcome *outcome, const struct verdict *verdict)
{
	return outcome->denied > 0 ||
	       (outcome->filter_kills && verdict->signal == SIGSYS);
}

static void ended(const struct box_outcome *outcome, struct verdict *ret)
{
	read_status(outcome, ret);
	if (was_blocked(outcome, ret)) {
		blocked(outcome, ret);
	} else if (was_oom(outcome)) {
		out_of_memory(outcome, ret);
	} else if (ret->signal == SIGKILL) {
		ret->fault = FAULT_KILLED;
		(void)snprintf(
		    ret->message, sizeof(ret->message),
		    "the program was ended by SIGKILL; neither the deadline nor a "
		    "limit explains it");
	}
}

void verdict_reach(const struct box_outcome *outcome, uint64_t timeout_us,
		   struct verdict *ret)
{
	memset(ret, 0, sizeof(*ret));
	switch (outcome->end) {
	case BOX_TIMED_OUT:
		timed_out(outcome, timeout_us, ret);
		break;
	case BOX_CANCELLED:
		ret->fault = FAULT_CANCELLED;
		set_ended_by(ret, SIGKILL);
		(void)snprintf(ret->message, sizeof(ret->message),
			       "the caller stopped the box");
		break;
	case BOX_NOT_STARTED:
		startup_failed(outcome, ret);
		break;
	case BOX_NO_PROGRAM:
		no_program(outcome, ret);
		break;
	default:
		ended(outcome, ret);
		break;
	}
}
