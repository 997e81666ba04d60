/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about hosts that are made up: the table, and what was tried. */
#include "tests/unit/host_view.h"

/* In the order of their importance; husk doctor prints them so. */
static const char *const names[] = {
    "kernel",
    "clone3",
    "user-namespace",
    "pid-namespace",
    "mount-namespace",
    "network-namespace",
    "ipc-namespace",
    "uts-namespace",
    "cgroup-namespace",
    "mount-trees",
    "pivot-root",
    "procfs",
    "terminal",
    "id-mapped-mounts",
    "init-program",
    "no-new-privs",
    "seccomp",
    "pidfd",
    "openat2",
    "close-range",
    "seccomp-notify",
    "overlay",
    "cgroup",
    "memory-limit",
    "cpu-limit",
    "task-limit",
    "systemd",
    "apparmor",
    "selinux",
    "yama",
    "container",
    "landlock",
    "store",
    "libarchive",
    "libz",
    "libisal",
    "libzstd",
    "libcrypto",
    "libssl",
    "libcurl",
    "box",
};

static void the_table_is_complete_and_in_order(void **state)
{
	husk_host *host = host_judge(healthy());

	(void)state;
	assert_int_equal(husk_host_count(host), sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < husk_host_count(host); i++)
		assert_string_equal(husk_host_name(host, i), names[i]);
	for (int i = 0; i < PROBE_COUNT; i++) {
		enum probe below = probe_stands_on((enum probe)i);
		const char *name = host_probe_name((enum probe)i);

		assert_true(name[0] != '\0'); /* whatever is tried is shown */
		if (below != PROBE_COUNT)
			assert_true(row_of(host, host_probe_name(below)) <
				    row_of(host, name));
	}
	husk_host_free(host);
}

/* docs/HOSTS.md explains every line that husk doctor prints. */
static void the_manual_names_each_row(void **state)
{
	husk_host *host = host_judge(healthy());
	char *text = test_calloc(1, 1 << 16), quoted[64];
	FILE *file = fopen("docs/HOSTS.md", "re");

	(void)state;
	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	assert_int_equal(fclose(file), 0);
	for (size_t i = 0; i < husk_host_count(host); i++) {
		(void)snprintf(quoted, sizeof(quoted), "`%s`", husk_host_name(host, i));
		if (!strstr(text, quoted))
			fail_msg("docs/HOSTS.md lacks %s", quoted);
	}
	test_free(text);
	husk_host_free(host);
}

static void a_healthy_host_is_all_ok(void **state)
{
	husk_host *host = host_judge(healthy());

	(void)state;
	assert_int_equal(husk_host_usable(host), 1);
	assert_string_equal(husk_host_level(host), "full");
	for (size_t i = 0; i < husk_host_count(host); i++) {
		assert_int_equal(husk_host_state(host, i), HUSK_PROBE_OK);
		assert_true(husk_host_finding(host, i)[0] != '\0');
		assert_string_equal(husk_host_remedy(host, i), "");
	}
	husk_host_free(host);
}

static void getters_bear_anything(void **state)
{
	husk_host *host = host_judge(healthy());
	size_t past = husk_host_count(host);

	(void)state;
	assert_null(husk_host_name(host, past));
	assert_null(husk_host_finding(host, past));
	assert_null(husk_host_remedy(host, past));
	assert_int_equal(husk_host_state(host, past), 0);
	assert_int_equal(husk_host_count(NULL), 0);
	assert_int_equal(husk_host_usable(NULL), 0);
	assert_null(husk_host_level(NULL));
	assert_null(husk_host_summary(NULL));
	assert_null(husk_host_name(NULL, 0));
	assert_null(husk_host_free(NULL));
	husk_host_free(host);
}

/* Every probe that fails shows in its own row, with words, and its followers say why they
 * were not tried. */
static void each_failure_shows_in_its_row(void **state)
{
	(void)state;
	for (int i = 0; i < PROBE_COUNT; i++) {
		struct host_view *view = healthy();
		husk_host *host;
		size_t row;
		int lost = i == PROBE_OVERLAY || i == PROBE_LISTENER ? HUSK_PROBE_WEAKER
								     : HUSK_PROBE_MISSING;

		if (i == PROBE_LANDLOCK)
			continue;
		view->facts.ordinary = view->answers.ids.foreign = i == PROBE_IDMAP;
		break_probe(view, (enum probe)i, STEP_NONE, ENOSYS);
		host = host_judge(view);
		row = row_of(host, host_probe_name((enum probe)i));
		assert_int_equal(husk_host_state(host, row), lost);
		assert_int_equal(husk_host_usable(host), 0);
		assert_non_null(
		    strstr(husk_host_finding(host, row), "Function not implemented"));
		for (int j = 0; j < PROBE_COUNT; j++) {
			if (j == PROBE_IDMAP ||
			    probe_stands_on((enum probe)j) != (enum probe)i)
				continue;
			row = row_of(host, host_probe_name((enum probe)j));
			if (j == PROBE_LANDLOCK)
				continue;
			assert_non_null(
			    strstr(husk_host_finding(host, row), "not tried"));
			assert_non_null(strstr(husk_host_finding(host, row),
					       host_probe_name((enum probe)i)));
		}
		husk_host_free(host);
	}
}

static void a_box_that_ran_is_the_proof(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	break_probe(view, PROBE_PROCFS, STEP_MOUNT_FS, EPERM);
	expect(view, "procfs", HUSK_PROBE_MISSING, "/proc: Operation not permitted",
	       NULL);
	view->box.ran = true;
	expect(view, "procfs", HUSK_PROBE_WEAKER, "/proc: Operation not permitted", NULL);
}

