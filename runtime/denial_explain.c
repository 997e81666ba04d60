/* SPDX-License-Identifier: Apache-2.0 */
/* By which layer, and what loosens it: exactly one thing, or nothing. */
#include "runtime/denial.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/box.h"
#include "runtime/wire.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Sorted. Whatever a filter says, the kernel asks for a capability on the host. */
static const char *const privileged[] = {
    "acct",
    "chroot",
    "clock_settime",
    "clock_settime64",
    "delete_module",
    "fanotify_init",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "ioperm",
    "iopl",
    "kexec_file_load",
    "kexec_load",
    "mknod",
    "mknodat",
    "mount",
    "mount_setattr",
    "move_mount",
    "open_by_handle_at",
    "open_tree",
    "open_tree_attr",
    "pivot_root",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "setdomainname",
    "sethostname",
    "setns",
    "settimeofday",
    "stime",
    "swapoff",
    "swapon",
    "syslog",
    "umount",
    "umount2",
    "vhangup",
};

/* Sorted. What programs do to a file beyond opening it, and its permissions do not
 * decide. */
static const char *const owners_alone[] = {
    "chown",  "fchown",	   "fchownat",	  "fsetxattr",
    "lchown", "lsetxattr", "removexattr", "setxattr",
};

static bool is_in(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i], name) == 0)
			return true;
	}
	return false;
}

static void loosen(struct denial *ret, const char *option)
{
	(void)snprintf(ret->loosen, sizeof(ret->loosen), "%s", option);
}

static void name_error(struct denial *ret, int error)
{
	const char *name = strerrorname_np(error);

	if (name)
		(void)snprintf(ret->error, sizeof(ret->error), "%s", name);
	else
		(void)snprintf(ret->error, sizeof(ret->error), "errno %d", error);
}

/* -- the filter --------------------------------------------------------------------- */

static void name_answer(struct denial *ret, uint32_t answer)
{
	const char *word = "killed";

	switch (answer & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ERRNO:
		if ((answer & SECCOMP_RET_DATA) != 0) {
			name_error(ret, (int)(answer & SECCOMP_RET_DATA));
			return;
		}
		word = "no effect";
		break;
	case SECCOMP_RET_TRAP:
		word = "SIGSYS";
		break;
	default:
		break;
	}
	(void)snprintf(ret->error, sizeof(ret->error), "%s", word);
}

static bool passes(const struct seccomp_program *program, const struct wire_denial *row)
{
	uint32_t answer = seccomp_answer_args(program, row->arch, row->nr, row->args);

	return answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG;
}

static void by_filter(const struct wire_denial *row, struct denial *ret)
{
	struct seccomp_program standard = {0};

	ret->layer = "seccomp";
	name_answer(ret, row->answer);
	if (is_in(ret->call, privileged, COUNT(privileged)))
		return;
	if (seccomp_builtin("default", &standard) == 0 && passes(&standard, row))
		loosen(ret, "--seccomp default");
	else
		loosen(ret, "--seccomp FILE, a profile that lets it pass");
	seccomp_program_deinit(&standard);
}

/* -- the kernel --------------------------------------------------------------------- */

