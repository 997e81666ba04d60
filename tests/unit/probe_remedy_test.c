/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies for hosts that say this or that of themselves, and how they are read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "runtime/probe.h"

/* A host where nothing is in the way. */
static struct probe_facts healthy(void)
{
	struct probe_facts facts = {.ordinary = true, .uid = 1000};

	for (int i = 0; i < SPACE_COUNT; i++)
		facts.max_spaces[i] = 10000;
	facts.unprivileged_userns_clone = facts.apparmor_restrict_userns = FACT_ABSENT;
	facts.memfd_noexec = facts.ptrace_scope = facts.selinux_enforcing = FACT_ABSENT;
	probe_facts_release("6.1.0-13-amd64", &facts);
	return facts;
}

static void has(const struct probe_facts *facts, uint32_t step, int error,
		const char *words)
{
	const char *remedy = probe_remedy(facts, step, error);

	if (!remedy || !strstr(remedy, words))
		fail_msg("step %u, errno %d: \"%s\" lacks \"%s\"", step, error,
			 remedy ? remedy : "(none)", words);
	assert_true(strlen(remedy) < 512);
	assert_null(strchr(remedy, '\n'));
}

static void a_healthy_host_has_no_remedy(void **state)
{
	struct probe_facts facts = healthy();

	(void)state;
	assert_null(probe_remedy(&facts, STEP_CLONE, EPERM));
	assert_null(probe_remedy(&facts, STEP_MOUNT_FS, EPERM));
	assert_null(probe_remedy(&facts, STEP_EXEC_INIT, EACCES));
	assert_null(probe_remedy_around(&facts));
}

static void settings_that_are_zero_are_named(void **state)
{
	static const char *const names[SPACE_COUNT] = {
	    [SPACE_USER] = "sysctl -w user.max_user_namespaces=10000",
	    [SPACE_PID] = "sysctl -w user.max_pid_namespaces=10000",
	    [SPACE_MOUNT] = "sysctl -w user.max_mnt_namespaces=10000",
	    [SPACE_NETWORK] = "sysctl -w user.max_net_namespaces=10000",
	    [SPACE_IPC] = "sysctl -w user.max_ipc_namespaces=10000",
	    [SPACE_UTS] = "sysctl -w user.max_uts_namespaces=10000",
	    [SPACE_CGROUP] = "sysctl -w user.max_cgroup_namespaces=10000",
	};

	(void)state;
	for (int i = 0; i < SPACE_COUNT; i++) {
		struct probe_facts facts = healthy();

		facts.max_spaces[i] = 0;
		has(&facts, STEP_CLONE, ENOSPC, names[i]);
		has(&facts, STEP_CGROUP_NS, ENOSPC, names[i]);
	}
}

static void user_namespaces_for_root_only(void **state)
{
	struct probe_facts facts = healthy();

	(void)state;
	facts.unprivileged_userns_clone = 0;
	has(&facts, STEP_CLONE, EPERM, "sysctl -w kernel.unprivileged_userns_clone=1");
	facts.ordinary = false; /* root may, whatever it says */
	has(&facts, STEP_CLONE, EPERM, "most often this program is in a chroot");
	assert_null(probe_remedy(&facts, STEP_ID_MAP, EPERM));
}

static void apparmor_is_blamed_only_where_it_binds(void **state)
{
	struct probe_facts facts = healthy();

	(void)state;
	facts.apparmor_restrict_userns = 1;
	has(&facts, STEP_ID_MAP, EPERM, "kernel.apparmor_restrict_unprivileged_userns");
	has(&facts, STEP_CLONE, EACCES, "profile");
	has(&facts, STEP_CAPABILITIES, EPERM, "profile");
	has(&facts, STEP_NEW_ROOT, EPERM, "profile");
	assert_null(probe_remedy(&facts, STEP_NEW_ROOT, ENOMEM));
	facts.ordinary = false;
	assert_null(probe_remedy(&facts, STEP_ID_MAP, EPERM));
	facts = healthy();
	facts.apparmor_restrict_userns = 0;
	assert_null(probe_remedy(&facts, STEP_ID_MAP, EPERM));
	(void)snprintf(facts.apparmor_label, sizeof(facts.apparmor_label),
		       "docker-default (enforce)");
	has(&facts, STEP_NEW_ROOT, EACCES, "AppArmor profile of this program");
	(void)snprintf(facts.apparmor_label, sizeof(facts.apparmor_label), "unconfined");
	assert_null(probe_remedy(&facts, STEP_NEW_ROOT, EACCES));
}

