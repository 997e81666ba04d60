/* SPDX-License-Identifier: Apache-2.0 */
/* The last row: one whole box, by the public names that everybody uses. */
#include "session/host.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <husk/session.h>

enum { DEADLINE_MS = 10000 };

static void note(struct host_box *box, const char *reason, const char *more,
		 const char *hint)
{
	(void)snprintf(box->reason, sizeof(box->reason), "%s%s%s", reason ? reason : "",
		       more && more[0] ? ": " : "", more ? more : "");
	(void)snprintf(box->remedy, sizeof(box->remedy), "%s", hint ? hint : "");
}

static void note_error(struct host_box *box, const struct husk_error *err)
{
	note(box, err->where, err->message, err->hint);
}

static void look(struct host_box *box, const husk_result *result)
{
	char status[64];

	if (husk_result_success(result)) {
		box->ran = true;
	} else if (husk_result_fault(result) != HUSK_FAULT_NONE) {
		note(box, husk_result_fault_message(result),
		     husk_result_fault_detail(result), husk_result_hint(result));
	} else {
		(void)snprintf(status, sizeof(status), "true ended with status %d",
			       husk_result_exit_code(result));
		note(box, status, husk_result_exec_error(result), NULL);
	}
}

/* Elsewhere a capped box would move the calling process, or ask systemd for a scope. */
static bool caps_are_quiet(const struct cgroup_host *limits)
{
	return limits && !limits->moves_caller &&
	       (limits->driver == CGROUP_V1 || limits->driver == CGROUP_V2);
}

void host_gather_box(const struct cgroup_host *limits, struct host_box *ret)
{
	static const char *const argv[] = {"true", NULL};
	struct husk_error err = {0};
	husk_session *session = NULL;
	husk_result *result = NULL;
	HUSK_OPTIONS(options);
	HUSK_CALL(call);
	int r;

	*ret = (struct host_box){0};
	options.limits = HUSK_LIMITS_BEST_EFFORT;
	options.timeout_ms = DEADLINE_MS;
	if (!caps_are_quiet(limits))
		options.memory_bytes = options.pids = HUSK_UNLIMITED;
	call.skip_files = 1;
	r = husk_session_open(&options, &session, &err);
	if (r == 0)
		r = husk_session_run(session, argv, &call, &result, &err);
	if (r == 0)
		look(ret, result);
	else
		note_error(ret, &err);
	husk_result_free(result);
	husk_session_close(session);
}

void host_judge_box(const struct host_view *view, int which, struct host_row *row)
{
	const struct probe_answers *answers = &view->answers;

	(void)which;
	if (!view->box.ran) {
		host_find(row, HUSK_PROBE_MISSING, "%s", view->box.reason);
		host_advise(row, view->box.remedy);
		return;
	}
	host_find(row, HUSK_PROBE_OK, "a program ran in one, as %u:%u on the host",
		  answers->ids.uid, answers->ids.gid);
}
