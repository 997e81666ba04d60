/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of /proc/self/cgroup, /proc/self/mountinfo and control group files. */
#include "cgroup/knob.h"
#include "cgroup/proc_text.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <cmocka.h>

#define ALL_V1                                                                          \
	(CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_CPU) | CGROUP_BIT(CGROUP_PIDS) | \
	 CGROUP_BIT(CGROUP_CPUACCT))

static void own_groups(void **state)
{
	/* NULL: there is none. */
	static const struct {
		const char *what, *text, *unified, *memory, *cpu, *cpuacct, *pids;
	} cases[] = {
	    {"pure v2", "0::/user.slice/user-1000.slice/session-3.scope\n",
	     "/user.slice/user-1000.slice/session-3.scope"},
	    {"user manager",
	     "0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
	     "app-a\\x2db.scope\n",
	     "/user.slice/user-1000.slice/user@1000.service/app.slice/app-a\\x2db.scope"},
	    {"cgroup namespace", "0::/\n", "/"},
	    {"outside of the namespace", "0::/../../other\n", "/../../other"},
	    {"hybrid",
	     "9:name=systemd:/\n8:pids:/p\n4:memory:/m/n\n2:cpuacct:/a\n1:cpu:/c\n0::/"
	     "u\n",
	     "/u", "/m/n", "/c", "/a", "/p"},
	    {"joined controllers",
	     "12:memory:/docker/abc\n11:cpu,cpuacct:/docker/abc\n10:pids:/docker/abc\n"
	     "1:name=systemd:/docker/abc\n",
	     NULL, "/docker/abc", "/docker/abc", "/docker/abc", "/docker/abc"},
	    {"a colon and a space in the path", "5:memory:/a b:c\n0::/x:y z\n", "/x:y z",
	     "/a b:c"},
	    {"names that merely begin alike", "3:memoryx:/no\n2:cpuset:/no\n0::/\n", "/"},
	    {"no newline at the end", "0::/last", "/last"},
	    {"garbage", "\n:::\nnonsense\n0:\n0::relative\n7:memory:\n", NULL},
	    {"nothing", "", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *expected[] = {cases[i].unified, cases[i].memory, cases[i].cpu,
					  cases[i].cpuacct, cases[i].pids};
		struct cgroup_own own;
		const char *got[5];

		assert_int_equal(cgroup_own_parse(cases[i].text, &own), 0);
		got[0] = own.unified;
		got[1] = own.v1[CGROUP_MEMORY];
		got[2] = own.v1[CGROUP_CPU];
		got[3] = own.v1[CGROUP_CPUACCT];
		got[4] = own.v1[CGROUP_PIDS];
		for (int k = 0; k < 5; k++)
			if (!expected[k] != !got[k] ||
			    (got[k] && strcmp(expected[k], got[k]) != 0))
				fail_msg("%s: field %d is %s, not %s", cases[i].what, k,
					 got[k] ? got[k] : "missing",
					 expected[k] ? expected[k] : "missing");
		cgroup_own_deinit(&own);
	}
}

static void mount_tables(void **state)
{
	static const char table[] =
	    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	    "31 22 0:28 / /sys/fs/cgroup ro,nosuid shared:4 - tmpfs tmpfs ro,mode=755\n"
	    "32 31 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:5 - cgroup2 cgroup2 "
	    "rw\n"
	    "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:7 master:2 - cgroup "
	    "cgroup "
	    "rw,cpu,cpuacct\n"
	    "34 31 0:30 /docker/a\\040b /mnt/my\\040groups\\134x ro,nodev - cgroup "
	    "cgroup "
	    "rw,memory\n"
	    "35 31 0:31 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
	    "36 31 0:32 / /sys/fs/cgroup/pids rw - cgroup cgroup ro,pids\n"
	    "broken line\n"
	    "37 31 0:33 / /x rw\n"
	    "38 31 x:33 / /x rw - cgroup cgroup rw,pids\n"
	    "39 31 0:40 / /cg rw - cgroup2 none rw,nsdelegate,memory_recursiveprot";
	struct cgroup_mounts mounts;

	(void)state;
	assert_int_equal(cgroup_mounts_parse(table, &mounts), 0);
	assert_int_equal(mounts.count, 5);

	assert_true(mounts.list[0].unified);
	assert_false(mounts.list[0].read_only);
	assert_true(mounts.list[0].dev == makedev(0, 27));
	assert_string_equal(mounts.list[0].point, "/sys/fs/cgroup/unified");

	assert_false(mounts.list[1].unified);
	assert_int_equal(mounts.list[1].controllers,
			 CGROUP_BIT(CGROUP_CPU) | CGROUP_BIT(CGROUP_CPUACCT));

	assert_int_equal(mounts.list[2].controllers, CGROUP_BIT(CGROUP_MEMORY));
	assert_string_equal(mounts.list[2].root, "/docker/a b");
	assert_string_equal(mounts.list[2].point, "/mnt/my groups\\x");
	assert_true(mounts.list[2].read_only);

	assert_int_equal(mounts.list[3].controllers, CGROUP_BIT(CGROUP_PIDS));
	assert_true(mounts.list[3].read_only);

	assert_true(mounts.list[4].unified);
	assert_string_equal(mounts.list[4].point, "/cg");
	cgroup_mounts_deinit(&mounts);

	assert_int_equal(cgroup_mounts_parse("", &mounts), 0);
	assert_int_equal(mounts.count, 0);
	cgroup_mounts_deinit(&mounts);
}

static void escapes_at_the_edges(void **state)
{
	struct cgroup_mounts mounts;

	(void)state;
	assert_int_equal(
	    cgroup_mounts_parse("1 2 0:3 /a\\04 /\\400\\ rw - cgroup2 x rw\n", &mounts),
	    0);
	assert_int_equal(mounts.count, 1);
	assert_string_equal(mounts.list[0].root, "/a\\04");
	assert_string_equal(mounts.list[0].point, "/\\400\\");
	cgroup_mounts_deinit(&mounts);
}

static void below_a_mount(void **state)
{
	static const struct {
		const char *root, *own, *expected;
	} cases[] = {
	    {"/", "/", ""},
	    {"/", "/a/b", "a/b"},
	    {"/docker/x", "/docker/x", ""},
	    {"/docker/x", "/docker/x/y", "y"},
	    {"/docker/x", "/docker/xy", NULL},
	    {"/docker/x", "/docker", NULL},
	    {"/docker/x", "/", NULL},
	    {"/", "/../other", NULL},
	    {"/..", "/", NULL},
	    {"/../a", "/../a/b", NULL},
	    {"/", "/a..b/...", "a..b/..."},
	    {"relative", "/relative", NULL},
	    {"/", "", NULL},
	    {"/", "//etc", NULL}, /* an absolute path is not below anything */
	    {"/a", "/a//etc", NULL},
	    {"/a", "/a/", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = cgroup_path_below(cases[i].root, cases[i].own);

		if (!got != !cases[i].expected ||
		    (got && strcmp(got, cases[i].expected) != 0))
			fail_msg("%s below %s: %s, not %s", cases[i].own, cases[i].root,
				 got ? got : "nowhere",
				 cases[i].expected ? cases[i].expected : "nowhere");
	}
}

static void lists_of_controllers(void **state)
{
	static const char spaces[] = "cpuset cpu io memory hugetlb pids rdma misc\n";
	static const char commas[] = "rw,cpu,cpuacct,memory,pids";

	(void)state;
	assert_int_equal(cgroup_controllers_in(spaces, strlen(spaces), ' '),
			 CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_CPU) |
			     CGROUP_BIT(CGROUP_PIDS));
	assert_int_equal(cgroup_controllers_in(commas, strlen(commas), ','), ALL_V1);
	assert_int_equal(cgroup_controllers_in("\n", 1, ' '), 0);
	assert_int_equal(cgroup_controllers_in("", 0, ' '), 0);
}

static void values(void **state)
{
	static const char events[] =
	    "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_kill_x 9\n";
	static const char control[] = "oom_kill_disable 0\nunder_oom 0\noom_kill 7";
	unsigned long long value;

	(void)state;
	assert_true(cgroup_keyed_value(events, "oom_kill", &value));
	assert_int_equal(value, 2);
	assert_true(cgroup_keyed_value(events, "max", &value));
	assert_int_equal(value, 12);
	assert_true(cgroup_keyed_value(control, "oom_kill", &value));
	assert_int_equal(value, 7);
	assert_false(cgroup_keyed_value(events, "oom_group_kill", &value));
	assert_false(cgroup_keyed_value("max\nmax -1\n", "max", &value));
	assert_false(cgroup_keyed_value("max 99999999999999999999999\n", "max", &value));

	assert_true(cgroup_number("0\n", &value));
	assert_int_equal(value, 0);
	assert_true(cgroup_number("18446744073709551615", &value));
	assert_true(value == ULLONG_MAX);
	assert_true(cgroup_number("max\n", &value));
	assert_true(value == ULLONG_MAX);
	assert_false(cgroup_number("-1\n", &value));
	assert_false(cgroup_number("", &value));
	assert_false(cgroup_number("12 34\n", &value));
	assert_false(cgroup_number("maximum\n", &value));
	assert_false(cgroup_number("99999999999999999999999\n", &value));
}

static void *give_back_later(void *data)
{
	static const struct timespec nap = {.tv_nsec = 20000000};

	(void)nanosleep(&nap, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, data), 0);
	return NULL;
}

static void a_counter_waits_for_a_descriptor(void **state)
{
	struct rlimit before, none;
	pthread_t other;
	char text[256];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(cgroup_read(-1, "/proc/self", "stat", text, sizeof(text)),
			 -EMFILE);
	assert_int_equal(
	    cgroup_read_patiently(-1, "/proc/self", "stat", text, sizeof(text)), -EMFILE);
	assert_int_equal(pthread_create(&other, NULL, give_back_later, &before), 0);
	assert_true(cgroup_read_patiently(-1, "/proc/self", "stat", text, sizeof(text)) >
		    0);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_int_equal(
	    cgroup_read_patiently(-1, "/proc/self", "none", text, sizeof(text)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(own_groups),
	    cmocka_unit_test(mount_tables),
	    cmocka_unit_test(escapes_at_the_edges),
	    cmocka_unit_test(below_a_mount),
	    cmocka_unit_test(lists_of_controllers),
	    cmocka_unit_test(values),
	    cmocka_unit_test(a_counter_waits_for_a_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