static void what_is_around_comes_before_guesses(void **state)
{
	static const struct {
		const char *container, *words;
	} kinds[] = {
	    {"Docker", "--security-opt systempaths=unconfined"},
	    {"Kubernetes", "procMount: Unmasked"},
	    {"LXC", "security.nesting=true"},
	    {"Podman", "--security-opt unmask=ALL"},
	    {"of an unknown kind", "the container around us"},
	};
	struct probe_facts facts;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		facts = healthy();
		facts.selinux_enforcing = 1;
		(void)snprintf(facts.container, sizeof(facts.container), "%s",
			       kinds[i].container);
		has(&facts, STEP_CLONE, EPERM, kinds[i].words);
		has(&facts, STEP_NEW_ROOT, EPERM, kinds[i].words);
		has(&facts, STEP_CLONE, ENOSYS,
		    kinds[i].words); /* an old seccomp profile */
	}
	facts.in_husk = true;
	has(&facts, STEP_CLONE, ENOSYS, "box of husk");
	facts = healthy();
	facts.own_seccomp = 2;
	has(&facts, STEP_CLONE, EPERM, "SystemCallFilter=");
	facts = healthy();
	facts.chrooted = true;
	has(&facts, STEP_CLONE, EPERM, "chroot");
	facts = healthy();
	facts.selinux_enforcing = 1;
	has(&facts, STEP_CLONE, EACCES, "ausearch -m avc");
}

static void old_kernels_are_told_apart_from_filters(void **state)
{
	struct probe_facts facts = healthy();

	(void)state;
	probe_facts_release("4.19.0", &facts);
	has(&facts, STEP_CLONE, ENOSYS, "Linux 5.12");
	has(&facts, STEP_TREE_ATTR, ENOSYS, "Linux 5.12");
	(void)snprintf(facts.container, sizeof(facts.container), "Docker");
	has(&facts, STEP_CLONE, ENOSYS, "Linux 5.12");
	probe_facts_release("5.15.0", &facts);
	has(&facts, STEP_TREE_ATTR, ENOSYS, "(Docker)");
}

static void steps_have_remedies_of_their_own(void **state)
{
	struct probe_facts facts = healthy();

	(void)state;
	has(&facts, STEP_CLONE, EINVAL, "CONFIG_USER_NS");
	has(&facts, STEP_CLONE, ENOSPC, "limit on namespaces");
	has(&facts, STEP_CLONE, EUSERS, "limit on namespaces");
	has(&facts, STEP_CLONE, EAGAIN, "ulimit -u");
	has(&facts, STEP_ID_MAP, ERANGE, "ordinary user");
	has(&facts, STEP_PIVOT, EINVAL, "switch_root");
	has(&facts, STEP_OVERLAY, ENODEV, "modprobe overlay");
	has(&facts, STEP_OVERLAY, EINVAL, "5.11");
	has(&facts, STEP_SOURCE, EINVAL, "id-mapped");
	has(&facts, STEP_SOURCE, EPERM, "ordinary user");
	has(&facts, STEP_SOURCE, ESTALE, "new session");
	has(&facts, STEP_OPEN_TREE, ENOENT, "new session");
	has(&facts, STEP_MOUNT_TREE, ENOENT, "mount target");
	has(&facts, STEP_WORKDIR, ENOENT, "working directory");
	has(&facts, STEP_WORKDIR, ENOENT, "--workdir");
	has(&facts, STEP_SECCOMP, EINVAL, "CONFIG_SECCOMP_FILTER");
	has(&facts, STEP_PIPES, EMFILE, "ulimit -n");
	has(&facts, STEP_PLAN, ENFILE, "fs.file-max");
	facts.ordinary = false;
	has(&facts, STEP_SOURCE, EPERM, "--cap-add SYS_ADMIN");
	facts.sys_admin = true;
	has(&facts, STEP_SOURCE, EPERM, "id-mapped");
	facts.proc_masked = true;
	has(&facts, STEP_MOUNT_FS, EPERM, "unmask");
	facts.proc_missing = true;
	has(&facts, STEP_ID_MAP, ENOENT, "mount -t proc");
	facts.memfd_noexec = 2;
	has(&facts, STEP_EXEC_INIT, EACCES, "sysctl -w vm.memfd_noexec=1");
	has(&facts, STEP_INIT_IMAGE, EACCES, "sysctl -w vm.memfd_noexec=1");
}

static void failures_are_sentences(void **state)
{
	struct probe_answer answer = {
	    .state = PROBE_FAILS, .step = STEP_MOUNT_FS, .error = EPERM};
	char text[256];

	(void)state;
	probe_failure(&answer, text, sizeof(text));
	assert_string_equal(
	    text, "cannot mount a new file system on /proc: Operation not permitted");
	answer.step = STEP_NONE;
	probe_failure(&answer, text, sizeof(text));
	assert_string_equal(text, "it cannot be called: Operation not permitted");
	answer.signal = SIGSYS;
	probe_failure(&answer, text, sizeof(text));
	assert_non_null(strstr(text, "seccomp filter"));
	answer.signal = SIGKILL;
	probe_failure(&answer, text, sizeof(text));
	assert_non_null(strstr(text, "signal 9"));
}

