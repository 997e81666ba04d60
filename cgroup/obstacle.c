/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/obstacle.h"

#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * In the texts: {controller}, {path}, {owner} (of the path, in words), {error} (the
 * system's words), {said} and {uid} (ours). A remedy that is not given for a setting is
 * the first one of its row, CGROUP_PLAIN_USER's, which every row has.
 */
struct row {
	enum cgroup_why why;
	const char *text;
	const char *remedy[CGROUP_SETTINGS];
};

#define OWN_SCOPE "systemd-run --user --scope -p Delegate=yes -- COMMAND"
#define WRITABLE_TREE                                                                    \
	"start the container with a writable control group tree of its own: docker run " \
	"--cgroupns=private --privileged, or podman run --security-opt "                 \
	"unmask=/sys/fs/cgroup"
#define PASS_DOWN                                                          \
	"as root: mkdir -p /etc/systemd/system/user@.service.d && printf " \
	"'[Service]\\nDelegate=cpu memory pids\\n' "                       \
	">/etc/systemd/system/user@.service.d/delegate.conf && systemctl " \
	"daemon-reload, "                                                  \
	"then log in anew"

static const struct row rows[] = {
    {
	CGROUP_NOT_MOUNTED,
	"no control group tree with the {controller} controller is mounted",
	{
	    [CGROUP_PLAIN_USER] = "ask root to mount one: mount -t cgroup2 "
				  "cgroup2 /sys/fs/cgroup",
	    [CGROUP_PLAIN_ROOT] = "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
	    [CGROUP_CONTAINER] = WRITABLE_TREE,
	},
    },
    {
	CGROUP_OUTSIDE,
	"this process's own group is outside of the control group tree that is "
	"mounted here",
	{
	    [CGROUP_PLAIN_USER] = "run where /sys/fs/cgroup shows the group that "
				  "/proc/self/cgroup names",
	    [CGROUP_CONTAINER] = WRITABLE_TREE,
	},
    },
    {
	CGROUP_READ_ONLY,
	"{path} is mounted read-only",
	{
	    [CGROUP_PLAIN_USER] = "ask root: mount -o remount,rw {path}",
	    [CGROUP_PLAIN_ROOT] = "mount -o remount,rw {path}",
	    [CGROUP_SYSTEMD_ROOT] =
		"if this is a service, set ProtectControlGroups=no in its "
		"unit; else mount -o remount,rw {path}",
	    [CGROUP_CONTAINER] = WRITABLE_TREE,
	},
    },
    {
	CGROUP_NOT_OURS,
	"{path} {owner} and may not be written to",
	{
	    [CGROUP_PLAIN_USER] =
		"as root: make a group for uid {uid} (mkdir it, chown -R {uid} it; on "
		"v2 its parent needs +memory +pids +cpu in cgroup.subtree_control), "
		"and start this program in it: echo PID >GROUP/cgroup.procs",
	    [CGROUP_SYSTEMD_USER] =
		"run it in a session with a systemd user manager (log in, or "
		"loginctl enable-linger), or through: " OWN_SCOPE,
	    [CGROUP_CONTAINER] = WRITABLE_TREE,
	},
    },
    {
	CGROUP_NOT_DELEGATED,
	"{path}, which {owner}, is managed by systemd and not delegated to this program",
	{
	    [CGROUP_PLAIN_USER] = "set Delegate=yes in the unit that this program "
				  "runs in",
	    [CGROUP_SYSTEMD_USER] =
		"run it in a session with a systemd user manager (log in, or "
		"loginctl enable-linger), or set Delegate=yes in its unit",
	},
    },
    {
	CGROUP_NO_CONTROLLER,
	"the kernel offers no {controller} controller in {path}",
	{
	    [CGROUP_PLAIN_USER] =
		"use a kernel built with it, and boot without cgroup_disable= "
		"for it (memory on some boards: cgroup_enable=memory)",
	},
    },
    {
	CGROUP_NOT_PASSED_DOWN,
	"the {controller} controller is not passed down to {path}, which {owner}",
	{
	    [CGROUP_PLAIN_USER] =
		"ask root to write +{controller} to cgroup.subtree_control in "
		"every group above it",
	    [CGROUP_PLAIN_ROOT] = "write +{controller} to cgroup.subtree_control "
				  "in every group above it",
	    [CGROUP_SYSTEMD_USER] = PASS_DOWN,
	    [CGROUP_SYSTEMD_ROOT] =
		"set Delegate=yes in the unit that this program runs in",
	    [CGROUP_CONTAINER] = "outside of the container, write +{controller} to "
				 "cgroup.subtree_control in every group above it",
	},
    },
    {
	CGROUP_BUSY,
	"{path} holds other processes, so no group below it can have controllers",
	{
	    [CGROUP_PLAIN_USER] =
		"start this program alone in a group of its own, or move the "
		"others to a leaf: cd {path} && mkdir leaf && for p in $(cat "
		"cgroup.procs); do echo $p >leaf/cgroup.procs; done",
	    [CGROUP_SYSTEMD_USER] = "start it alone in a scope: " OWN_SCOPE,
	    [CGROUP_SYSTEMD_ROOT] = "start it alone in a scope: systemd-run --scope -p "
				    "Delegate=yes -- COMMAND",
	    [CGROUP_CONTAINER] =
		"in the container's entry point, first: cd {path} && mkdir "
		"leaf && for p in $(cat cgroup.procs); do echo $p "
		">leaf/cgroup.procs; done",
	},
    },
    {
	CGROUP_THREADED,
	"{path} is a threaded group, below which memory cannot be capped",
	{
	    [CGROUP_PLAIN_USER] =
		"start this program in a group whose cgroup.type is domain",
	},
    },
    {
	CGROUP_NO_MANAGER,
	"{path} is managed by systemd, and its manager cannot be reached: {said}",
	{
	    [CGROUP_PLAIN_USER] = "set Delegate=yes in the unit that this program "
				  "runs in",
	    [CGROUP_SYSTEMD_USER] =
		"as root: loginctl enable-linger {uid}, which starts the user "
		"manager; or set Delegate=yes in the unit that this program "
		"runs in",
	},
    },
    {
	CGROUP_NO_LIBRARY,
	"{path} is managed by systemd, which is asked for a scope through "
	"libsystemd.so.0, and that cannot be loaded: {said}",
	{
	    [CGROUP_PLAIN_USER] = "install libsystemd (Debian: libsystemd0), or "
				  "start it through: " OWN_SCOPE,
	    [CGROUP_SYSTEMD_ROOT] =
		"install libsystemd (Debian: libsystemd0), or set Delegate=yes "
		"in the unit that this program runs in",
	},
    },
    {
	CGROUP_MANAGER_REFUSED,
	"systemd did not give this program a scope: {said}",
	{
	    [CGROUP_PLAIN_USER] = "set Delegate=yes in the unit that this program "
				  "runs in",
	    [CGROUP_SYSTEMD_USER] = "see what this says: " OWN_SCOPE,
	},
    },
    {
	CGROUP_SWAP_UNCOUNTED,
	"{path} is missing, so swap is not counted and the machine has swap in use",
	{
	    [CGROUP_PLAIN_USER] = "boot with swapaccount=1, or without swap",
	    [CGROUP_PLAIN_ROOT] = "boot with swapaccount=1, or swapoff -a",
	    [CGROUP_SYSTEMD_ROOT] = "boot with swapaccount=1, or swapoff -a",
	},
    },
    {
	CGROUP_REFUSED,
	"{path}, which {owner}, refused: {error}",
	{
	    [CGROUP_PLAIN_USER] =
		"see whether a group above it has a smaller cap, or a limit on "
		"the number of groups (cgroup.max.descendants)",
	},
    },
    {
	CGROUP_SHORTAGE,
	"{path} cannot be looked at: {error}",
	{
	    [CGROUP_PLAIN_USER] =
		"allow this process more open files (ulimit -n, LimitNOFILE=)",
	},
    },
    {
	CGROUP_DID_NOT_STICK,
	"{path} was written, and reads back as {said}",
	{
	    [CGROUP_PLAIN_USER] =
		"see which other program manages this group, and keep it away",
	},
    },
};