static void kernels(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "kernel", HUSK_PROBE_OK, "Linux 6.12.0, x86_64", NULL);
	probe_facts_release("5.12.0", &view->facts);
	expect(view, "kernel", HUSK_PROBE_OK, "id-mapped tmpfs (6.3)", NULL);
	probe_facts_release("6.1.0", &view->facts);
	expect(view, "kernel", HUSK_PROBE_OK, "not yet: id-mapped tmpfs (6.3)", NULL);
	probe_facts_release("4.18.0-553.el8", &view->facts);
	expect(view, "kernel", HUSK_PROBE_OK, "all the same", NULL);
	break_probe(view, PROBE_TREES, STEP_TREE_ATTR, ENOSYS);
	expect(view, "kernel", HUSK_PROBE_MISSING, "Linux 5.12", "5.12 or later");
	expect(view, "mount-trees", HUSK_PROBE_MISSING, "cannot restrict", "5.12");
	expect(view, "pivot-root", HUSK_PROBE_MISSING, "not tried: it needs mount-trees",
	       NULL);
}

static void calls_that_are_not_there(void **state)
{
	static const struct {
		enum probe probe;
		const char *row, *since;
	} calls[] = {
	    {PROBE_CLOSE_RANGE, "close-range", "Linux 5.11"},
	    {PROBE_OPENAT2, "openat2", "Linux 5.6"},
	    {PROBE_PIDFD, "pidfd", "Linux 5.3"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct host_view *view = healthy();

		break_probe(view, calls[i].probe, STEP_NONE, ENOSYS);
		/* The kernel is new enough: something around us is in the way. */
		view->facts.own_seccomp = 2;
		expect(view, calls[i].row, HUSK_PROBE_MISSING, "it cannot be called",
		       "seccomp filter");
		probe_facts_release("4.9.0", &view->facts);
		expect(view, calls[i].row, HUSK_PROBE_MISSING, "it cannot be called",
		       calls[i].since);
	}
}

static void a_filter_that_kills_is_named(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	break_probe(view, PROBE_PIVOT, STEP_PIVOT, ECANCELED);
	view->answers.of[PROBE_PIVOT].signal = SIGSYS;
	view->facts.own_seccomp = 2;
	expect(view, "pivot-root", HUSK_PROBE_MISSING, "seccomp filter around us ends",
	       "SystemCallFilter=");
	expect(view, "container", HUSK_PROBE_MISSING, "inside a sandbox", "outside it");
}

static void user_namespaces(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	view->facts.max_spaces[SPACE_USER] = 0;
	break_probe(view, PROBE_USER, STEP_CLONE, ENOSPC);
	expect(view, "user-namespace", HUSK_PROBE_MISSING, "No space left",
	       "sysctl -w user.max_user_namespaces=10000");
	expect(view, "network-namespace", HUSK_PROBE_MISSING, "it needs user-namespace",
	       NULL);
	expect(view, "seccomp", HUSK_PROBE_OK, "can be installed", NULL);
	expect(view, "box", HUSK_PROBE_MISSING, "cannot do it", "do it");
	view = healthy();
	view->facts.max_spaces[SPACE_NETWORK] = 0;
	break_probe(view, PROBE_NETWORK, STEP_CLONE, ENOSPC);
	expect(view, "network-namespace", HUSK_PROBE_MISSING, "create the namespaces",
	       "user.max_net_namespaces");
	expect(view, "user-namespace", HUSK_PROBE_OK, "can be made", NULL);
}

static void notifications(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	break_probe(view, PROBE_LISTENER, STEP_SECCOMP, EINVAL);
	view->box.ran = true;
	expect(view, "seccomp-notify", HUSK_PROBE_WEAKER, "is not named", "");
	expect(view, "seccomp", HUSK_PROBE_OK, "can be installed", NULL);
}

static void remedies_hold_each_line_once_and_in_bounds(void **state)
{
	struct host_row row = {0};
	char line[200];

	(void)state;
	host_advise(&row, NULL);
	host_advise(&row, "");
	assert_string_equal(row.remedy, "");
	host_advise(&row, "one");
	host_advise(&row, "two");
	host_advise(&row, "one");
	assert_string_equal(row.remedy, "one\ntwo");
	for (int i = 0; i < 100; i++) {
		(void)snprintf(line, sizeof(line), "%d %0100d", i, i);
		host_advise(&row, line);
	}
	assert_int_equal(strlen(row.remedy), HOST_REMEDY - 1);
}

int main(void)
{
	const struct CMUnitTest host_judge_tests[] = {
	    cmocka_unit_test(the_table_is_complete_and_in_order),
	    cmocka_unit_test(the_manual_names_each_row),
	    cmocka_unit_test(a_healthy_host_is_all_ok),
	    cmocka_unit_test(getters_bear_anything),
	    cmocka_unit_test(each_failure_shows_in_its_row),
	    cmocka_unit_test(a_box_that_ran_is_the_proof),
	    cmocka_unit_test(kernels),
	    cmocka_unit_test(calls_that_are_not_there),
	    cmocka_unit_test(a_filter_that_kills_is_named),
	    cmocka_unit_test(user_namespaces),
	    cmocka_unit_test(notifications),
	    cmocka_unit_test(remedies_hold_each_line_once_and_in_bounds),
	};

	return cmocka_run_group_tests(host_judge_tests, NULL, NULL);
}
