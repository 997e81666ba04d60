/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about hosts that are made up: each row, each state, each remedy. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <linux/magic.h>

#include "session/host.h"

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
    "id-mapped-mounts",
    "init-program",
    "no-new-privs",
    "seccomp",
    "pidfd",
    "openat2",
    "close-range",
    "seccomp-notify",
    "overlay",
    "memory-limit",
    "cpu-limit",
    "task-limit",
    "systemd",
    "apparmor",
    "selinux",
    "yama",
    "container",
    "landlock",
    "box",
};

static struct cgroup_host_controller enforced(const char *name)
{
	struct cgroup_host_controller one = {.name = name, .enforceable = true};

	(void)snprintf(one.path, sizeof(one.path), "/sys/fs/cgroup/user.slice/app");
	return one;
}

/* A host of an ordinary user where all is well. Static: the caller changes it. */
static struct host_view *healthy(void)
{
	static struct host_view view;

	view = (struct host_view){
	    .facts = {.ordinary = true,
		      .uid = 1000,
		      .apparmor_restrict_userns = FACT_ABSENT,
		      .memfd_noexec = FACT_ABSENT,
		      .ptrace_scope = FACT_ABSENT,
		      .selinux_enforcing = FACT_ABSENT,
		      .unprivileged_userns_clone = FACT_ABSENT},
	    .answers.ids = {.uid = 1000, .gid = 1000},
	    .has_limits = true,
	    .limits = {.driver = CGROUP_V2,
		       .driver_name = "v2",
		       .memory = enforced("memory"),
		       .cpus = enforced("cpu"),
		       .pids = enforced("pids")},
	    .box.ran = true,
	};
	probe_facts_release("6.12.0", &view.facts);
	(void)snprintf(view.facts.machine, sizeof(view.facts.machine), "x86_64");
	for (int i = 0; i < SPACE_COUNT; i++)
		view.facts.max_spaces[i] = 10000;
	for (int i = 0; i < PROBE_COUNT; i++)
		view.answers.of[i].state = PROBE_WORKS;
	view.answers.of[PROBE_IDMAP].state = PROBE_UNTRIED;
	view.answers.of[PROBE_LANDLOCK].value = 6;
	return &view;
}

/* The probe fails, and what stands on it is not tried; no box runs. */
static void break_probe(struct host_view *view, enum probe probe, uint32_t step,
			int error)
{
	view->answers.of[probe] =
	    (struct probe_answer){.state = PROBE_FAILS, .step = step, .error = error};
	for (int i = 0; i < PROBE_COUNT; i++) {
		enum probe below = probe_stands_on((enum probe)i);

		if (below != PROBE_COUNT && view->answers.of[below].state != PROBE_WORKS)
			view->answers.of[i] = (struct probe_answer){0};
	}
	view->box = (struct host_box){.reason = "cannot do it", .remedy = "do it"};
}

static size_t row_of(const husk_host *host, const char *name)
{
	for (size_t i = 0; i < husk_host_count(host); i++) {
		if (strcmp(husk_host_name(host, i), name) == 0)
			return i;
	}
	fail_msg("no row is called %s", name);
	return 0;
}

/* Judge, and look at one row. finding and remedy: what they hold; remedy NULL: it is
 * empty. */
static void expect(const struct host_view *view, const char *name, int state,
		   const char *finding, const char *remedy)
{
	husk_host *host = host_judge(view);
	size_t row = row_of(host, name);

	if (husk_host_state(host, row) != state ||
	    !strstr(husk_host_finding(host, row), finding) ||
	    (remedy ? !strstr(husk_host_remedy(host, row), remedy)
		    : husk_host_remedy(host, row)[0] != '\0'))
		fail_msg("%s: state %d, \"%s\", \"%s\"; expected %d, \"%s\", \"%s\"",
			 name, husk_host_state(host, row), husk_host_finding(host, row),
			 husk_host_remedy(host, row), state, finding,
			 remedy ? remedy : "");
	assert_null(husk_host_free(host));
}

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

