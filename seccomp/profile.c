/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/profile.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "base/printable.h"
#include "seccomp/generated.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

static const struct profile_key top_keys[] = {
    {"archMap", PROFILE_LIST, false},		{"architectures", PROFILE_TEXTS, false},
    {"defaultAction", PROFILE_TEXT, true},	{"defaultErrno", PROFILE_TEXT, false},
    {"defaultErrnoRet", PROFILE_NUMBER, false}, {"flags", PROFILE_TEXTS, false},
    {"listenerMetadata", PROFILE_TEXT, false},	{"listenerPath", PROFILE_TEXT, false},
    {"syscalls", PROFILE_LIST, false},
};

static const struct profile_key arch_keys[] = {
    {"architecture", PROFILE_TEXT, true},
    {"subArchitectures", PROFILE_TEXTS, false},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- architectures -- */

/* Those of other machines are in every profile that is meant for more than one. */
static int switch_abi(struct profile *profile, const char *at, const char *name)
{
	char quoted[PROFILE_QUOTE_MAX];

	if (strncmp(name, "SCMP_ARCH_", strlen("SCMP_ARCH_")) != 0)
		return profile_fail(profile, at, "", "\"%s\" is not an architecture",
				    printable(quoted, sizeof(quoted), name));
	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		if (strcmp(seccomp_abis[abi].oci, name) == 0)
			profile->abi_on[abi] = true;
	}
	return 0;
}

static int switch_abis(struct profile *profile, const char *at, const json_t *names)
{
	int rc = 0;

	for (size_t i = 0; i < json_array_size(names) && rc == 0; i++)
		rc = switch_abi(profile, at, json_string_value(json_array_get(names, i)));
	return rc;
}

/* Docker's form: for each native architecture, what runs on it besides. */
static int read_arch_map(struct profile *profile, const json_t *map)
{
	char at[PROFILE_ENTRY_MAX];
	int rc = 0;

	for (size_t i = 0; i < json_array_size(map) && rc == 0; i++) {
		const json_t *row = json_array_get(map, i);
		const char *native;

		(void)snprintf(at, sizeof(at), "archMap[%zu]", i);
		rc = profile_check_keys(profile, at, row, arch_keys, COUNT(arch_keys));
		if (rc < 0)
			return rc;
		native = profile_text(row, "architecture");
		if (strcmp(native, seccomp_abis[0].oci) == 0)
			rc = switch_abis(profile, at,
					 profile_get(row, "subArchitectures"));
	}
	return rc;
}

static int read_architectures(struct profile *profile, const json_t *top)
{
	const json_t *names = profile_get(top, "architectures");
	const json_t *map = profile_get(top, "archMap");

	/* What this machine runs natively is always meant. */
	profile->abi_on[0] = true;
	if (json_array_size(names) > 0 && json_array_size(map) > 0)
		return profile_fail(profile, "", "archMap",
				    "stands beside architectures; use one");
	if (names)
		return switch_abis(profile, "architectures", names);
	return read_arch_map(profile, map);
}

/* -- the rest of the top -- */

/* How the filter is installed is husk's affair, and never looser than what these ask for.
 */
static int check_flags(struct profile *profile, const json_t *flags)
{
	static const char *const known[] = {
	    "SECCOMP_FILTER_FLAG_LOG",
	    "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
	    "SECCOMP_FILTER_FLAG_TSYNC",
	    "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV",
	};
	char quoted[PROFILE_QUOTE_MAX];

	for (size_t i = 0; i < json_array_size(flags); i++) {
		const char *flag = json_string_value(json_array_get(flags, i));
		size_t k = 0;

		while (k < COUNT(known) && strcmp(known[k], flag) != 0)
			k++;
		if (k == COUNT(known))
			return profile_fail(profile, "", "flags", "\"%s\" is not a flag",
					    printable(quoted, sizeof(quoted), flag));
	}
	return 0;
}

static int refuse_listener(struct profile *profile, const json_t *top)
{
	const char *path = profile_text(top, "listenerPath");
	int rc;

	if (!path || !*path)
		return 0;
	rc = profile_fail(profile, "", "listenerPath",
			  "names an agent outside the box, which husk does not have");
	error_hint(profile->err,
		   "remove the key; husk itself listens, and reports kills");
	return rc;
}

static int read_top(struct profile *profile, const json_t *top)
{
	int rc = profile_check_keys(profile, "", top, top_keys, COUNT(top_keys));

	if (rc < 0)
		return rc;
	rc = refuse_listener(profile, top);
	if (rc < 0)
		return rc;
	rc = check_flags(profile, profile_get(top, "flags"));
	if (rc < 0)
		return rc;
	rc = profile_action(profile, "", top, "defaultAction", "defaultErrnoRet",
			    "defaultErrno", &profile->action);
	if (rc < 0)
		return rc;
	profile->permissive = profile_is_permissive(profile->action);
	rc = read_architectures(profile, top);
	if (rc < 0)
		return rc;
	return profile_syscalls(profile, profile_get(top, "syscalls"));
}

/* -- from rules to a program -- */

