/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of control groups that are tables and arithmetic: obstacles and their
 * remedies, values, names, and what a scope of systemd's is asked to keep. */
#include "cgroup/knob.h"
#include "cgroup/name.h"
#include "cgroup/obstacle.h"
#include "cgroup/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Every word of the templates in one place. */
static const struct cgroup_obstacle example = {
    .sys_errno = EBUSY,
    .owner = 0,
    .path = "THE-PATH",
    .said = "THE-ANSWER",
};

static void every_obstacle_has_words_and_a_remedy(void **state)
{
	char text[512], remedy[512];

	(void)state;
	for (int why = CGROUP_CLEAR + 1; why < CGROUP_WHYS; why++) {
		struct cgroup_obstacle obstacle = example;

		obstacle.why = why;
		for (int controller = 0; controller < CGROUP_CAPS; controller++) {
			cgroup_obstacle_text(&obstacle, controller, text, sizeof(text));
			assert_true(strlen(text) > 20);
			/* No template word is left, so none is misspelt. */
			assert_null(strchr(text, '{'));
			assert_null(strchr(text, '\n'));
			for (int at = 0; at < CGROUP_SETTINGS; at++) {
				cgroup_obstacle_remedy(&obstacle, controller, at, remedy,
						       sizeof(remedy));
				assert_true(strlen(remedy) > 20);
				assert_null(strchr(remedy, '{'));
				assert_null(strchr(remedy, '\n'));
				/* It fits into the error's hint with what is put after
				 * it. */
				assert_true(strlen(remedy) < 440);
			}
		}
	}
}

static void obstacles_name_the_particulars(void **state)
{
	struct cgroup_obstacle obstacle = example;
	char text[512];

	(void)state;
	obstacle.why = CGROUP_NOT_OURS;
	cgroup_obstacle_text(&obstacle, CGROUP_MEMORY, text, sizeof(text));
	assert_string_equal(text,
			    "THE-PATH belongs to uid 0 (root) and may not be written to");
	obstacle.owner = 1234;
	cgroup_obstacle_text(&obstacle, CGROUP_MEMORY, text, sizeof(text));
	assert_non_null(strstr(text, "uid 1234 and"));
	obstacle.why = CGROUP_REFUSED;
	cgroup_obstacle_text(&obstacle, CGROUP_MEMORY, text, sizeof(text));
	assert_non_null(strstr(text, strerror(EBUSY)));
	obstacle.why = CGROUP_NOT_PASSED_DOWN;
	cgroup_obstacle_text(&obstacle, CGROUP_CPU, text, sizeof(text));
	assert_non_null(strstr(text, "the cpu controller"));
	obstacle.why = CGROUP_DID_NOT_STICK;
	cgroup_obstacle_text(&obstacle, CGROUP_CPU, text, sizeof(text));
	assert_non_null(strstr(text, "THE-ANSWER"));
}

/* That says nothing about the group. */
static void want_of_descriptors_is_told_as_such(void **state)
{
	struct cgroup_obstacle obstacle;
	char text[512];

	(void)state;
	cgroup_obstacle_at(&obstacle, CGROUP_REFUSED, EMFILE, -1, NULL, "THE-PATH");
	assert_int_equal(obstacle.why, CGROUP_SHORTAGE);
	cgroup_obstacle_text(&obstacle, CGROUP_CPU, text, sizeof(text));
	assert_non_null(strstr(text, strerror(EMFILE)));
	cgroup_obstacle_remedy(&obstacle, CGROUP_CPU, CGROUP_CONTAINER, text,
			       sizeof(text));
	assert_non_null(strstr(text, "ulimit -n"));
}

static void long_words_are_cut(void **state)
{
	struct cgroup_obstacle obstacle = example;
	char text[16];

	(void)state;
	obstacle.why = CGROUP_NOT_OURS;
	cgroup_obstacle_text(&obstacle, CGROUP_MEMORY, text, sizeof(text));
	assert_int_equal(strlen(text), 15);
	assert_memory_equal(text, "THE-PATH belong", 15);
}

static void memory_and_task_values(void **state)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	assert_int_equal(cgroup_memory_value(page - 1), 0);
	assert_int_equal(cgroup_memory_value(page), page);
	assert_int_equal(cgroup_memory_value(10 * page + 1), 10 * page);
	assert_true(cgroup_memory_value(UINT64_MAX) <= LONG_MAX);
	assert_int_equal(cgroup_memory_value(UINT64_MAX) % page, 0);
	assert_int_equal(cgroup_pids_value(1), 1);
	assert_int_equal(cgroup_pids_value(4194304), 4194304);
	assert_int_equal(cgroup_pids_value(UINT64_MAX), 4194304);
}

/* Whatever is asked for, the kernel takes it (quota at least 1 ms, period at most 1 s),
 * and the share is the one that was asked for. */
static void cpu_values(void **state)
{
	(void)state;
	for (uint64_t milli = 1; milli < 20000; milli++) {
		struct cgroup_quota quota = cgroup_cpu_quota(milli);
		uint64_t got = quota.quota_us * 1000000 / quota.period_us;

		assert_true(quota.quota_us >= 1000);
		assert_true(quota.period_us >= 1000 && quota.period_us <= 1000000);
		assert_true(got >= milli * 1000 && got <= milli * 1000 + 1);
	}
	assert_true(cgroup_cpu_quota(UINT64_MAX).quota_us < (uint64_t)1 << 40);
}