static void apparmor(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "apparmor", HUSK_PROBE_OK, "not active", NULL);
	view->facts.apparmor_restrict_userns = 1;
	(void)snprintf(view->facts.apparmor_label, sizeof(view->facts.apparmor_label),
		       "unconfined");
	expect(view, "apparmor", HUSK_PROBE_OK,
	       "lets this program (profile: unconfined) have", NULL);
	break_probe(view, PROBE_USER, STEP_CAPABILITIES, EPERM);
	expect(view, "apparmor", HUSK_PROBE_MISSING, "have none",
	       "/apparmor/husk /etc/apparmor.d/husk");
	expect(view, "apparmor", HUSK_PROBE_MISSING, "have none", "apparmor_parser -r");
	expect(view, "apparmor", HUSK_PROBE_MISSING, "have none", "aa-exec -p husk");
	expect(view, "apparmor", HUSK_PROBE_MISSING, "have none",
	       "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
	expect(view, "user-namespace", HUSK_PROBE_MISSING, "give up capabilities",
	       "apparmor_restrict");
	/* Something else is missing: it is not AppArmor's doing. */
	break_probe(view, PROBE_USER, STEP_CLONE, ENOSPC);
	expect(view, "apparmor", HUSK_PROBE_OK, "lets this program", NULL);
	/* Confined by some profile that says no. */
	view = healthy();
	(void)snprintf(view->facts.apparmor_label, sizeof(view->facts.apparmor_label),
		       "some-profile (enforce)");
	break_probe(view, PROBE_TREES, STEP_NEW_ROOT, EACCES);
	expect(view, "apparmor", HUSK_PROBE_WEAKER, "may be what refuses", "journalctl");
	(void)snprintf(view->facts.apparmor_label, sizeof(view->facts.apparmor_label),
		       "unconfined");
	expect(view, "apparmor", HUSK_PROBE_OK, "not in the way", NULL);
}

static void selinux(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "selinux", HUSK_PROBE_OK, "not active", NULL);
	view->facts.selinux_enforcing = 0;
	expect(view, "selinux", HUSK_PROBE_OK, "permissive", NULL);
	view->facts.selinux_enforcing = 1;
	expect(view, "selinux", HUSK_PROBE_OK, "enforcing; not in the way", NULL);
	break_probe(view, PROBE_USER, STEP_CLONE, EACCES);
	expect(view, "selinux", HUSK_PROBE_WEAKER, "may be what refuses", "ausearch");
}

/* A setting that explains the refusal acquits the security modules. */
static void settings_explain_refusals(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	view->facts.selinux_enforcing = 1;
	view->facts.unprivileged_userns_clone = 0;
	break_probe(view, PROBE_USER, STEP_CLONE, EPERM);
	expect(view, "selinux", HUSK_PROBE_OK, "not in the way", NULL);
	view = healthy();
	view->facts.selinux_enforcing = 1;
	view->facts.memfd_noexec = 2;
	break_probe(view, PROBE_INIT, STEP_EXEC_INIT, EACCES);
	expect(view, "selinux", HUSK_PROBE_OK, "not in the way", NULL);
	view = healthy();
	view->facts.selinux_enforcing = 1;
	view->facts.proc_masked = true;
	break_probe(view, PROBE_PROCFS, STEP_MOUNT_FS, EPERM);
	expect(view, "selinux", HUSK_PROBE_OK, "not in the way", NULL);
	expect(view, "container", HUSK_PROBE_MISSING, "parts of /proc are masked", NULL);
	view->facts.proc_masked = false;
	expect(view, "selinux", HUSK_PROBE_WEAKER, "may be what refuses", "ausearch");
}

