/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about the kernel and about what stands around this process. */
#include "session/host.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#define EXFAT_MAGIC 0x2011bab0
#define ZFS_MAGIC   0x2fc12fc1

/* Sorted by version: what a kernel that is new enough for boxes may still be too old for.
 */
static const struct {
	unsigned major, minor;
	const char *what;
} later[] = {
    {5, 14, "ending a box in one step"},
    {5, 15, "id-mapped btrfs"},
    {5, 19, "memory peaks in results, dir: images for root"},
    {6, 1, "task peaks in results"},
    {6, 3, "id-mapped tmpfs"},
};

/* Sorted by name. */
static const struct {
	const char *name;
	uint64_t magic;
} file_systems[] = {
    {"btrfs", BTRFS_SUPER_MAGIC}, {"exfat", EXFAT_MAGIC},
    {"ext4", EXT4_SUPER_MAGIC},	  {"f2fs", F2FS_SUPER_MAGIC},
    {"fat", MSDOS_SUPER_MAGIC},	  {"fuse", FUSE_SUPER_MAGIC},
    {"nfs", NFS_SUPER_MAGIC},	  {"overlay", OVERLAYFS_SUPER_MAGIC},
    {"ramfs", RAMFS_MAGIC},	  {"tmpfs", TMPFS_MAGIC},
    {"xfs", XFS_SUPER_MAGIC},	  {"zfs", ZFS_MAGIC},
};

const char *host_file_system(uint64_t magic)
{
	for (size_t i = 0; i < sizeof(file_systems) / sizeof(file_systems[0]); i++) {
		if (file_systems[i].magic == magic)
			return file_systems[i].name;
	}
	return "another file system";
}

void host_judge_kernel(const struct host_view *view, int which, struct host_row *row)
{
	const struct probe_facts *facts = &view->facts;
	char lacks[HOST_FINDING / 2] = "";
	size_t used = 0;

	if (!probe_facts_since(facts, 5, 12)) {
		bool there = view->answers.of[which].state == PROBE_WORKS;

		host_find(row, there ? HUSK_PROBE_OK : HUSK_PROBE_MISSING,
			  "Linux %s, %s%s", facts->release, facts->machine,
			  there ? "; it has the calls of 5.12 all the same"
				: ": boxes need Linux 5.12 (mount_setattr)");
		if (!there)
			host_advise(row, "run a kernel of version 5.12 or later");
		return;
	}
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (probe_facts_since(facts, later[i].major, later[i].minor) ||
		    used >= sizeof(lacks))
			continue;
		used +=
		    (size_t)snprintf(lacks + used, sizeof(lacks) - used, "%s%s (%u.%u)",
				     used > 0 ? ", " : "; not yet: ", later[i].what,
				     later[i].major, later[i].minor);
	}
	host_find(row, HUSK_PROBE_OK, "Linux %s, %s%s", facts->release, facts->machine,
		  lacks);
}

void host_judge_idmap(const struct host_view *view, int which, struct host_row *row)
{
	const struct probe_answer *answer = &view->answers.of[which];
	const char *name = host_file_system(view->answers.temp_fs_type);
	char reason[128];

	if (answer->state == PROBE_UNTRIED && !view->answers.ids.foreign) {
		host_find(row, HUSK_PROBE_OK,
			  "not needed: boxes of an ordinary user run as that user");
		return;
	}
	host_judge_tried(view, which, row);
	if (answer->state == PROBE_WORKS)
		host_find(row, HUSK_PROBE_OK,
			  "work on /tmp (%s); boxes run as host id %u", name,
			  view->answers.ids.uid);
	else if (answer->state == PROBE_FAILS && view->answers.temp_fs_type != 0)
		host_find(row, HUSK_PROBE_MISSING,
			  "cannot be made on /tmp (%s), and boxes of root need them: %s",
			  name, strerror_r(answer->error, reason, sizeof(reason)));
	if (answer->state == PROBE_FAILS && answer->error != EPERM)
		host_advise(row,
			    "until then: give boxes a workspace on such a file system "
			    "(--workspace DIR)");
}

void host_judge_init(const struct host_view *view, int which, struct host_row *row)
{
	host_judge_tried(view, which, row);
	if (view->answers.of[which].state == PROBE_WORKS)
		host_find(row, HUSK_PROBE_OK, "can be executed from %s",
			  view->answers.init_is_file
			      ? "its installed file (no executable memfds here)"
			      : "a sealed memfd");
}

/* The ABI that brought them. */
enum { LANDLOCK_SCOPES = 6 };

void host_judge_landlock(const struct host_view *view, int which, struct host_row *row)
{
	const struct probe_answer *answer = &view->answers.of[which];

	if (answer->state == PROBE_WORKS)
		host_find(row, HUSK_PROBE_OK,
			  "ABI %lld: a second wall holds boxes to their root%s",
			  (long long)answer->value,
			  answer->value >= LANDLOCK_SCOPES
			      ? "; abstract sockets and signals stay inside"
			      : "");
	else
		host_find(row, HUSK_PROBE_OK,
			  "not here: the mounts alone hold boxes to their root");
}

/* Does a setting of the host, or what lies over /proc, explain why a probe was refused?
 */
static bool explained(const struct probe_facts *facts, enum probe probe)
{
	switch (probe) {
	case PROBE_USER:
		return facts->ordinary && facts->unprivileged_userns_clone == 0;
	case PROBE_PROCFS:
		return facts->proc_masked;
	case PROBE_INIT:
		return facts->memfd_noexec >= 2;
	default:
		return false;
	}
}

/* What security modules and containers refuse. Id-mapped mounts are for privileged root
 * alone, wherever it is, and Landlock is only looked at. */