/* The machine's own PID namespace, include/linux/proc_ns.h: PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

static bool in_container(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != FIRST_PID_NAMESPACE;
}

enum cgroup_setting cgroup_setting_now(bool systemd)
{
	bool root = geteuid() == 0;

	if (systemd)
		return root ? CGROUP_SYSTEMD_ROOT : CGROUP_SYSTEMD_USER;
	if (in_container())
		return CGROUP_CONTAINER;
	return root ? CGROUP_PLAIN_ROOT : CGROUP_PLAIN_USER;
}

void cgroup_obstacle_at(struct cgroup_obstacle *ret, enum cgroup_why why, int sys_errno,
			int dir, const char *file, const char *shown_path)
{
	struct stat st;

	if (why == CGROUP_REFUSED && (sys_errno == EMFILE || sys_errno == ENFILE))
		why = CGROUP_SHORTAGE;
	*ret = (struct cgroup_obstacle){
	    .why = why,
	    .sys_errno = sys_errno,
	    .owner = CGROUP_NO_OWNER,
	};
	(void)snprintf(ret->path, sizeof(ret->path), "%s", shown_path);
	if (dir >= 0 && fstatat(dir, file ? file : "", &st, AT_EMPTY_PATH) == 0)
		ret->owner = st.st_uid;
}

static const struct row *find_row(enum cgroup_why why)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].why == why)
			return &rows[i];
	return NULL;
}

/* The text of one {word}; scratch is where it may be made. NULL: not one of ours. */
static const char *word_text(const char *word, size_t size,
			     const struct cgroup_obstacle *obstacle,
			     enum cgroup_controller controller, char scratch[128])
{
	static const char *const words[] = {"controller", "path", "owner",
					    "error",	  "said", "uid"};
	size_t i = 0;

