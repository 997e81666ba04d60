/* SPDX-License-Identifier: Apache-2.0 */
/* The classifier as a table: facts in, one verdict out, the first matching row wins. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/verdict.h"

#define EXITED(code)   ((code) << 8)
#define SIGNALLED(sig) (sig)

struct row {
	const char *what;
	enum box_end end;
	int status;
	unsigned denied;
	bool denied_main, filter_kills, has_cgroup;
	uint64_t oom_kills;
	enum fault fault;
	int exit_code, sig;
};

static const struct row rows[] = {
    {"success", BOX_ENDED, EXITED(0), 0, 0, 0, 0, 0, FAULT_NONE, 0, 0},
    {"own code", BOX_ENDED, EXITED(7), 0, 0, 0, 0, 0, FAULT_NONE, 7, 0},
    {"own 124", BOX_ENDED, EXITED(124), 0, 0, 0, 1, 0, FAULT_NONE, 124, 0},
    {"own 125", BOX_ENDED, EXITED(125), 0, 0, 0, 1, 0, FAULT_NONE, 125, 0},
    {"own 137", BOX_ENDED, EXITED(137), 0, 0, 0, 1, 0, FAULT_NONE, 137, 0},
    {"own 143", BOX_ENDED, EXITED(143), 0, 0, 0, 1, 0, FAULT_NONE, 143, 0},
    {"own 159", BOX_ENDED, EXITED(159), 0, 0, 1, 1, 0, FAULT_NONE, 159, 0},
    {"crash", BOX_ENDED, SIGNALLED(SIGSEGV), 0, 0, 0, 1, 0, FAULT_NONE, 139, SIGSEGV},
    {"abort", BOX_ENDED, SIGNALLED(SIGABRT), 0, 0, 0, 1, 0, FAULT_NONE, 134, SIGABRT},
    {"own SIGTERM", BOX_ENDED, SIGNALLED(SIGTERM), 0, 0, 0, 1, 0, FAULT_NONE, 143,
     SIGTERM},
    {"own SIGSYS where denied calls are notified", BOX_ENDED, SIGNALLED(SIGSYS), 0, 0, 0,
     1, 0, FAULT_NONE, 159, SIGSYS},
    {"SIGKILL unexplained", BOX_ENDED, SIGNALLED(SIGKILL), 0, 0, 0, 1, 0, FAULT_KILLED,
     137, SIGKILL},
    {"SIGKILL, no cgroup", BOX_ENDED, SIGNALLED(SIGKILL), 0, 0, 0, 0, 9, FAULT_KILLED,
     137, SIGKILL},
    {"SIGKILL, counter unknown", BOX_ENDED, SIGNALLED(SIGKILL), 0, 0, 0, 1, UINT64_MAX,
     FAULT_KILLED, 137, SIGKILL},
    {"out of memory", BOX_ENDED, SIGNALLED(SIGKILL), 0, 0, 0, 1, 1, FAULT_OOM, 137,
     SIGKILL},
    {"a child out of memory", BOX_ENDED, EXITED(3), 0, 0, 0, 1, 2, FAULT_OOM, 3, 0},
    {"denied in main", BOX_ENDED, SIGNALLED(SIGKILL), 1, 1, 0, 1, 0, FAULT_ESCAPE_BLOCKED,
     159, SIGSYS},
    {"denied in a child", BOX_ENDED, EXITED(0), 1, 0, 0, 1, 0, FAULT_ESCAPE_BLOCKED, 0,
     0},
    {"denied goes before out of memory", BOX_ENDED, SIGNALLED(SIGKILL), 2, 1, 0, 1, 1,
     FAULT_ESCAPE_BLOCKED, 159, SIGSYS},
    {"filter kills by itself", BOX_ENDED, SIGNALLED(SIGSYS), 0, 0, 1, 1, 0,
     FAULT_ESCAPE_BLOCKED, 159, SIGSYS},
    {"init lost", BOX_LOST, 0, 0, 0, 0, 1, 0, FAULT_KILLED, 137, SIGKILL},
    {"init lost to the cap", BOX_LOST, 0, 0, 0, 0, 1, 3, FAULT_OOM, 137, SIGKILL},
    {"deadline", BOX_TIMED_OUT, 0, 0, 0, 0, 1, 0, FAULT_TIMEOUT, 124, SIGKILL},
    {"deadline goes before the rest", BOX_TIMED_OUT, 0, 1, 1, 0, 1, 5, FAULT_TIMEOUT, 124,
     SIGKILL},
    {"cancelled", BOX_CANCELLED, 0, 1, 0, 0, 1, 5, FAULT_CANCELLED, 137, SIGKILL},
    {"not started", BOX_NOT_STARTED, 0, 0, 0, 0, 1, 1, FAULT_STARTUP_FAILED, 125, 0},
    {"not found", BOX_NO_PROGRAM, 0, 0, 0, 0, 1, 0, FAULT_NONE, 127, 0},
};

static void reach(const struct row *row, struct verdict *verdict)
{
	struct box_outcome outcome = {
	    .end = row->end,
	    .status = row->status,
	    .started = true,
	    .step = STEP_PIVOT,
	    .error = EINVAL,
	    .reason = "cannot change to the new root: Invalid argument",
	    .denied = row->denied,
	    .denied_main = row->denied_main,
	    .filter_kills = row->filter_kills,
	    .denied_call = "mount",
	    .has_cgroup = row->has_cgroup,
	    .counters = {.oom_kills = row->oom_kills, .memory_limit = 4096},
	};

	verdict_reach(&outcome, 2000000, verdict);
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct verdict verdict;

		reach(&rows[i], &verdict);
		if (verdict.fault != rows[i].fault ||
		    verdict.exit_code != rows[i].exit_code ||
		    verdict.signal != rows[i].sig)
			fail_msg("%s: fault %d code %d signal %d", rows[i].what,
				 verdict.fault, verdict.exit_code, verdict.signal);
		assert_int_equal(verdict.fault == FAULT_NONE, verdict.message[0] == '\0');
	}
}

/* A forged text in the captured streams is no argument of the classifier. */
static void test_streams_do_not_matter(void **state)
{
	struct box_outcome outcome = {
	    .end = BOX_ENDED, .status = EXITED(125), .started = true};
	struct verdict verdict;

	(void)state;
	outcome.err = BUFFER_INIT(100);
	assert_int_equal(
	    buffer_add_text(&outcome.err, "husk: startup_failed: sandbox: oom"), 0);
	verdict_reach(&outcome, 1, &verdict);
	assert_int_equal(verdict.fault, FAULT_NONE);
	buffer_deinit(&outcome.err);
}

static void test_words(void **state)
{
	struct verdict verdict;

	(void)state;
	reach(&rows[16], &verdict);
	assert_string_equal(verdict.detail, "mount");
	reach(&rows[22], &verdict);
	assert_non_null(strstr(verdict.message, "2.000 s"));
	reach(&rows[25], &verdict);
	assert_non_null(strstr(verdict.detail, "pivot-root"));
	assert_non_null(strstr(verdict.detail, "EINVAL"));
	for (int fault = FAULT_TIMEOUT; fault <= FAULT_CANCELLED; fault++)
		assert_non_null(fault_name(fault));
	assert_null(fault_name(FAULT_NONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_streams_do_not_matter),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