static void releases_are_numbers(void **state)
{
	static const struct {
		const char *release;
		unsigned major, minor;
	} rows[] = {
	    {"5.12.0", 5, 12},
	    {"6.18.44-fc-v657", 6, 18},
	    {"5.15.153.1-microsoft-standard-WSL2", 5, 15},
	    {"10.0-rc1", 10, 0},
	    {"strange", 0, 0},
	    {"", 0, 0},
	};
	struct probe_facts facts = healthy();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		probe_facts_release(rows[i].release, &facts);
		assert_int_equal(facts.major, rows[i].major);
		assert_int_equal(facts.minor, rows[i].minor);
		assert_string_equal(facts.release, rows[i].release);
	}
	probe_facts_release("5.12.1", &facts);
	assert_true(probe_facts_since(&facts, 5, 12));
	assert_true(probe_facts_since(&facts, 4, 20));
	assert_false(probe_facts_since(&facts, 5, 13));
	assert_false(probe_facts_since(&facts, 6, 0));
}

static const char mounts_plain[] =
    "22 27 0:21 / /proc rw,relatime shared:12 - proc proc rw\n"
    "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "35 22 0:31 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw,fd=29\n"
    "36 35 0:32 / /proc/sys/fs/binfmt_misc rw - binfmt_misc binfmt_misc rw\n"
    "40 27 0:33 / /proc\\040of/mine rw - tmpfs tmpfs rw\n";

static void mounts_are_read(void **state)
{
	struct probe_facts facts = healthy();
	char *longer;

	(void)state;
	probe_facts_mounts(mounts_plain, &facts);
	assert_false(facts.proc_masked || facts.chrooted || facts.initramfs);
	probe_facts_mounts("500 1 0:44 / / rw - overlay overlay rw\n"
			   "510 500 0:50 /sys /proc/sys ro,nosuid - proc proc rw\n"
			   "511 500 0:51 /null /proc/kcore rw,nosuid - tmpfs tmpfs rw\n",
			   &facts);
	assert_true(facts.proc_masked);
	assert_false(facts.chrooted);
	probe_facts_mounts("1 1 0:2 / / rw - rootfs none rw", &facts);
	assert_true(facts.initramfs);
	assert_false(facts.proc_masked);
	probe_facts_mounts("22 27 0:21 / /proc rw - proc proc rw\n", &facts);
	assert_true(facts.chrooted);
	probe_facts_mounts("", &facts); /* nothing is known */
	assert_false(facts.chrooted || facts.proc_masked || facts.initramfs);
	probe_facts_mounts("no mount\n\n - \n7 - tmpfs", &facts);
	assert_false(facts.proc_masked);
	/* A mount point far longer than a page, and a sound line after it. */
	longer = test_malloc(100000);
	memset(longer, 'x', 99000);
	(void)snprintf(longer + 99000, 1000, "\n1 1 0:2 / / rw - rootfs none rw\n");
	probe_facts_mounts(longer, &facts);
	assert_true(facts.initramfs);
	test_free(longer);
}

static void a_filter_of_our_own_is_read(void **state)
{
	struct probe_facts facts = healthy();

	(void)state;
	probe_facts_status("Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n",
			   &facts);
	assert_int_equal(facts.own_seccomp, 2);
	assert_false(facts.sys_admin);
	probe_facts_status("Name:\tx\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n", &facts);
	assert_true(facts.sys_admin);
	probe_facts_status("Name:\tx\nCapEff:\t00000000a80425fb\nSeccomp:\t0\n", &facts);
	assert_false(facts.sys_admin);
	assert_int_equal(facts.own_seccomp, 0);
	probe_facts_status("Name:\tSeccomp:\t2\n", &facts);
	assert_int_equal(facts.own_seccomp, 0);
}

static void the_facts_of_this_host_are_sane(void **state)
{
	struct probe_facts facts;

	(void)state;
	probe_facts_read(&facts);
	assert_true(facts.major >= 3);
	assert_true(facts.machine[0] != '\0');
	assert_false(facts.proc_missing);
	assert_true(facts.max_spaces[SPACE_USER] == FACT_ABSENT ||
		    facts.max_spaces[SPACE_USER] >= 0);
	assert_false(facts.in_husk);
}

static void a_probe_stands_on_an_earlier_one(void **state)
{
	(void)state;
	for (int i = 0; i < PROBE_COUNT; i++) {
		enum probe below = probe_stands_on((enum probe)i);

		assert_true(below == PROBE_COUNT ? i == PROBE_CLONE3 : (int)below < i);
	}
}

int main(void)
{
	const struct CMUnitTest probe_remedy_tests[] = {
	    cmocka_unit_test(a_healthy_host_has_no_remedy),
	    cmocka_unit_test(settings_that_are_zero_are_named),
	    cmocka_unit_test(user_namespaces_for_root_only),
	    cmocka_unit_test(apparmor_is_blamed_only_where_it_binds),
	    cmocka_unit_test(what_is_around_comes_before_guesses),
	    cmocka_unit_test(old_kernels_are_told_apart_from_filters),
	    cmocka_unit_test(steps_have_remedies_of_their_own),
	    cmocka_unit_test(failures_are_sentences),
	    cmocka_unit_test(releases_are_numbers),
	    cmocka_unit_test(mounts_are_read),
	    cmocka_unit_test(a_filter_of_our_own_is_read),
	    cmocka_unit_test(the_facts_of_this_host_are_sane),
	    cmocka_unit_test(a_probe_stands_on_an_earlier_one),
	};

	return cmocka_run_group_tests(probe_remedy_tests, NULL, NULL);
}