static bool in_question(enum probe probe)
{
	return probe != PROBE_IDMAP && probe != PROBE_LANDLOCK;
}

/* Was something that every box needs refused in the manner of a security module? */
static bool refused(const struct host_view *view)
{
	for (int i = 0; i < PROBE_COUNT; i++) {
		const struct probe_answer *answer = &view->answers.of[i];

		if (answer->state == PROBE_FAILS && in_question((enum probe)i) &&
		    (answer->error == EPERM || answer->error == EACCES) &&
		    !explained(&view->facts, (enum probe)i))
			return true;
	}
	return false;
}

/* Or in the manner of a container, with its filters and masks? */
static bool shut_in(const struct host_view *view)
{
	for (int i = 0; i < PROBE_COUNT; i++) {
		const struct probe_answer *answer = &view->answers.of[i];

		if (answer->state == PROBE_FAILS && in_question((enum probe)i) &&
		    (answer->error == EPERM || answer->error == EACCES ||
		     answer->error == ENOSYS || answer->signal != 0))
			return true;
	}
	return false;
}

static void advise_profile(struct host_row *row)
{
	host_advise(row, "as root: husk doctor --install-apparmor (it installs the "
			 "profile that comes with husk, and loads it)");
	host_advise(
	    row,
	    "it is for the husk command; a program that loads the library is started "
	    "under it: aa-exec -p husk PROGRAM");
	host_advise(row, "or lift the restriction for every program: "
			 "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
}

void host_judge_apparmor(const struct host_view *view, int which, struct host_row *row)
{
	const struct probe_facts *facts = &view->facts;
	const char *label = facts->apparmor_label[0] ? facts->apparmor_label : "none";

	(void)which;
	if (facts->apparmor_restrict_userns != 1 && facts->apparmor_label[0] == '\0') {
		host_find(row, HUSK_PROBE_OK, "not in the way: it is not active");
	} else if (facts->apparmor_restrict_userns == 1 && facts->ordinary &&
		   refused(view)) {
		host_find(row, HUSK_PROBE_MISSING,
			  "it restricts user namespaces, and lets this program (profile: "
			  "%s) have "
			  "none",
			  label);
		advise_profile(row);
	} else if (refused(view) && strncmp(label, "unconfined", 10) != 0) {
		host_find(row, HUSK_PROBE_WEAKER,
			  "it may be what refuses namespaces or mounts (profile: %s)",
			  label);
		host_advise(row, "journalctl -k -g apparmor shows whether it does");
	} else if (facts->apparmor_restrict_userns == 1) {
		host_find(row, HUSK_PROBE_OK,
			  "it restricts user namespaces, and lets this program (profile: "
			  "%s) have "
			  "them",
			  label);
	} else {
		host_find(row, HUSK_PROBE_OK, "not in the way (profile: %s)", label);
	}
}

void host_judge_selinux(const struct host_view *view, int which, struct host_row *row)
{
	const char *context = view->facts.selinux_context[0] ? view->facts.selinux_context
							     : "context unknown";

	(void)which;
	if (view->facts.selinux_enforcing == FACT_ABSENT) {
		host_find(row, HUSK_PROBE_OK, "not in the way: it is not active");
	} else if (view->facts.selinux_enforcing == 1 && refused(view)) {
		host_find(row, HUSK_PROBE_WEAKER,
			  "enforcing; it may be what refuses namespaces, mounts or "
			  "memfds to this program (%s)",
			  context);
		host_advise(row, "ausearch -m avc -ts recent shows whether it does");
	} else {
		host_find(row, HUSK_PROBE_OK, "%s; not in the way of this program (%s)",
			  view->facts.selinux_enforcing == 1 ? "enforcing" : "permissive",
			  context);
	}
}

void host_judge_yama(const struct host_view *view, int which, struct host_row *row)
{
	long scope = view->facts.ptrace_scope;

	(void)which;
	if (scope == FACT_ABSENT) {
		host_find(row, HUSK_PROBE_OK, "not in the way: it is not active");
	} else if (scope < 2) {
		host_find(row, HUSK_PROBE_OK,
			  "ptrace_scope is %ld: debuggers work in boxes", scope);
	} else {
		host_find(row, HUSK_PROBE_WEAKER,
			  "ptrace_scope is %ld: debuggers do not work in boxes", scope);
		host_advise(row,
			    scope == 2
				? "only where debuggers are wanted in boxes: "
				  "sysctl -w kernel.yama.ptrace_scope=1"
				: "only where debuggers are wanted in boxes: set "
				  "kernel.yama.ptrace_scope=1 and start the system anew");
	}
}

void host_judge_container(const struct host_view *view, int which, struct host_row *row)
{
	const struct probe_facts *facts = &view->facts;
	bool shows =
	    facts->container[0] != '\0' || facts->in_husk || facts->own_seccomp != 0;
	bool odd = facts->chrooted || facts->initramfs || facts->proc_masked;
	bool blamed = !view->box.ran && (shows || odd) && shut_in(view);
	int state = blamed ? HUSK_PROBE_MISSING : HUSK_PROBE_OK;

	(void)which;
	host_find(row, state, "%s%s%s%s%s%s",
		  facts->in_husk		? "inside a box of husk"
		  : facts->container[0] != '\0' ? "inside a container: "
		  : shows			? "inside a sandbox"
						: "no container shows",
		  facts->in_husk ? "" : facts->container,
		  facts->own_seccomp && !facts->in_husk
		      ? "; a seccomp filter is around us"
		      : "",
		  facts->proc_masked ? "; parts of /proc are masked" : "",
		  facts->chrooted ? "; this is a chroot" : "",
		  facts->initramfs ? "; the root is the initramfs" : "");
	if (state != HUSK_PROBE_OK)
		host_advise(row, probe_remedy_around(facts));
}