static void yama(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "yama", HUSK_PROBE_OK, "not active", NULL);
	view->facts.ptrace_scope = 1;
	expect(view, "yama", HUSK_PROBE_OK, "debuggers work", NULL);
	view->facts.ptrace_scope = 2;
	expect(view, "yama", HUSK_PROBE_WEAKER, "do not work",
	       "sysctl -w kernel.yama.ptrace_scope=1");
	view->facts.ptrace_scope = 3;
	expect(view, "yama", HUSK_PROBE_WEAKER, "do not work", "start the system anew");
}

static void containers(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "container", HUSK_PROBE_OK, "no container shows", NULL);
	(void)snprintf(view->facts.container, sizeof(view->facts.container), "Docker");
	expect(view, "container", HUSK_PROBE_OK, "inside a container: Docker", NULL);
	view->facts.proc_masked = true;
	break_probe(view, PROBE_PROCFS, STEP_MOUNT_FS, EPERM);
	expect(view, "procfs", HUSK_PROBE_MISSING, "/proc", "systempaths=unconfined");
	expect(view, "container", HUSK_PROBE_MISSING, "parts of /proc are masked",
	       "seccomp=unconfined");
	/* The box fails for a reason that no container gave. */
	view = healthy();
	(void)snprintf(view->facts.container, sizeof(view->facts.container), "Docker");
	break_probe(view, PROBE_OVERLAY, STEP_OVERLAY, ENODEV);
	expect(view, "container", HUSK_PROBE_OK, "Docker", NULL);
	expect(view, "overlay", HUSK_PROBE_WEAKER, "dir: images", "modprobe overlay");
	view = healthy();
	view->facts.in_husk = true;
	view->facts.own_seccomp = 2;
	break_probe(view, PROBE_CLONE3, STEP_CLONE, ENOSYS);
	expect(view, "container", HUSK_PROBE_MISSING, "inside a box of husk",
	       "from outside");
	expect(view, "clone3", HUSK_PROBE_MISSING, "it cannot be called", "box of husk");
}

static void initramfs_and_chroot(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	view->facts.initramfs = true;
	break_probe(view, PROBE_PIVOT, STEP_PIVOT, EINVAL);
	expect(view, "pivot-root", HUSK_PROBE_MISSING, "change to the new root",
	       "switch_root");
	expect(view, "container", HUSK_PROBE_OK, "the root is the initramfs", NULL);
	view = healthy();
	view->facts.chrooted = true;
	break_probe(view, PROBE_USER, STEP_CLONE, EPERM);
	expect(view, "user-namespace", HUSK_PROBE_MISSING, "not permitted", "chroot");
	expect(view, "container", HUSK_PROBE_MISSING, "this is a chroot", NULL);
}

static void id_maps(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "id-mapped-mounts", HUSK_PROBE_OK, "not needed", NULL);
	view->facts.ordinary = false;
	view->answers.ids = (struct ids){.foreign = true, .uid = 4242, .gid = 4242};
	view->answers.temp_fs_type = EXT4_SUPER_MAGIC;
	view->answers.of[PROBE_IDMAP].state = PROBE_WORKS;
	expect(view, "id-mapped-mounts", HUSK_PROBE_OK,
	       "/tmp (ext4); boxes run as host id 4242", NULL);
	view->answers.temp_fs_type = TMPFS_MAGIC;
	break_probe(view, PROBE_IDMAP, STEP_SOURCE, EINVAL);
	expect(view, "id-mapped-mounts", HUSK_PROBE_MISSING, "/tmp (tmpfs)",
	       "as an ordinary user");
	/* Root of a container that may not map ids: the container is not to blame. */
	(void)snprintf(view->facts.container, sizeof(view->facts.container), "Docker");
	break_probe(view, PROBE_IDMAP, STEP_SOURCE, EPERM);
	expect(view, "id-mapped-mounts", HUSK_PROBE_MISSING, "not permitted",
	       "CAP_SYS_ADMIN");
	expect(view, "container", HUSK_PROBE_OK, "Docker", NULL);
	break_probe(view, PROBE_IDMAP, STEP_SOURCE, EINVAL);
	view->answers.temp_fs_type = 0x1234;
	expect(view, "id-mapped-mounts", HUSK_PROBE_MISSING, "another file system",
	       "put the directory on");
	expect(view, "id-mapped-mounts", HUSK_PROBE_MISSING, "another file system",
	       "--workspace DIR");
	break_probe(view, PROBE_USER, STEP_ID_MAP, ERANGE);
	expect(view, "id-mapped-mounts", HUSK_PROBE_MISSING, "it needs user-namespace",
	       NULL);
	expect(view, "user-namespace", HUSK_PROBE_MISSING, "write the id maps",
	       "a range of ids");
}