/* The last number that a rule of this ABI names. */
static uint32_t last_named(const struct profile *profile, unsigned abi)
{
	uint32_t last = 0;

	for (size_t i = 0; i < profile->set.count; i++) {
		const struct seccomp_rule *rule = &profile->set.rules[i];

		if (rule->abi == abi && rule->nr > last)
			last = rule->nr;
	}
	return last;
}

/* What to answer where no rule does. Calls that are newer than the profile get ENOSYS
 * instead of its refusal, so that C libraries fall back to older ones: by its author's
 * time, as the last number from 424 on that it names tells it. */
static void set_defaults(struct profile *profile)
{
	enum { LAST_OLD = 423 };

	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		const uint32_t old = seccomp_abis[abi].base + LAST_OLD;
		uint32_t last = UINT32_MAX;

		profile->set.abi[abi].known = profile->action;
		profile->set.abi[abi].unknown = SECCOMP_RET_ERRNO | ENOSYS;
		if (!profile->abi_on[abi]) {
			profile->set.abi[abi].known = SECCOMP_RET_USER_NOTIF;
			profile->set.abi[abi].unknown = SECCOMP_RET_USER_NOTIF;
		} else if (!profile->permissive) {
			last = last_named(profile, abi);
			if (last < old)
				last = old;
		}
		profile->set.abi[abi].known_last = last;
	}
}

static int compile(struct profile *profile, struct seccomp_program *ret)
{
	int rc;

	set_defaults(profile);
	rc = profile->permissive ? profile_close_multiplexers(profile) : 0;
	if (rc == 0)
		rc = seccomp_compose(&profile->set, ret);
	if (rc == -E2BIG)
		return error_set(profile->err, HUSK_E_TOO_BIG, profile->where,
				 "needs more than the %d instructions of a filter",
				 BPF_MAXINSNS);
	if (rc < 0)
		return error_oom(profile->err, profile->where);
	ret->unknown_names =
	    (uint16_t)(profile->unknown_names > UINT16_MAX ? UINT16_MAX
							   : profile->unknown_names);
	return 0;
}

static void read_kernel(struct profile *profile)
{
	struct utsname name;

	if (uname(&name) < 0 || sscanf(name.release, "%4u.%4u", &profile->kernel_major,
				       &profile->kernel_minor) != 2)
		profile->kernel_major = profile->kernel_minor = 0;
}

int seccomp_profile_parse(const char *text, size_t size, const char *where,
			  struct seccomp_program *ret, struct husk_error *err)
{
	struct profile profile = {.where = where, .err = err};
	struct seccomp_program program = {0};
	char quoted[PROFILE_QUOTE_MAX];
	json_error_t wrong;
	json_t *top = NULL;
	int rc;

	if (size > PROFILE_SIZE_MAX)
		return error_set(err, HUSK_E_TOO_BIG, where, "is larger than %d bytes",
				 PROFILE_SIZE_MAX);
	if (profile_too_deep(text, size))
		return error_set(err, HUSK_E_INVALID, where,
				 "is nested more than %d deep", PROFILE_DEPTH_MAX);
	rc = json_read(text, size, JSON_REJECT_DUPLICATES, &top, &wrong);
	if (rc == -ENOMEM)
		return error_oom(err, where);
	if (rc < 0)
		return error_set(err, HUSK_E_INVALID, where, "line %d: is not JSON: %s",
				 wrong.line,
				 printable(quoted, sizeof(quoted), wrong.text));
	read_kernel(&profile);
	rc = read_top(&profile, top);
	if (rc == 0)
		rc = compile(&profile, &program);
	seccomp_ruleset_deinit(&profile.set);
	free(profile.tests);
	json_decref(top);
	if (rc == 0)
		*ret = program;
	return rc;
}

/* O_NONBLOCK: a FIFO without a writer would hold the caller. The file is looked at before
 * anything is read from it. */
static int open_profile(const char *path, int *ret_fd, struct husk_error *err)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0) {
		int r = error_sys(err, errno, path, "cannot open the seccomp profile");

		error_hint(err,
			   "default, strict, or the path of a profile in the form of "
			   "Docker's");
		return r;
	}
	if (fstat(fd, &st) < 0)
		return error_sys(err, errno, path, "cannot look at the seccomp profile");
	if (!S_ISREG(st.st_mode))
		return error_set(err, HUSK_E_INVALID, path,
				 "is not a regular file, as a seccomp profile must be");
	*ret_fd = fd_take(&fd);
	return 0;
}

int seccomp_profile_load(const char *path, struct seccomp_program *ret,
			 struct husk_error *err)
{
	CLEANUP_FREE char *text = NULL;
	CLEANUP_FD int fd = -1;
	ssize_t size;
	int rc = open_profile(path, &fd, err);

	if (rc < 0)
		return rc;
	/* One byte more than may be there: the parser refuses it. */
	text = malloc(PROFILE_SIZE_MAX + 1);
	if (!text)
		return error_oom(err, path);
	size = fd_read_full(fd, text, PROFILE_SIZE_MAX + 1);
	if (size < 0)
		return error_sys(err, (int)-size, path,
				 "cannot read the seccomp profile");
	return seccomp_profile_parse(text, (size_t)size, path, ret, err);
}
