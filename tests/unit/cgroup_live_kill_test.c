/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups on this very kernel: everything in a box can be ended, whatever it does.
 */
#include "cgroup/kill.h"
#include "tests/unit/cgroup_live.h"

static void multiply(void)
{
	(void)!write(alive[1], "x", 1);
	for (;;)
		(void)fork();
}

static void kill_ends(action act, int reports, int (*end)(struct cgroup_box *))
{
	struct cgroup_box *box = box_with(0, 0, 48);
	pid_t pid;
	char c;

	assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
	pid = run_in(box, act);
	(void)close(alive[1]);
	for (int i = 0; i < reports; i++)
		assert_int_equal(read(alive[0], &c, 1), 1);
	assert_int_equal(end(box), 0);
	while (read(alive[0], &c, 1) > 0)
		;
	assert_true(WIFSIGNALED(wait_for(pid)));
	(void)close(alive[0]);
	free_and_check(box);
}

static void kill_ends_a_stubborn_tree(void **state)
{
	(void)state;
	need(&host.pids);
	kill_ends(sleep_stubbornly, 8, cgroup_box_kill);
}

static void kill_ends_a_fork_bomb(void **state)
{
	(void)state;
	need(&host.pids);
	kill_ends(multiply, 1, cgroup_box_kill);
}

/* As on kernels without cgroup.kill. */
static int kill_by_list(struct cgroup_box *box)
{
	int group = cgroup_place_group(box->place, CGROUP_PIDS);

	return cgroup_kill_listed(box->place->groups[group].dir, box->name);
}

static void killing_by_list_ends_both(void **state)
{
	(void)state;
	need(&host.pids);
	kill_ends(sleep_stubbornly, 8, kill_by_list);
	kill_ends(multiply, 1, kill_by_list);
}

static void kill_is_no_task_limit_hit(void **state)
{
	struct cgroup_counters counters;
	struct cgroup_box *box;
	pid_t pid;
	char c;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 16);
	assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
	pid = run_in(box, sleep_stubbornly);
	(void)close(alive[1]);
	for (int i = 0; i < 8; i++)
		assert_int_equal(read(alive[0], &c, 1), 1);
	assert_int_equal(cgroup_box_kill(box), 0);
	assert_true(WIFSIGNALED(wait_for(pid)));
	(void)close(alive[0]);
	cgroup_box_counters(box, &counters);
	assert_int_equal(counters.pids_denied, 0);
	free_and_check(box);
}

static void an_empty_box_can_be_killed(void **state)
{
	struct cgroup_box *box;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 16);
	assert_int_equal(cgroup_box_kill(box), 0);
	free_and_check(box);
}

static void freeing_ends_what_is_left(void **state)
{
	struct cgroup_box *box;
	pid_t pid;
	char c;

	(void)state;
	need(&host.pids);
	box = box_with(0, 0, 16);
	assert_int_equal(pipe2(alive, O_CLOEXEC), 0);
	pid = run_in(box, sleep_stubbornly);
	(void)close(alive[1]);
	for (int i = 0; i < 8; i++)
		assert_int_equal(read(alive[0], &c, 1), 1);
	free_and_check(box);
	assert_int_equal(read(alive[0], &c, 1), 0);
	(void)close(alive[0]);
	assert_true(WIFSIGNALED(wait_for(pid)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kill_ends_a_stubborn_tree),
	    cmocka_unit_test(kill_ends_a_fork_bomb),
	    cmocka_unit_test(killing_by_list_ends_both),
	    cmocka_unit_test(kill_is_no_task_limit_hit),
	    cmocka_unit_test(an_empty_box_can_be_killed),
	    cmocka_unit_test(freeing_ends_what_is_left),
	};

	return cmocka_run_group_tests(tests, look, NULL);
}
