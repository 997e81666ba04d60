/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where boxes would be put, in trees made of plain files that look like control groups.
 */
#include "cgroup/place.h"
#include "cgroup/v2_spot.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/skipping.h"

/* A group of the tree. Files that are NULL are not made. */
struct fake {
	const char *path; /* "": the mount point */
	const char *type, *controllers, *enabled;
	const char *procs; /* "us": our own process id */
	bool delegated;
	const char *memory_max;
};

#define ALL    "cpuset cpu io memory pids\n"
#define DOMAIN "domain\n"

static char tree[200];

static void put_file(const char *dir, const char *name, const char *text)
{
	char path[600];
	FILE *file;

	if (!text)
		return;
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "we");
	assert_non_null(file);
	if (strcmp(text, "us") == 0)
		(void)fprintf(file, "%d\n", (int)getpid());
	else
		(void)fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void grow(const struct fake *groups, size_t count)
{
	const char *temp = getenv("TMPDIR");

	(void)snprintf(tree, sizeof(tree), "%s/husk-tree-XXXXXX", temp ? temp : P_tmpdir);
	assert_non_null(mkdtemp(tree));
	assert_int_equal(chmod(tree, 0755), 0);
	for (size_t i = 0; i < count; i++) {
		char path[512];

		(void)snprintf(path, sizeof(path), "%s/%s", tree, groups[i].path);
		if (groups[i].path[0])
			assert_int_equal(mkdir(path, 0755), 0);
		put_file(path, "cgroup.type", groups[i].type);
		put_file(path, "cgroup.controllers", groups[i].controllers);
		put_file(path, "cgroup.subtree_control", groups[i].enabled);
		put_file(path, "cgroup.procs", groups[i].procs);
		put_file(path, "memory.max", groups[i].memory_max);
		if (groups[i].delegated &&
		    setxattr(path, "user.delegate", "1", 1, 0) < 0) {
			skip_because("no extended attributes in %s", tree);
		}
	}
}

static void fell(void)
{
	static const char *const files[] = {"cgroup.type", "cgroup.controllers",
					    "cgroup.subtree_control", "cgroup.procs",
					    "memory.max"};
	static const char *const dirs[] = {"a.slice/a.service/leaf",
					   "a.slice/a.service",
					   "a.slice",
					   "u/v",
					   "u",
					   "own",
					   "husk-caller-0123456789abcdef",
					   "husk-0123456789abcdef.scope"};

	for (size_t i = 0; i <= sizeof(dirs) / sizeof(dirs[0]); i++) {
		const char *dir = i < sizeof(dirs) / sizeof(dirs[0]) ? dirs[i] : ".";
		char path[600];

		for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
			(void)snprintf(path, sizeof(path), "%s/%s/%s", tree, dir,
				       files[k]);
			(void)unlink(path);
		}
		(void)snprintf(path, sizeof(path), "%s/%s", tree, dir);
		(void)rmdir(strcmp(dir, ".") == 0 ? tree : path);
	}
}

static int setup(void **state)
{
	(void)state;
	tree[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (tree[0])
		fell();
	return 0;
}

/* The view of a process in group own of the tree. */
static void look_from(const char *own, bool systemd, struct cgroup_view *ret)
{
	char own_text[256], mounts[512];

	(void)snprintf(own_text, sizeof(own_text), "0::/%s\n", own);
	(void)snprintf(mounts, sizeof(mounts), "9 8 0:7 / %s rw - cgroup2 cgroup2 rw\n",
		       tree);
	assert_int_equal(cgroup_view_build(own_text, mounts, false, ret), 0);
	ret->systemd = systemd;
	assert_non_null(cgroup_view_unified(ret));
}

static void expect_spot(const char *own, bool systemd, const char *path,
			enum cgroup_step step)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	struct cgroup_obstacle why;
	struct cgroup_spot spot;

	look_from(own, systemd, &view);
	assert_int_equal(cgroup_spot_find(&view, &spot, &why), 1);
	assert_string_equal(spot.path, path);
	assert_int_equal(spot.step, step);
	assert_true(spot.dir >= 0);
	(void)close(spot.dir);
}

static void expect_obstacle(const char *own, bool systemd, enum cgroup_why why_expected,
			    const char *path_end)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	struct cgroup_obstacle why;
	struct cgroup_spot spot;
	size_t size;

	look_from(own, systemd, &view);
	assert_int_equal(cgroup_spot_find(&view, &spot, &why), 0);
	assert_int_equal(why.why, why_expected);
	size = strlen(why.path);
	assert_true(size >= strlen(path_end));
	assert_string_equal(why.path + size - strlen(path_end), path_end);
}