static void names(void **state)
{
	static const struct {
		const char *name;
		enum cgroup_name_kind kind;
	} cases[] = {
	    {"husk-0123456789abcdef", CGROUP_NAME_BOX},
	    {"husk-caller-0123456789abcdef", CGROUP_NAME_LEAF},
	    {"husk-0123456789abcde", CGROUP_NAME_FOREIGN},
	    {"husk-0123456789abcdef0", CGROUP_NAME_FOREIGN},
	    {"husk-0123456789ABCDEF", CGROUP_NAME_FOREIGN},
	    {"husk-0123456789abcdef.scope", CGROUP_NAME_SCOPE},
	    {"husk-caller-0123456789abcdef.scope", CGROUP_NAME_FOREIGN},
	    {"husk-caller-x", CGROUP_NAME_FOREIGN},
	    {"husk-caller-", CGROUP_NAME_FOREIGN},
	    {"husk-", CGROUP_NAME_FOREIGN},
	    {"husky-0123456789abcdef", CGROUP_NAME_FOREIGN},
	    {"", CGROUP_NAME_FOREIGN},
	};
	char first[CGROUP_NAME_SIZE], second[CGROUP_NAME_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (cgroup_name_kind(cases[i].name) != cases[i].kind)
			fail_msg("%s", cases[i].name);
	assert_int_equal(cgroup_name_random(CGROUP_BOX_PREFIX, first), 0);
	assert_int_equal(cgroup_name_random(CGROUP_BOX_PREFIX, second), 0);
	assert_int_equal(cgroup_name_kind(first), CGROUP_NAME_BOX);
	assert_string_not_equal(first, second);
	assert_int_equal(cgroup_name_random(CGROUP_LEAF_PREFIX, first), 0);
	assert_int_equal(cgroup_name_kind(first), CGROUP_NAME_LEAF);
}

/* On any file system: the lock says whether the maker lives. */
static void locks(void **state)
{
	const char *temp = getenv("TMPDIR");
	const int flags = O_RDONLY | O_DIRECTORY;
	char path[200], name[CGROUP_NAME_SIZE];
	int dir, fd;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/husk-lock-XXXXXX", temp ? temp : P_tmpdir);
	assert_non_null(mkdtemp(path));
	dir = open(path, flags | O_CLOEXEC);
	assert_true(dir >= 0);
	fd = cgroup_name_make(dir, CGROUP_BOX_PREFIX, "", flags, name);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(cgroup_name_lock(dir, name, "", flags), -EWOULDBLOCK);
	assert_int_equal(cgroup_name_claim(dir, name, "", flags), -EEXIST);
	assert_int_equal(close(fd), 0);
	fd = cgroup_name_lock(dir, name, "", flags);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlinkat(dir, name, AT_REMOVEDIR), 0);
	/* A lock file that is not there: nothing is left of the try. */
	assert_int_equal(cgroup_name_claim(dir, name, "tasks", O_WRONLY), -ENOENT);
	(void)unlinkat(dir, name, AT_REMOVEDIR);
	assert_int_equal(close(dir), 0);
	assert_int_equal(rmdir(path), 0);
}

static void scopes_keep_slice_and_service(void **state)
{
	static const struct {
		const char *own;
		unsigned uid;
		const char *slice, *unit;
	} cases[] = {
	    {"system.slice/foo.service", 0, "system.slice", "foo.service"},
	    {"system.slice/system-x.slice/x@1.service/leaf", 0, "system-x.slice",
	     "x@1.service"},
	    {"user.slice/user-0.slice/session-3.scope", 0, "user-0.slice", ""},
	    {"user.slice/user-5.slice/user@5.service/app.slice/a.scope", 0,
	     "user-5.slice", ""},
	    {"init.scope", 0, "", ""},
	    {"", 0, "", ""},
	    {"user.slice/user-5.slice/session-3.scope", 5, "", ""},
	    {"user.slice/user-5.slice/user@5.service/app.slice/b.service", 5, "app.slice",
	     "b.service"},
	    {"user.slice/user-5.slice/user@5.service/init.scope", 5, "", ""},
	    {"user.slice/user-5.slice/user@5.service/app.slice/a.scope", 6, "", ""},
	    {"a.slice/b.slice/", 0, "b.slice", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_unit unit;

		cgroup_scope_unit(cases[i].own, cases[i].uid, &unit);
		if (strcmp(unit.slice, cases[i].slice) != 0 ||
		    strcmp(unit.unit, cases[i].unit) != 0)
			fail_msg("%s as %u: '%s' '%s'", cases[i].own, cases[i].uid,
				 unit.slice, unit.unit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_obstacle_has_words_and_a_remedy),
	    cmocka_unit_test(obstacles_name_the_particulars),
	    cmocka_unit_test(want_of_descriptors_is_told_as_such),
	    cmocka_unit_test(long_words_are_cut),
	    cmocka_unit_test(memory_and_task_values),
	    cmocka_unit_test(cpu_values),
	    cmocka_unit_test(names),
	    cmocka_unit_test(locks),
	    cmocka_unit_test(scopes_keep_slice_and_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
