/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this kernel lets this process do of what a box needs: each thing is tried by a
 * short-lived child in namespaces of its own, in the way in which a start does it.
 *
 * Facts are read, answers are tried, remedies are a pure function of both: a start that
 * failed and a host that is looked over get their words from the same table.
 */
#ifndef RUNTIME_PROBE_H
#define RUNTIME_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "runtime/ids.h"
#include "runtime/steps.h"

/* What is tried. An answer stands on another one (probe_stands_on) that comes before it.
 */
enum probe {
	PROBE_CLONE3,
	PROBE_USER, /* user namespace, with capabilities that count in it */
	PROBE_PID,
	PROBE_MOUNT,
	PROBE_NETWORK,
	PROBE_IPC,
	PROBE_UTS,
	PROBE_CGROUP,
	PROBE_TREES,	/* open_tree, mount_setattr, fsopen, move_mount */
	PROBE_PIVOT,	/* a new root */
	PROBE_PROCFS,	/* a new /proc */
	PROBE_TERMINAL, /* a new devpts, and a terminal in it */
	PROBE_IDMAP,	/* id-mapped mount of the temporary directory */
	PROBE_OVERLAY,
	PROBE_INIT, /* the init program can be executed */
	PROBE_NO_NEW_PRIVS,
	PROBE_FILTER,
	PROBE_LISTENER, /* seccomp notifications */
	PROBE_PIDFD,
	PROBE_OPENAT2,
	PROBE_CLOSE_RANGE,
	PROBE_LANDLOCK, /* value: the ABI */
	PROBE_COUNT
};

enum probe_state {
	PROBE_UNTRIED, /* what it stands on is not there, or it is not needed here */
	PROBE_WORKS,
	PROBE_FAILS,
};

struct probe_answer {
	enum probe_state state;
	uint32_t step; /* PROBE_FAILS: enum step, or STEP_NONE */
	int error;     /* PROBE_FAILS: errno */
	int signal;    /* PROBE_FAILS: what ended the child in the middle of it, or 0 */
	int64_t value;
};

enum probe_space {
	SPACE_USER,
	SPACE_PID,
	SPACE_MOUNT,
	SPACE_NETWORK,
	SPACE_IPC,
	SPACE_UTS,
	SPACE_CGROUP,
	SPACE_COUNT
};

/* A setting that this kernel does not have. */
enum { FACT_ABSENT = -1 };

/* What the host says of itself. */
struct probe_facts {
	char release[65], machine[65]; /* uname(2) */
	unsigned major, minor;	       /* of release */
	long max_spaces[SPACE_COUNT];  /* /proc/sys/user/max_*_namespaces */
	long unprivileged_userns_clone;
	long apparmor_restrict_userns;
	long memfd_noexec;
	long ptrace_scope;
	long selinux_enforcing;
	char apparmor_label[128];  /* of this process; "" without AppArmor */
	char selinux_context[128]; /* likewise */
	bool ordinary; /* boxes get the caller's own id: not root, or root of one id */
	uint32_t uid,
	    own_seccomp;    /* own_seccomp: mode of this process's filter, 0: none */
	char container[48]; /* what is around us, "" for nothing that shows */
	bool sys_admin;	    /* CAP_SYS_ADMIN is in effect */
	bool in_husk;	    /* that is a box of husk */
	bool proc_missing;  /* there is no procfs at /proc */
	bool proc_masked;   /* parts of it are covered */
	bool chrooted;	    /* no mount is the root directory */
	bool initramfs;	    /* the root is the kernel's first one */
};

struct probe_answers {
	struct probe_answer of[PROBE_COUNT];
	struct ids ids;	       /* of boxes, where user namespaces were tried */
	bool init_is_file;     /* PROBE_INIT: the installed file, not a memfd */
	uint64_t temp_fs_type; /* PROBE_IDMAP: statfs(2), or 0 */
};

/* Read the facts. Cannot fail: what cannot be read is absent. */
void probe_facts_read(struct probe_facts *ret);

/* Parts of it that only read a text. */
void probe_facts_release(const char *release, struct probe_facts *ret);
void probe_facts_mounts(const char *mountinfo, struct probe_facts *ret);
void probe_facts_status(const char *status, struct probe_facts *ret);

/* Is this kernel, by its number, at least major.minor? */
bool probe_facts_since(const struct probe_facts *facts, unsigned major, unsigned minor);

/* Try everything, one after the other. temp_dir: where private workspaces are made.
 * HUSK_E_MEMORY. */
int probe_all(const char *temp_dir, struct probe_answers *ret, struct husk_error *err);

/* What PROBE_IDMAP finds for another directory. *ret_fs_type:
 * statfs(2), or 0. Untried where boxes need no mapping. HUSK_E_MEMORY. */
int probe_idmap(const struct probe_answers *answers, const char *dir,
		struct probe_answer *ret, uint64_t *ret_fs_type, struct husk_error *err);

/* What a probe stands on; PROBE_COUNT: nothing. */
enum probe probe_stands_on(enum probe probe);

/*
 * What to do about a step that failed with an errno on such a host: one line that a
 * person can act on, or NULL where nothing is known. By the host's settings and
 * surroundings, never by the name of a distribution.
 */
const char *probe_remedy(const struct probe_facts *facts, uint32_t step, int error);

/* The same for whatever is refused by the sandbox around us, NULL where there is none. */
const char *probe_remedy_around(const struct probe_facts *facts);

/* Why an answer is PROBE_FAILS: "cannot make the new root: Permission denied". */
void probe_failure(const struct probe_answer *answer, char *text, size_t capacity);

#endif