static void init_programs(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "init-program", HUSK_PROBE_OK, "sealed memfd", NULL);
	view->answers.init_is_file = true;
	expect(view, "init-program", HUSK_PROBE_OK, "installed file", NULL);
	view->facts.memfd_noexec = 2;
	break_probe(view, PROBE_INIT, STEP_EXEC_INIT, EACCES);
	expect(view, "init-program", HUSK_PROBE_MISSING, "execute the init program",
	       "vm.memfd_noexec=1");
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

static void limits(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "memory-limit", HUSK_PROBE_OK,
	       "cgroup v2), in /sys/fs/cgroup/user.slice", NULL);
	view->limits.moves_caller = true;
	expect(view, "task-limit", HUSK_PROBE_OK, "moves the calling process", NULL);
	view->limits.memory = (struct cgroup_host_controller){
	    .name = "memory", .why = "it is not delegated", .remedy = "Delegate=yes"};
	expect(view, "memory-limit", HUSK_PROBE_WEAKER,
	       "not enforced: it is not delegated; runs need --limits best-effort",
	       "Delegate=yes");
	view->limits.cpus = view->limits.memory;
	expect(view, "cpu-limit", HUSK_PROBE_WEAKER, "runs with --cpus", "Delegate=yes");
	expect(view, "task-limit", HUSK_PROBE_OK, "enforced", NULL);
	view->has_limits = false;
	expect(view, "task-limit", HUSK_PROBE_WEAKER, "cannot be found out", NULL);
}

static void systemd(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "systemd", HUSK_PROBE_OK, "not running", NULL);
	view->systemd.running = true;
	expect(view, "systemd", HUSK_PROBE_OK, "limits do not need it", NULL);
	view->limits.memory.enforceable = false;
	expect(view, "systemd", HUSK_PROBE_WEAKER, "this user's manager is not reachable",
	       "loginctl enable-linger");
	view->facts.uid = 0;
	expect(view, "systemd", HUSK_PROBE_WEAKER,
	       "the system's manager is not reachable", "dbus");
	view->systemd.manager = true;
	expect(view, "systemd", HUSK_PROBE_OK, "takes requests", NULL);
}

static void landlock(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "landlock", HUSK_PROBE_OK, "ABI 6", NULL);
	break_probe(view, PROBE_LANDLOCK, STEP_NONE, EOPNOTSUPP);
	expect(view, "landlock", HUSK_PROBE_OK, "not here", NULL);
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
	    cmocka_unit_test(apparmor),
	    cmocka_unit_test(selinux),
	    cmocka_unit_test(settings_explain_refusals),
	    cmocka_unit_test(yama),
	    cmocka_unit_test(containers),
	    cmocka_unit_test(initramfs_and_chroot),
	    cmocka_unit_test(id_maps),
	    cmocka_unit_test(init_programs),
	    cmocka_unit_test(notifications),
	    cmocka_unit_test(limits),
	    cmocka_unit_test(systemd),
	    cmocka_unit_test(landlock),
	    cmocka_unit_test(remedies_hold_each_line_once_and_in_bounds),
	};

	return cmocka_run_group_tests(host_judge_tests, NULL, NULL);
}
