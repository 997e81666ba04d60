/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/profile.h"

#include "base/error.h"
#include "base/printable.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>

enum {
	ERRNO_MAX = 4095,      /* the kernel cuts larger ones to this */
	ERRNO_NAMED_MAX = 255, /* none has a name above */
};

struct action {
	const char *name;
	uint32_t ret;
	bool takes_errno;
	const char *refused; /* why husk does not do this; NULL: it does */
	const char *remedy;
};

/* Sorted. A kill becomes a notification, so that the result can name the call. */
static const struct action actions[] = {
    {"SCMP_ACT_ALLOW", SECCOMP_RET_ALLOW, false, NULL, NULL},
    {"SCMP_ACT_ERRNO", SECCOMP_RET_ERRNO, true, NULL, NULL},
    {"SCMP_ACT_KILL", SECCOMP_RET_USER_NOTIF, false, NULL, NULL},
    {"SCMP_ACT_KILL_PROCESS", SECCOMP_RET_USER_NOTIF, false, NULL, NULL},
    {"SCMP_ACT_KILL_THREAD", SECCOMP_RET_USER_NOTIF, false, NULL, NULL},
    {"SCMP_ACT_LOG", SECCOMP_RET_LOG, false, NULL, NULL},
    {"SCMP_ACT_NOTIFY", 0, false, "hands calls to an agent outside the box",
     "decide in the profile: SCMP_ACT_ALLOW, SCMP_ACT_ERRNO or SCMP_ACT_KILL"},
    {"SCMP_ACT_TRACE", 0, false, "hands calls to a tracer outside the box",
     "decide in the profile: SCMP_ACT_ALLOW, SCMP_ACT_ERRNO or SCMP_ACT_KILL"},
    {"SCMP_ACT_TRAP", SECCOMP_RET_TRAP, false, NULL, NULL},
};

static const struct action *find_action(const char *name)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	}
	return NULL;
}

/* The number of an errno's name, or -1. */
static int errno_by_name(const char *name)
{
	for (int number = 1; number <= ERRNO_NAMED_MAX; number++) {
		const char *known = strerrorname_np(number);

		if (known && strcmp(known, name) == 0)
			return number;
	}
	return -1;
}

/* The errno: as a number, as a name, both alike, or EPERM. */
static int read_errno(struct profile *profile, const char *at, const json_t *object,
		      const char *number_key, const char *name_key, uint32_t *ret_errno)
{
	const uint64_t number = profile_number(object, number_key, UINT64_MAX);
	const char *name = profile_text(object, name_key);
	char quoted[PROFILE_QUOTE_MAX];
	int named;

	if (number != UINT64_MAX && number > ERRNO_MAX)
		return profile_fail(profile, at, number_key, "is more than %d",
				    ERRNO_MAX);
	*ret_errno = number == UINT64_MAX ? EPERM : (uint32_t)number;
	if (!name)
		return 0;
	named = errno_by_name(name);
	if (named < 0)
		return profile_fail(profile, at, name_key,
				    "\"%s\" is not an error's name",
				    printable(quoted, sizeof(quoted), name));
	if (number != UINT64_MAX && number != (uint64_t)named)
		return profile_fail(profile, at, name_key, "contradicts %s", number_key);
	*ret_errno = (uint32_t)named;
	return 0;
}

int profile_action(struct profile *profile, const char *at, const json_t *object,
		   const char *action_key, const char *number_key, const char *name_key,
		   uint32_t *ret_action)
{
	const char *name = profile_text(object, action_key);
	const struct action *action = find_action(name);
	char quoted[PROFILE_QUOTE_MAX];
	uint32_t error = 0;
	int rc;

	if (!action)
		return profile_fail(profile, at, action_key, "\"%s\" is not an action",
				    printable(quoted, sizeof(quoted), name));
	if (action->refused) {
		rc = profile_fail(profile, at, action_key,
				  "%s %s, which husk does not have", name,
				  action->refused);
		error_hint(profile->err, "%s", action->remedy);
		return rc;
	}
	if (action->takes_errno) {
		rc = read_errno(profile, at, object, number_key, name_key, &error);
		if (rc < 0)
			return rc;
	} else if (profile_get(object, number_key) || profile_get(object, name_key)) {
		return profile_fail(profile, at, number_key, "has no meaning with %s",
				    name);
	}
	*ret_action = action->ret | error;
	return 0;
}

bool profile_is_permissive(uint32_t action)
{
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}
