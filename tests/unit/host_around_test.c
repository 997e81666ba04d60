/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about what stands around a process: settings, security modules,
 * containers, file systems, control groups. */
#include "tests/unit/host_view.h"

#include <linux/magic.h>

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
	       "as root: husk doctor --install-apparmor");
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
	(void)snprintf(view->facts.selinux_context, sizeof(view->facts.selinux_context),
		       "system_u:system_r:httpd_t:s0");
	expect(view, "selinux", HUSK_PROBE_OK, "httpd_t", NULL);
	view->facts.selinux_enforcing = 1;
	expect(view, "selinux", HUSK_PROBE_OK,
	       "enforcing; not in the way of this program", NULL);
	break_probe(view, PROBE_USER, STEP_CLONE, EACCES);
	expect(view, "selinux", HUSK_PROBE_WEAKER, "may be what refuses", "ausearch");
	expect(view, "selinux", HUSK_PROBE_WEAKER, "httpd_t", "ausearch");
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
	/* One whose top is a mount is not seen. */
	view->facts.chrooted = false;
	view->facts.ordinary = false;
	expect(view, "user-namespace", HUSK_PROBE_MISSING, "not permitted",
	       "most often this program is in a chroot");
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

static void drivers(void **state)
{
	struct host_view *view = healthy();

	(void)state;
	expect(view, "cgroup", HUSK_PROBE_OK, "driver v2", NULL);
	expect(view, "cgroup", HUSK_PROBE_OK, "memory, CPU and tasks", NULL);
	view->limits.cpus = (struct cgroup_host_controller){
	    .name = "cpu", .why = "it is not delegated", .remedy = "Delegate=yes"};
	expect(view, "cgroup", HUSK_PROBE_WEAKER, "enforce memory, tasks",
	       "Delegate=yes");
	view->has_limits = false;
	expect(view, "cgroup", HUSK_PROBE_WEAKER, "driver none: it can enforce nothing",
	       NULL);
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
	expect(view, "landlock", HUSK_PROBE_OK,
	       "ABI 6: a second wall holds boxes to their root; abstract sockets", NULL);
	view->answers.of[PROBE_LANDLOCK].value = 5;
	expect(view, "landlock", HUSK_PROBE_OK,
	       "ABI 5: a second wall holds boxes to their root", NULL);
	break_probe(view, PROBE_LANDLOCK, STEP_NONE, EOPNOTSUPP);
	expect(view, "landlock", HUSK_PROBE_OK, "not here", NULL);
}

int main(void)
{
	const struct CMUnitTest host_around_tests[] = {
	    cmocka_unit_test(apparmor),
	    cmocka_unit_test(selinux),
	    cmocka_unit_test(settings_explain_refusals),
	    cmocka_unit_test(yama),
	    cmocka_unit_test(containers),
	    cmocka_unit_test(initramfs_and_chroot),
	    cmocka_unit_test(id_maps),
	    cmocka_unit_test(init_programs),
	    cmocka_unit_test(limits),
	    cmocka_unit_test(drivers),
	    cmocka_unit_test(systemd),
	    cmocka_unit_test(landlock),
	};

	return cmocka_run_group_tests(host_around_tests, NULL, NULL);
}
