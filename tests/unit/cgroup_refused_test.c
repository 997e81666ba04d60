/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups on this very kernel, for somebody who may write to none of them: nobody,
 * where we are root, else ourselves where nothing has been handed to us. */
#include "tests/unit/cgroup_live.h"
#include "tests/unit/skipping.h"

static void become_nobody(void)
{
	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		_exit(80);
}

/* Enforced: no box, and an error with all that is wanted of it. Best effort: a box that
 * says what it is. Exits 0 when all is so. */
static void try(void)
{
	struct cgroup_caps caps = {.pids = 16};
	struct husk_error err = {0};
	struct cgroup_box *box = NULL;

	if (cgroup_box_new(&caps, true, &box, &err) != HUSK_E_SYSTEM || box)
		_exit(81);
	if (!strstr(err.where, "task cap") || !strstr(err.message, "cannot be enforced"))
		_exit(82);
	/* Which group it is about, and what to do. */
	if (!strstr(err.message, "/") || strlen(err.hint) < 30)
		_exit(83);
	if (cgroup_box_new(&caps, false, &box, &err) < 0)
		_exit(84);
	if (cgroup_box_pids(box) != CGROUP_BEST_EFFORT ||
	    !cgroup_box_wants_rlimit_nproc(box))
		_exit(85);
	(void)cgroup_box_free(box);
	_exit(0);
}

static void who_may_not_is_told_why(void **state)
{
	pid_t pid;

	(void)state;
	if (geteuid() != 0 && host.pids.enforceable) {
		skip_because("may write here, and cannot become somebody else");
	}
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (geteuid() == 0)
			become_nobody();
		try();
	}
	assert_int_equal(wait_for(pid), 0);
}

/* The place was found while we still might; what refuses is then the single box. */
static void who_may_no_longer_is_told_why(void **state)
{
	pid_t pid;

	(void)state;
	if (geteuid() != 0) {
		skip_because("cannot become somebody else");
	}
	need(&host.pids);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)cgroup_box_free(child_box(16));
		become_nobody();
		try();
	}
	assert_int_equal(wait_for(pid), 0);
}

static void description_is_complete(void **state)
{
	const struct cgroup_host_controller *all[] = {&host.memory, &host.cpus,
						      &host.pids};

	(void)state;
	assert_non_null(host.driver_name);
	for (size_t i = 0; i < 3; i++) {
		assert_true(all[i]->name[0]);
		if (all[i]->enforceable) {
			struct stat st;

			assert_int_equal(stat(all[i]->path, &st), 0);
			assert_int_equal(all[i]->owner, st.st_uid);
			assert_int_equal(all[i]->why[0] + all[i]->remedy[0], 0);
		} else {
			assert_true(strlen(all[i]->why) > 20);
			assert_true(strlen(all[i]->remedy) > 20);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_may_not_is_told_why),
	    cmocka_unit_test(who_may_no_longer_is_told_why),
	    cmocka_unit_test(description_is_complete),
	};

	return cmocka_run_group_tests(tests, look, NULL);
}
