/* SPDX-License-Identifier: Apache-2.0 */
/* The words for what is not there. Remedies are one line each, chosen by what the host's
 * settings and surroundings say. */
#include "runtime/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "runtime/plan.h"

/* Filled by each space's number. */
static const char *const space_off[SPACE_COUNT] = {
    [SPACE_USER] = "user namespaces are off: sysctl -w user.max_user_namespaces=10000",
    [SPACE_PID] = "PID namespaces are off: sysctl -w user.max_pid_namespaces=10000",
    [SPACE_MOUNT] = "mount namespaces are off: sysctl -w user.max_mnt_namespaces=10000",
    [SPACE_NETWORK] =
	"network namespaces are off: sysctl -w user.max_net_namespaces=10000",
    [SPACE_IPC] = "IPC namespaces are off: sysctl -w user.max_ipc_namespaces=10000",
    [SPACE_UTS] = "UTS namespaces are off: sysctl -w user.max_uts_namespaces=10000",
    [SPACE_CGROUP] =
	"cgroup namespaces are off: sysctl -w user.max_cgroup_namespaces=10000",
};

/* Sorted by name: how each kind of container is told to let a sandbox be made inside. */
static const struct {
	const char *name, *remedy;
} openings[] = {
    {"Docker",
     "the container around us (Docker) forbids it: start it with --security-opt "
     "seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
     "systempaths=unconfined, or run husk on the host"},
    {"Kubernetes",
     "the pod around us (Kubernetes) forbids it: give it hostUsers: false, procMount: "
     "Unmasked, and Unconfined profiles of seccomp and AppArmor, or run husk on the "
     "node"},
    {"LXC", "the container around us (LXC) forbids it: set security.nesting=true for it "
	    "(lxc.include of nesting.conf without a manager), or run husk on the host"},
    {"Podman",
     "the container around us (Podman) forbids it: start it with --security-opt "
     "seccomp=unconfined --security-opt unmask=ALL, or run husk on the host"},
};

static const char apparmor[] =
    "kernel.apparmor_restrict_unprivileged_userns=1 takes capabilities away in user "
    "namespaces: husk doctor --install-apparmor, as root, loads a profile for husk; or "
    "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";

const char *probe_remedy_around(const struct probe_facts *facts)
{
	if (facts->in_husk)
		return "this is a box of husk, and a box cannot make another one: start "
		       "it from "
		       "outside";
	for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
		if (strcmp(facts->container, openings[i].name) == 0)
			return openings[i].remedy;
	}
	if (facts->container[0] != '\0')
		return "the container around us forbids it: allow namespaces, mounts and "
		       "an "
		       "unmasked /proc there, or run husk on the host";
	if (facts->own_seccomp != 0)
		return "a seccomp filter is around this program (a sandbox, or "
		       "SystemCallFilter= "
		       "of a service): run husk outside it";
	return NULL;
}

static bool apparmor_binds(const struct probe_facts *facts, int error)
{
	return facts->apparmor_restrict_userns == 1 && facts->ordinary &&
	       (error == EPERM || error == EACCES);
}

/* For EPERM and EACCES, when no setting explains them. */
static const char *refused(const struct probe_facts *facts)
{
	const char *around = probe_remedy_around(facts);

	if (facts->chrooted)
		return "this program is in a chroot, where the kernel allows no user "
		       "namespace: "
		       "run it outside, or enter the directory with pivot_root instead";
	if (around)
		return around;
	if (facts->selinux_enforcing == 1)
		return "SELinux is enforcing and may be what refuses it: ausearch -m avc "
		       "-ts recent "
		       "shows the denial, and audit2allow the rule to add";
	if (facts->apparmor_label[0] != '\0' &&
	    strncmp(facts->apparmor_label, "unconfined", 10) != 0)
		return "the AppArmor profile of this program may be what refuses it: "
		       "allow userns, "
		       "mount, pivot_root and capability in it (journalctl -k -g "
		       "apparmor shows the "
		       "denial)";
	return NULL;
}