#define GROW(...)                                                    \
	do {                                                         \
		static const struct fake groups_[] = {__VA_ARGS__};  \
		grow(groups_, sizeof(groups_) / sizeof(groups_[0])); \
	} while (0)

static void the_root_may_hold_processes(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "", "1\n2\n3\n"});
	expect_spot("", false, "", CGROUP_STEP_ENABLE);
}

static void ready_root(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "cpu memory pids\n", "1\n"});
	expect_spot("", false, "", CGROUP_STEP_NONE);
}

static void alone_in_our_group_we_move(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "", "1\n"}, {"own", DOMAIN, ALL, "", "us"});
	expect_spot("own", false, "own", CGROUP_STEP_MOVE);
}

static void with_others_we_look_above(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "cpu memory pids\n", "1\n"}, {"u", DOMAIN, ALL, "", ""},
	     {"u/v", DOMAIN, ALL, "", "1\n"});
	expect_spot("u/v", false, "u", CGROUP_STEP_ENABLE);
}

/* The group of a container whose first process is in it as well. */
static void a_container_with_others_is_busy(void **state)
{
	(void)state;
	GROW({"", DOMAIN, ALL, "", "1\n"});
	expect_obstacle("", false, CGROUP_BUSY, "");
}

static void processes_out_of_sight_are_others(void **state)
{
	(void)state;
	GROW({"", DOMAIN, ALL, "", "0\n"});
	expect_obstacle("", false, CGROUP_BUSY, "");
}

/* The place that needs no move is above, and it is ours. */
static void siblings_of_our_leaf(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "", "1\n"},
	     {"u", DOMAIN, ALL, "memory pids cpu\n", "", true},
	     {"u/v", DOMAIN, ALL, "", "us"});
	expect_spot("u/v", false, "u", CGROUP_STEP_NONE);
}

/* Where above there is no such place, it is better to move than to change what is there.
 */
static void no_enabling_above_when_alone(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "", "1\n"}, {"u", DOMAIN, ALL, "", "", true},
	     {"u/v", DOMAIN, ALL, "", "us"});
	expect_spot("u/v", false, "u/v", CGROUP_STEP_MOVE);
}

/* Above the caller's own caps boxes would not be bound by them. */
static void no_way_past_caps(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "memory pids cpu\n", "1\n"},
	     {"u", DOMAIN, ALL, "", "1\n", .memory_max = "max\n"});
	expect_spot("u", false, "", CGROUP_STEP_NONE);
	put_file(tree, "u/memory.max", "4294967296\n");
	expect_obstacle("u", false, CGROUP_BUSY, "/u");
	put_file(tree, "u/cgroup.procs", "us");
	expect_spot("u", false, "u", CGROUP_STEP_MOVE);
}

/* A process that has been moved before is not moved deeper and deeper. */
static void a_moved_process_stays(void **state)
{
	(void)state;
	GROW({"", DOMAIN, ALL, "memory pids cpu\n", ""},
	     {"husk-caller-0123456789abcdef", DOMAIN, ALL, "", "us"});
	expect_spot("husk-caller-0123456789abcdef", false, "", CGROUP_STEP_NONE);
}

static void threaded_groups_are_refused(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "cpu memory pids\n", "1\n"},
	     {"own", "threaded\n", "cpu pids\n", "", "us"});
	expect_obstacle("own", false, CGROUP_THREADED, "/own");
}

static void no_controllers(void **state)
{
	(void)state;
	GROW({"", NULL, "hugetlb\n", "", "1\n"});
	expect_obstacle("", false, CGROUP_NO_CONTROLLER, "");
}

static void systemd_units_are_not_ours(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "cpu memory pids\n", "1\n"},
	     {"a.slice", DOMAIN, ALL, "cpu memory pids\n", ""},
	     {"a.slice/a.service", DOMAIN, ALL, "", "us"});
	expect_obstacle("a.slice/a.service", true, CGROUP_NOT_DELEGATED,
			"/a.slice/a.service");
}

static void delegated_units_are_ours(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "cpu memory pids\n", "1\n"},
	     {"a.slice", DOMAIN, ALL, "cpu memory pids\n", ""},
	     {"a.slice/a.service", DOMAIN, ALL, "", "us", true});
	expect_spot("a.slice/a.service", true, "a.slice/a.service", CGROUP_STEP_MOVE);
}

/* A scope that we asked a user's manager for, which leaves no mark on it. */
static void a_scope_of_our_own(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "cpu memory pids\n", "1\n"},
	     {"husk-0123456789abcdef.scope", DOMAIN, ALL, "", "us"});
	expect_spot("husk-0123456789abcdef.scope", true, "husk-0123456789abcdef.scope",
		    CGROUP_STEP_MOVE);
}