static bool is_below(const char *path, const char *top)
{
	size_t size = strlen(top);

	return strncmp(path, top, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

/* The extra mount that a path lies in: the one with the longest target. */
static const struct box_mount *mount_of(const struct box_spec *spec, const char *path)
{
	const struct box_mount *best = NULL;

	for (size_t i = 0; path[0] == '/' && i < spec->mount_count; i++) {
		const struct box_mount *mount = &spec->mounts[i];

		if (is_below(path + 1, mount->target) &&
		    (!best || strlen(mount->target) > strlen(best->target)))
			best = mount;
	}
	return best;
}

static bool is_kernels(const char *path)
{
	return is_below(path, "/proc") || is_below(path, "/sys") ||
	       is_below(path, "/dev");
}

static void read_only(const struct box_spec *spec, struct denial *ret)
{
	const struct box_mount *mount = mount_of(spec, ret->subject);

	ret->layer = "read-only";
	if (is_kernels(ret->subject))
		return;
	if (is_below(ret->subject, "/workspace/.deps"))
		loosen(ret, "leave --deps-readonly out");
	else if (mount && !mount->writable)
		(void)snprintf(ret->loosen, sizeof(ret->loosen), "-v SRC:/%.120s:rw",
			       mount->target);
	else if (!mount && !spec->writable_root && !is_below(ret->subject, "/workspace"))
		loosen(ret, "--writable-root");
}

/* The size of /tmp bounds everything that is not the workspace or a mount. */
static bool no_space(const struct box_spec *spec, struct denial *ret)
{
	if (is_kernels(ret->subject) && !is_below(ret->subject, "/dev/shm"))
		return false; /* /dev/full */
	ret->layer = "space";
	if (!is_below(ret->subject, "/workspace") && !mount_of(spec, ret->subject))
		loosen(ret, "--tmp-size SIZE");
	return true;
}

static bool network(const struct box_spec *spec, struct denial *ret)
{
	if (spec->host_network)
		return false; /* the host's network says so */
	ret->layer = "network";
	loosen(ret, "--network host");
	return true;
}

static bool ids(const struct wire_denial *row, struct denial *ret)
{
	bool all = row->args[0] == UINT32_MAX || row->args[0] == UINT64_MAX;

	ret->layer = "ids";
	if (strncmp(ret->call, "set", 3) == 0 && !all)
		(void)snprintf(ret->loosen, sizeof(ret->loosen), "--user %s%u",
			       strchr(ret->call, 'g') ? "UID:" : "",
			       (unsigned)row->args[0]);
	return true;
}

static bool tasks(const struct box_spec *spec, struct denial *ret)
{
	if (spec->caps.pids == 0)
		return false;
	ret->layer = "tasks";
	loosen(ret, "--pids N");
	return true;
}

static bool is_abstract(const struct wire_denial *row)
{
	sa_family_t family = AF_UNSPEC;

	if (row->about != WIRE_ABOUT_ADDRESS)
		return false;
	memcpy(&family, row->text, sizeof(family));
	return family == AF_UNIX && row->text_size > sizeof(family) &&
	       row->text[sizeof(family)] == '\0';
}

static void not_permitted(const struct wire_denial *row, struct denial *ret)
{
	if (strcmp(ret->call, "ptrace") == 0) {
		ret->layer = "tracing"; /* ours: a task has one tracer */
		loosen(ret, "leave --explain-denials out");
	} else if (is_abstract(row)) {
		ret->layer = "landlock";
	} else if (row->about == WIRE_ABOUT_PATH &&
		   !is_in(ret->call, owners_alone, COUNT(owners_alone))) {
		ret->layer = "permissions";
	} else {
		ret->layer = "capabilities";
	}
}

static bool by_kernel(const struct box_spec *spec, const struct wire_denial *row,
		      struct denial *ret)
{
	name_error(ret, row->error);
	switch (row->error) {
	case EROFS:
		read_only(spec, ret);
		return true;
	case ENOSPC:
	case EDQUOT:
		return no_space(spec, ret);
	case EAGAIN:
		return tasks(spec, ret);
	case EINVAL:
		return ids(row, ret);
	case EPERM:
	case EACCES:
		not_permitted(row, ret);
		return true;
	default:
		return network(spec, ret);
	}
}

bool denial_explain(const struct box_spec *spec, const struct wire_denial *row,
		    struct denial *ret)
{
	*ret = (struct denial){.layer = "", .count = row->count};
	(void)seccomp_syscall_name(row->arch, row->nr, ret->call, sizeof(ret->call));
	denial_subject(row, ret->call, ret->subject, sizeof(ret->subject));
	if (row->by != WIRE_BY_FILTER)
		return by_kernel(spec, row, ret);
	by_filter(row, ret);
	return true;
}