static const char *namespace_remedy(const struct probe_facts *facts, uint32_t step,
				    int error)
{
	const char *around = probe_remedy_around(facts);

	if (error == ENOSYS)
		return probe_facts_since(facts, 5, 3) && around
			   ? around
			   : "clone3 is not there: husk needs Linux 5.12 or later";
	for (int i = 0; i < SPACE_COUNT; i++) {
		if (facts->max_spaces[i] == 0)
			return space_off[i];
	}
	if (facts->ordinary && facts->unprivileged_userns_clone == 0)
		return "user namespaces are off for ordinary users: "
		       "sysctl -w kernel.unprivileged_userns_clone=1";
	if (error == EINVAL)
		return "the kernel is built without one of these namespaces "
		       "(CONFIG_USER_NS, "
		       "CONFIG_PID_NS, CONFIG_NET_NS, CONFIG_IPC_NS, CONFIG_UTS_NS): use "
		       "one that "
		       "has them";
	if (error == ENOSPC || error == EUSERS)
		return "a limit on namespaces is reached: end some, or raise "
		       "user.max_user_namespaces and its neighbours (sysctl user)";
	if (error == EAGAIN)
		return "the task limit of the user or of the control group is reached: "
		       "raise "
		       "ulimit -u or pids.max, or end something";
	if (facts->proc_missing)
		return "there is no /proc: mount -t proc proc /proc";
	if (error == ERANGE)
		return "this user namespace has no id but root's to give to a box: run "
		       "husk as an "
		       "ordinary user, or give the container around us a range of ids";
	if (apparmor_binds(facts, error))
		return apparmor;
	if (error != EPERM && error != EACCES)
		return NULL;
	around = refused(facts);
	/* A chroot whose top is a mount looks like any other root. */
	return around || facts->ordinary || step != STEP_CLONE
		   ? around
		   : "the kernel does not say why; most often this program is in a "
		     "chroot, where no user namespace can be made: run it outside, or "
		     "enter the directory with pivot_root instead";
}

static const char *mount_remedy(const struct probe_facts *facts, uint32_t step, int error)
{
	if (error == ENOSYS && !probe_facts_since(facts, 5, 12))
		return "husk needs Linux 5.12 or later, for read-only mount trees";
	if (error == ENOSYS)
		return probe_remedy_around(facts);
	if (step == STEP_PIVOT && error == EINVAL)
		return "this system runs on its initramfs root, which cannot be left: "
		       "switch_root "
		       "to a tmpfs or a disk first";
	if (step == STEP_MOUNT_FS && error == EPERM && facts->proc_masked)
		return "parts of /proc are masked here, and then the kernel allows no "
		       "new one: "
		       "unmask it (docker: --security-opt systempaths=unconfined; "
		       "podman: "
		       "--security-opt unmask=ALL; Kubernetes: procMount: Unmasked)";
	if (step == STEP_MOUNT_FS && error == ENODEV)
		return "the kernel lacks that file system: modprobe it, or use a kernel "
		       "that has it";
	if (step == STEP_OVERLAY && error == ENODEV)
		return "the kernel has no overlay file system: modprobe overlay";
	if (step == STEP_OVERLAY)
		return "the kernel refuses this overlay in a user namespace: Linux 5.11 "
		       "is needed "
		       "(5.19 where the caller is root), and an image that lies on no "
		       "overlay";
	if (apparmor_binds(facts, error))
		return apparmor;
	return error == EPERM || error == EACCES ? refused(facts) : NULL;
}

static const char *source_remedy(const struct probe_facts *facts, int error)
{
	if (error == ENOSYS)
		return mount_remedy(facts, STEP_SOURCE, error);
	if (error == EPERM && !facts->ordinary && !facts->sys_admin)
		return "this root lacks CAP_SYS_ADMIN, which mapping the ids of files "
		       "takes: run "
		       "husk as an ordinary user (docker run --user 1000), or grant it "
		       "(--cap-add "
		       "SYS_ADMIN)";
	if (error == EPERM || error == EINVAL || error == EOPNOTSUPP)
		return "boxes of root run as an unprivileged id, which needs an "
		       "id-mapped mount: "
		       "put the directory on ext4, xfs, btrfs (Linux 5.15) or tmpfs "
		       "(Linux 6.3), or "
		       "run husk as an ordinary user";
	if (error == ENOENT || error == ESTALE)
		return "it was moved or replaced after the session was opened: open a "
		       "new session";
	return NULL;
}