/* As a service with DelegateSubgroup=, or a process that has been moved before. */
static void in_a_leaf_of_a_delegated_unit(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "cpu memory pids\n", "1\n"},
	     {"a.slice", DOMAIN, ALL, "cpu memory pids\n", ""},
	     {"a.slice/a.service", DOMAIN, ALL, "cpu memory pids\n", "", true},
	     {"a.slice/a.service/leaf", DOMAIN, ALL, "", "us"});
	expect_spot("a.slice/a.service/leaf", true, "a.slice/a.service",
		    CGROUP_STEP_NONE);
}

/* However writable it is, a slice is never ours; and what is above a delegated unit
 * never. */
static void never_above_a_delegated_unit(void **state)
{
	(void)state;
	GROW({"", NULL, ALL, "cpu memory pids\n", "1\n"},
	     {"a.slice", DOMAIN, ALL, "cpu memory pids\n", ""},
	     {"a.slice/a.service", DOMAIN, ALL, "", "1\n", true});
	expect_obstacle("a.slice/a.service", true, CGROUP_BUSY, "/a.slice/a.service");
	expect_obstacle("a.slice/a.service", false, CGROUP_BUSY, "/a.slice/a.service");
}

static void what_may_not_be_written_names_its_owner(void **state)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	struct cgroup_obstacle why;
	struct cgroup_spot spot;
	int r;

	(void)state;
	if (geteuid() != 0) {
		skip_because("needs root to become somebody else");
	}
	GROW({"", DOMAIN, ALL, "", "us"});
	look_from("", false, &view);
	assert_int_equal(seteuid(65534), 0);
	r = cgroup_spot_find(&view, &spot, &why);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, 0);
	assert_int_equal(why.why, CGROUP_NOT_OURS);
	assert_int_equal(why.owner, 0);
	assert_string_equal(why.path, tree);
}

/* Only looking, a place is described as it would be, and nothing is written. */
static void looking_changes_nothing(void **state)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	struct cgroup_place place = {.leaf.fd = -1};
	char path[512], text[64] = "";
	FILE *file;

	(void)state;
	GROW({"", DOMAIN, "memory pids\n", "", "us"});
	look_from("", false, &view);
	assert_int_equal(cgroup_v2_find(&view, CGROUP_ALLOW_NOTHING, &place), 0);
	assert_int_equal(place.count, 1);
	assert_true(place.must_move);
	assert_int_equal(place.driver, CGROUP_V2);
	assert_int_equal(cgroup_place_controllers(&place),
			 CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_PIDS));
	assert_int_equal(place.missing[CGROUP_MEMORY].why, CGROUP_CLEAR);
	assert_int_equal(place.missing[CGROUP_CPU].why, CGROUP_NO_CONTROLLER);
	cgroup_place_deinit(&place);
	(void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", tree);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_null(fgets(text, sizeof(text), file));
	(void)fclose(file);
}

/* A controller that the mount point has and our group has not was not passed down. */
static void a_controller_kept_above(void **state)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	struct cgroup_place place = {.leaf.fd = -1};

	(void)state;
	GROW({"", NULL, ALL, "memory pids\n", ""},
	     {"own", DOMAIN, "memory pids\n", "memory pids\n", ""});
	look_from("own", false, &view);
	assert_int_equal(cgroup_v2_find(&view, CGROUP_ALLOW_ENABLE, &place), 0);
	assert_int_equal(place.count, 1);
	assert_false(place.must_move);
	assert_int_equal(place.missing[CGROUP_CPU].why, CGROUP_NOT_PASSED_DOWN);
	cgroup_place_deinit(&place);
}

/* Several v1 hierarchies: which controllers can be reached, and what is said of the rest.
 */
static void v1_hierarchies(void **state)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	struct cgroup_place place = {.leaf.fd = -1};
	char mounts[1200];

	(void)state;
	GROW({"", NULL, NULL, NULL, NULL}, {"own", NULL, NULL, NULL, NULL});
	(void)snprintf(mounts, sizeof(mounts),
		       "9 8 0:7 / %s rw - cgroup cgroup rw,cpu,cpuacct\n"
		       "9 8 0:8 /docker/x %s rw - cgroup cgroup rw,pids\n"
		       "9 8 0:9 /elsewhere %s rw - cgroup cgroup rw,memory\n",
		       tree, tree, tree);
	assert_int_equal(cgroup_view_build("3:cpu,cpuacct:/own\n2:pids:/docker/x/own\n"
					   "1:memory:/docker/x\n",
					   mounts, false, &view),
			 0);
	assert_int_equal(view.count, 2);
	assert_int_equal(cgroup_v1_find(&view, &place), 0);
	assert_int_equal(place.driver, CGROUP_V1);
	assert_int_equal(place.count, 2);
	assert_int_equal(cgroup_place_controllers(&place),
			 CGROUP_BIT(CGROUP_CPU) | CGROUP_BIT(CGROUP_CPUACCT) |
			     CGROUP_BIT(CGROUP_PIDS));
	assert_int_equal(cgroup_place_group(&place, CGROUP_CPU),
			 cgroup_place_group(&place, CGROUP_CPUACCT));
	assert_int_equal(place.missing[CGROUP_MEMORY].why, CGROUP_OUTSIDE);
	cgroup_place_deinit(&place);
}

