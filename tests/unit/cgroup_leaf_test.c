/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups v2 on this very kernel, for a process that has a group for itself: it is
 * moved to a leaf of it, and is back, with everything as it was, when it ends. */
#include "tests/unit/cgroup_live.h"
#include "tests/unit/skipping.h"

static char group[64];

static void read_group_file(const char *file, char text[128])
{
	char path[128];
	ssize_t n;
	int fd;
	struct cgroup_place *place = cgroup_place_get(CGROUP_ALLOW_MOVE);

	(void)snprintf(path, sizeof(path), "%s/%s", group, file);
	fd = openat(place->groups[0].dir, path, O_RDONLY | O_CLOEXEC);
	cgroup_place_put(place);
	assert_true(fd >= 0);
	n = read(fd, text, 127);
	assert_true(n >= 0);
	text[n] = '\0';
	(void)close(fd);
}

static void write_group_file(const char *file, const char *text)
{
	struct cgroup_place *place = cgroup_place_get(CGROUP_ALLOW_MOVE);
	int r = cgroup_write(place->groups[0].dir, group, file, text);

	cgroup_place_put(place);
	if (r < 0)
		fail_msg("%s/%s: %s", group, file, strerror(-r));
}

/* A group with a cap, above which boxes must not be put. */
static int make_group(void **state)
{
	struct cgroup_place *place;
	int r;

	if (look(state) < 0)
		return -1;
	if (host.driver != CGROUP_V2)
		return 0;
	(void)snprintf(group, sizeof(group), "leaf-test-%d", (int)getpid());
	place = cgroup_place_get(CGROUP_ALLOW_MOVE);
	r = mkdirat(place->groups[0].dir, group, 0755);
	cgroup_place_put(place);
	if (r == 0)
		write_group_file("pids.max", "1000");
	return r;
}

static int remove_group(void **state)
{
	struct cgroup_place *place;
	int r;

	(void)state;
	if (!group[0])
		return 0;
	place = cgroup_place_get(CGROUP_ALLOW_MOVE);
	r = unlinkat(place->groups[0].dir, group, AT_REMOVEDIR);
	cgroup_place_put(place);
	return r;
}

/* What the child does in the group; its exit status is the result. */
typedef void (*part)(struct cgroup_box *box);

static int run_alone(part act)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct cgroup_place *place = cgroup_place_get(CGROUP_ALLOW_MOVE);
		struct cgroup_box *box;

		if (cgroup_write(place->groups[0].dir, group, "cgroup.procs", "0") < 0)
			_exit(70);
		cgroup_place_lost(place);
		cgroup_place_put(place);
		box = child_box(16);
		if (!strstr(box->place->groups[0].path, group) || box->place->leaf.fd < 0)
			_exit(71);
		act(box);
	}
	return wait_for(pid);
}

static void need_own_group(void)
{
	if (group[0])
		return;
	skip_because("is about driver v2, not %s", host.driver_name);
}

static void assert_as_before(void)
{
	char text[128];

	read_group_file("cgroup.subtree_control", text);
	assert_int_equal(strspn(text, "\n"), strlen(text));
	read_group_file("cgroup.procs", text);
	assert_string_equal(text, "");
}

static void end_well(struct cgroup_box *box)
{
	(void)cgroup_box_free(box);
	exit(0);
}

static void at_the_end_all_is_as_before(void **state)
{
	(void)state;
	need_own_group();
	assert_int_equal(run_alone(end_well), 0);
	assert_as_before();
	/* Nothing is in it: it can be removed, and made again. */
	assert_int_equal(remove_group(state), 0);
	assert_int_equal(make_group(state), 0);
}

static int names[2];

static void end_badly(struct cgroup_box *box)
{
	(void)!write(names[1], box->place->leaf.name, CGROUP_NAME_SIZE);
	(void)kill(getpid(), SIGKILL);
}

/* What a SIGKILL leaves is the next one's to sweep. */
static void the_next_one_sweeps_a_leaf(void **state)
{
	char name[CGROUP_NAME_SIZE], path[128];
	struct cgroup_place *place;
	struct stat st;

	(void)state;
	need_own_group();
	assert_int_equal(pipe2(names, O_CLOEXEC), 0);
	assert_true(WIFSIGNALED(run_alone(end_badly)));
	assert_int_equal(read(names[0], name, sizeof(name)), sizeof(name));
	(void)close(names[0]);
	(void)close(names[1]);
	place = cgroup_place_get(CGROUP_ALLOW_MOVE);
	(void)snprintf(path, sizeof(path), "%s/%s", group, name);
	assert_int_equal(fstatat(place->groups[0].dir, path, &st, 0), 0);
	assert_true(cgroup_sweep() >= 0);
	assert_true(fstatat(place->groups[0].dir, path, &st, 0) < 0);
	cgroup_place_put(place);
	/* Controllers are still on, so now there is nothing to be moved for. */
	write_group_file("cgroup.subtree_control", "-memory -pids -cpu");
}

/* A fork of the process shares the leaf; it neither moves on nor undoes anything. */
static void with_a_fork(struct cgroup_box *box)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)cgroup_box_free(child_box(16));
		exit(0);
	}
	if (wait_for(pid) != 0)
		_exit(72);
	/* Our box is still capped: controllers are on. */
	if (cgroup_box_pids(box) != CGROUP_ENFORCED ||
	    cgroup_write(box->place->groups[0].dir, box->name, "pids.max", "15") < 0)
		_exit(73);
	end_well(box);
}

static void forks_undo_nothing(void **state)
{
	(void)state;
	need_own_group();
	assert_int_equal(run_alone(with_a_fork), 0);
	assert_as_before();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(at_the_end_all_is_as_before),
	    cmocka_unit_test(the_next_one_sweeps_a_leaf),
	    cmocka_unit_test(forks_undo_nothing),
	};

	return cmocka_run_group_tests(tests, make_group, remove_group);
}