static const char *terminal_remedy(const struct probe_facts *facts, uint32_t step,
				   int error)
{
	if (error == ENOSPC)
		return "the system's terminals are used up: end programs that hold some, "
		       "or raise sysctl kernel.pty.max";
	if (error == ENODEV)
		return "the kernel has no devpts (CONFIG_UNIX98_PTYS): use one that has "
		       "it";
	return mount_remedy(facts, step, error);
}

static const char *exec_remedy(const struct probe_facts *facts, int error)
{
	if (facts->memfd_noexec >= 2)
		return "memfds may not be executed here: sysctl -w vm.memfd_noexec=1, or "
		       "install "
		       "husk so that its libexec file is found";
	return error == EACCES || error == EPERM ? refused(facts) : NULL;
}

static const char *filter_remedy(const struct probe_facts *facts, int error)
{
	if (error == EINVAL || error == ENOSYS)
		return "the kernel lacks seccomp filters (CONFIG_SECCOMP_FILTER), or a "
		       "sandbox "
		       "around us forbids them: use a kernel that has them";
	return error == EACCES || error == EPERM ? refused(facts) : NULL;
}

const char *probe_remedy(const struct probe_facts *facts, uint32_t step, int error)
{
	if (error == EMFILE)
		return "allow this process more open files (ulimit -n, LimitNOFILE=), or "
		       "make fewer calls at once";
	if (error == ENFILE)
		return "the system has too many open files: raise sysctl fs.file-max";
	switch (step) {
	case STEP_CLONE:
	case STEP_ID_MAP:
	case STEP_SET_IDS:
	case STEP_CGROUP_NS:
	case STEP_CAPABILITIES:
		return namespace_remedy(facts, step, error);
	case STEP_SOURCE:
		return source_remedy(facts, error);
	case STEP_INIT_IMAGE:
	case STEP_EXEC_INIT:
		return exec_remedy(facts, error);
	case STEP_PLAN:
		return error == EFBIG ? "this process may not write files that large: "
					"raise ulimit -f"
				      : NULL;
	case STEP_OPEN_TREE:
		if (error == ESTALE || error == ENOENT)
			return source_remedy(facts, error);
		return mount_remedy(facts, step, error);
	case STEP_MOUNT_TREE:
		if (error == ENOENT)
			return "the mount target does not exist in the image and cannot "
			       "be made "
			       "there: create it, or choose a target outside /usr and "
			       "/workspace";
		return mount_remedy(facts, step, error);
	case STEP_WORKDIR:
		return "the working directory must exist in the image or in the "
		       "workspace; --workdir (workdir of a call) names another one, such "
		       "as /workspace";
	case STEP_TERMINAL:
		return terminal_remedy(facts, step, error);
	case STEP_SECCOMP:
	case STEP_GUARD:
		return filter_remedy(facts, error);
	case STEP_TRACER:
		return facts->ptrace_scope > 1
			   ? "this host lets no parent trace its child: sysctl -w "
			     "kernel.yama.ptrace_scope=1 (3 stays until a restart), or "
			     "leave --explain-denials out"
			   : NULL;
	case STEP_LANDLOCK:
		return error == E2BIG ? "this process is inside as many layers of "
					"Landlock as the kernel allows: start husk "
					"outside of some of them"
				      : NULL;
	default:
		return mount_remedy(facts, step, error);
	}
}

/* What the children try a step on, where its words end in "of" or "on". */
static const char *step_object(uint32_t step)
{
	switch (step) {
	case STEP_OPEN_TREE:
	case STEP_TREE_ATTR:
		return " /";
	case STEP_MOUNT_FS:
		return " /proc";
	default:
		return "";
	}
}

void probe_failure(const struct probe_answer *answer, char *text, size_t capacity)
{
	char words[128], reason[128];

	if (answer->step == STEP_NONE)
		(void)snprintf(words, sizeof(words), "it cannot be called");
	else
		(void)snprintf(words, sizeof(words), "cannot %s%s",
			       step_words(answer->step), step_object(answer->step));
	if (answer->signal == SIGSYS)
		(void)snprintf(text, capacity,
			       "%s: a seccomp filter around us ends the program", words);
	else if (answer->signal != 0)
		(void)snprintf(text, capacity, "%s: the program is ended by signal %d",
			       words, answer->signal);
	else
		(void)snprintf(text, capacity, "%s: %s", words,
			       strerror_r(answer->error, reason, sizeof(reason)));
}