static void nothing_mounted(void **state)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	struct cgroup_place place = {.leaf.fd = -1};

	(void)state;
	assert_int_equal(cgroup_view_build("0::/\n", "", false, &view), 0);
	assert_int_equal(view.count, 0);
	assert_int_equal(cgroup_v1_find(&view, &place), 0);
	assert_int_equal(place.count, 0);
	for (int i = 0; i < CGROUP_CAPS; i++)
		assert_int_equal(place.missing[i].why, CGROUP_NOT_MOUNTED);
}

static void read_only_trees(void **state)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	struct cgroup_place place = {.leaf.fd = -1};
	char mounts[512];

	(void)state;
	GROW({"", NULL, NULL, NULL, NULL});
	(void)snprintf(mounts, sizeof(mounts),
		       "9 8 0:7 / %s ro - cgroup cgroup rw,memory\n", tree);
	assert_int_equal(cgroup_view_build("1:memory:/\n", mounts, false, &view), 0);
	assert_int_equal(cgroup_v1_find(&view, &place), 0);
	assert_int_equal(place.count, 0);
	assert_int_equal(place.missing[CGROUP_MEMORY].why, CGROUP_READ_ONLY);
	assert_string_equal(place.missing[CGROUP_MEMORY].path, tree);
}

/* Of several mounts, the latest that shows our group and can be written to. */
static void the_right_one_of_several_mounts(void **state)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	char mounts[1200];

	(void)state;
	GROW({"", NULL, ALL, "", ""}, {"own", DOMAIN, ALL, "", ""});
	(void)snprintf(mounts, sizeof(mounts),
		       "9 8 0:7 / %s rw - cgroup2 cgroup2 rw\n"
		       "9 8 0:7 / %s/own ro - cgroup2 cgroup2 rw\n"
		       "9 8 0:7 /other %s/own rw - cgroup2 cgroup2 rw\n"
		       "9 8 0:7 / %s/missing rw - cgroup2 cgroup2 rw\n",
		       tree, tree, tree, tree);
	assert_int_equal(cgroup_view_build("0::/own\n", mounts, false, &view), 0);
	assert_int_equal(view.count, 1);
	assert_string_equal(view.list[0].point, tree);
	assert_string_equal(view.list[0].own, "own");
}

/* What is not a control group file system is not taken for one. */
static void covered_mounts(void **state)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	char mounts[512];

	(void)state;
	GROW({"", NULL, ALL, "", ""});
	(void)snprintf(mounts, sizeof(mounts), "9 8 0:7 / %s rw - cgroup2 cgroup2 rw\n",
		       tree);
	assert_int_equal(cgroup_view_build("0::/\n", mounts, true, &view), 0);
	assert_int_equal(view.count, 0);
	assert_true(view.unified_mounted);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_TREE(the_root_may_hold_processes),
	    WITH_TREE(ready_root),
	    WITH_TREE(alone_in_our_group_we_move),
	    WITH_TREE(with_others_we_look_above),
	    WITH_TREE(a_container_with_others_is_busy),
	    WITH_TREE(processes_out_of_sight_are_others),
	    WITH_TREE(no_way_past_caps),
	    WITH_TREE(siblings_of_our_leaf),
	    WITH_TREE(no_enabling_above_when_alone),
	    WITH_TREE(a_moved_process_stays),
	    WITH_TREE(threaded_groups_are_refused),
	    WITH_TREE(no_controllers),
	    WITH_TREE(systemd_units_are_not_ours),
	    WITH_TREE(delegated_units_are_ours),
	    WITH_TREE(a_scope_of_our_own),
	    WITH_TREE(in_a_leaf_of_a_delegated_unit),
	    WITH_TREE(never_above_a_delegated_unit),
	    WITH_TREE(what_may_not_be_written_names_its_owner),
	    WITH_TREE(looking_changes_nothing),
	    WITH_TREE(a_controller_kept_above),
	    WITH_TREE(v1_hierarchies),
	    WITH_TREE(nothing_mounted),
	    WITH_TREE(read_only_trees),
	    WITH_TREE(the_right_one_of_several_mounts),
	    WITH_TREE(covered_mounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