	while (i < sizeof(words) / sizeof(words[0]) &&
	       (strlen(words[i]) != size || memcmp(words[i], word, size) != 0))
		i++;
	switch (i) {
	case 0:
		return cgroup_controller_name(controller);
	case 1:
		return obstacle->path;
	case 2:
		if (obstacle->owner == CGROUP_NO_OWNER)
			return "belongs to an unknown user";
		(void)snprintf(scratch, 128, "belongs to uid %u%s",
			       (unsigned)obstacle->owner,
			       obstacle->owner == 0 ? " (root)" : "");
		return scratch;
	case 3:
		return strerror_r(obstacle->sys_errno, scratch, 128);
	case 4:
		return obstacle->said;
	case 5:
		(void)snprintf(scratch, 128, "%u", (unsigned)geteuid());
		return scratch;
	default:
		return NULL;
	}
}

static void expand(const char *text, const struct cgroup_obstacle *obstacle,
		   enum cgroup_controller controller, char *ret, size_t size)
{
	size_t used = 0;

	while (*text && used + 1 < size) {
		const char *close = *text == '{' ? strchr(text, '}') : NULL;
		char scratch[128];
		const char *word = close ? word_text(text + 1, (size_t)(close - text - 1),
						     obstacle, controller, scratch)
					 : NULL;

		if (!word) {
			ret[used++] = *text++;
			continue;
		}
		while (*word && used + 1 < size)
			ret[used++] = *word++;
		text = close + 1;
	}
	ret[used] = '\0';
}

void cgroup_obstacle_text(const struct cgroup_obstacle *obstacle,
			  enum cgroup_controller controller, char *ret, size_t size)
{
	const struct row *row = find_row(obstacle->why);

	expand(row ? row->text : "", obstacle, controller, ret, size);
}

void cgroup_obstacle_remedy(const struct cgroup_obstacle *obstacle,
			    enum cgroup_controller controller,
			    enum cgroup_setting setting, char *ret, size_t size)
{
	const struct row *row = find_row(obstacle->why);
	const char *text = row ? row->remedy[setting] : "";

	if (!text)
		text = row->remedy[CGROUP_PLAIN_USER];
	expand(text, obstacle, controller, ret, size);
}
