/* SPDX-License-Identifier: Apache-2.0 */
/* The list "syscalls" of a profile.
 *
 * Where entries name a call more than once, an entry without conditions decides whatever
 * else there is, and of several the first; among those with conditions the first that
 * matches does. That is how a profile behaves under the container engines. */
#include "seccomp/profile.h"

#include "base/error.h"
#include "base/printable.h"
#include "seccomp/generated.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries with conditions come after all that have none. */
enum { ORDER_TESTED = SECCOMP_RULES_MAX };

static const struct profile_key entry_keys[] = {
    {"action", PROFILE_TEXT, true},	 {"args", PROFILE_LIST, false},
    {"errno", PROFILE_TEXT, false},	 {"errnoRet", PROFILE_NUMBER, false},
    {"excludes", PROFILE_OBJECT, false}, {"includes", PROFILE_OBJECT, false},
    {"name", PROFILE_TEXT, false},	 {"names", PROFILE_TEXTS, false},
};

static const struct profile_key arg_keys[] = {
    {"index", PROFILE_NUMBER, true},
    {"op", PROFILE_TEXT, true},
    {"value", PROFILE_NUMBER, true},
    {"valueTwo", PROFILE_NUMBER, false},
};

static const struct profile_key condition_keys[] = {
    {"arches", PROFILE_TEXTS, false},
    {"caps", PROFILE_TEXTS, false},
    {"minKernel", PROFILE_TEXT, false},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- args -- */

static int find_op(const char *name)
{
	static const char *const names[] = {
	    [SECCOMP_OP_EQ] = "SCMP_CMP_EQ",
	    [SECCOMP_OP_NE] = "SCMP_CMP_NE",
	    [SECCOMP_OP_LT] = "SCMP_CMP_LT",
	    [SECCOMP_OP_LE] = "SCMP_CMP_LE",
	    [SECCOMP_OP_GT] = "SCMP_CMP_GT",
	    [SECCOMP_OP_GE] = "SCMP_CMP_GE",
	    [SECCOMP_OP_MASKED_EQ] = "SCMP_CMP_MASKED_EQ",
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		if (strcmp(names[i], name) == 0)
			return (int)i;
	}
	return -1;
}

static int read_test(struct profile *profile, const char *at, const json_t *object,
		     struct seccomp_test *ret)
{
	const char *op_name;
	char quoted[PROFILE_QUOTE_MAX];
	uint64_t index, value, second;
	int op, rc = profile_check_keys(profile, at, object, arg_keys, COUNT(arg_keys));

	if (rc < 0)
		return rc;
	index = profile_number(object, "index", 0);
	value = profile_number(object, "value", 0);
	second = profile_number(object, "valueTwo", 0);
	op_name = profile_text(object, "op");
	op = find_op(op_name);
	if (op < 0)
		return profile_fail(profile, at, "op", "\"%s\" is not an operator",
				    printable(quoted, sizeof(quoted), op_name));
	if (index >= SECCOMP_ARGS)
		return profile_fail(profile, at, "index", "must be 0 to %d",
				    SECCOMP_ARGS - 1);
	*ret = (struct seccomp_test){.arg = (uint8_t)index, .op = (uint8_t)op};
	if (op != SECCOMP_OP_MASKED_EQ) {
		if (second != 0)
			return profile_fail(profile, at, "valueTwo",
					    "has no meaning with %s", op_name);
		ret->value = value;
		return 0;
	}
	if (second & ~value)
		return profile_fail(profile, at, "valueTwo",
				    "has bits that the mask in value has not");
	ret->mask = value;
	ret->value = second;
	return 0;
}

/* Read the conditions of one entry into the pool. */
static int read_tests(struct profile *profile, const char *at, const json_t *list,
		      struct seccomp_test **ret_tests, uint8_t *ret_count)
{
	struct seccomp_test *tests = profile->tests + profile->test_count;
	const size_t count = json_array_size(list);
	char arg_at[PROFILE_AT_MAX];
	uint8_t seen = 0;

	for (size_t i = 0; i < count; i++) {
		int rc;

		(void)snprintf(arg_at, sizeof(arg_at), "%s.args[%zu]", at, i);
		/* Indices are distinct, so this also bounds the list. */
		if (i >= SECCOMP_ARGS)
			return profile_fail(profile, arg_at, "", "is one too many");
		rc = read_test(profile, arg_at, json_array_get(list, i), &tests[i]);
		if (rc < 0)
			return rc;
		if (seen & (1u << tests[i].arg)) {
			rc =
			    profile_fail(profile, arg_at, "index",
					 "tests argument %u twice, and container engines "
					 "differ on whether both must hold",
					 tests[i].arg);
			error_hint(profile->err, "write one entry for each alternative");
			return rc;
		}
		seen |= (uint8_t)(1u << tests[i].arg);
	}
	profile->test_count += count;
	*ret_tests = tests;
	*ret_count = (uint8_t)count;
	return 0;
}

/* -- includes and excludes -- */

static bool lists(const json_t *list, const char *text)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
			return true;
	}
	return false;
}

static int read_kernel(struct profile *profile, const char *at, const char *text,
		       bool *ret_reached)
{
	unsigned major, minor;
	char quoted[PROFILE_QUOTE_MAX];
	int used = 0;

	if (strspn(text, "0123456789.") != strlen(text) ||
	    sscanf(text, "%4u.%4u%n", &major, &minor, &used) != 2 || text[used] != '\0')
		return profile_fail(profile, at, "minKernel",
				    "\"%s\" is not a version like 4.8",
				    printable(quoted, sizeof(quoted), text));
	*ret_reached = profile->kernel_major > major ||
		       (profile->kernel_major == major && profile->kernel_minor >= minor);
	return 0;
}

/* Does what the object asks about hold here? The box has no capability, so a list of them
 * holds in no case. For "includes" all that is asked must hold, for "excludes" anything.
 */
static int read_condition(struct profile *profile, const char *at, const json_t *object,
			  bool *ret_all, bool *ret_any)
{
	const json_t *caps, *arches;
	const char *kernel;
	bool reached = false;
	int rc;

	*ret_all = true;
	*ret_any = false;
	if (!object)
		return 0;
	rc = profile_check_keys(profile, at, object, condition_keys,
				COUNT(condition_keys));
	if (rc < 0)
		return rc;
	caps = profile_get(object, "caps");
	if (json_array_size(caps) > 0)
		*ret_all = false;
	arches = profile_get(object, "arches");
	if (json_array_size(arches) > 0) {
		const bool here = lists(arches, seccomp_docker_arch);

		*ret_all = *ret_all && here;
		*ret_any = *ret_any || here;
	}
	kernel = profile_text(object, "minKernel");
	if (kernel && *kernel) {
		rc = read_kernel(profile, at, kernel, &reached);
		if (rc < 0)
			return rc;
		*ret_all = *ret_all && reached;
		*ret_any = *ret_any || reached;
	}
	return 0;
}

static int read_conditions(struct profile *profile, const char *at, const json_t *entry,
			   bool *ret_applies)
{
	char inner[PROFILE_AT_MAX];
	bool included, excluded, unused;
	int rc;

	(void)snprintf(inner, sizeof(inner), "%s.includes", at);
	rc = read_condition(profile, inner, profile_get(entry, "includes"), &included,
			    &unused);
	if (rc < 0)
		return rc;
	(void)snprintf(inner, sizeof(inner), "%s.excludes", at);
	rc = read_condition(profile, inner, profile_get(entry, "excludes"), &unused,
			    &excluded);
	*ret_applies = included && !excluded;
	return rc;
}

/* -- names -- */

static int compare_int_args(const void *key, const void *member)
{
	return strcmp(key, ((const struct seccomp_int_args *)member)->name);
}

static uint8_t int_args(const char *name)
{
	const struct seccomp_int_args *found =
	    bsearch(name, seccomp_int_args, seccomp_int_args_count,
		    sizeof(seccomp_int_args[0]), compare_int_args);

	return found ? found->args : 0;
}

static int add_name(struct profile *profile, const char *name, struct seccomp_rule rule)
{
	bool known = false;

	profile_note_multiplexed(profile, name, rule.action);
	rule.int_args = int_args(name);
	rule.order = (uint32_t)profile->set.count;
	if (rule.test_count > 0)
		rule.order += ORDER_TESTED;
	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		int rc;

		rule.abi = (uint8_t)abi;
		rule.nr = seccomp_number(abi, name);
		if (rule.nr == SECCOMP_NO_NUMBER)
			continue;
		known = true;
		if (!profile->abi_on[abi])
			continue;
		rc = seccomp_ruleset_add(&profile->set, &rule);
		if (rc == -E2BIG)
			return error_set(profile->err, HUSK_E_TOO_BIG, profile->where,
					 "syscalls: more than %d rules",
					 SECCOMP_RULES_MAX);
		if (rc < 0)
			return error_oom(profile->err, profile->where);
	}
	if (!known)
		profile->unknown_names++;
	return 0;
}

static int add_names(struct profile *profile, const char *at, const json_t *entry,
		     const struct seccomp_rule *rule)
{
	const json_t *names = profile_get(entry, "names");
	const char *name = profile_text(entry, "name");

	if (name && json_array_size(names) > 0)
		return profile_fail(profile, at, "name", "stands beside names; use one");
	if (name)
		return add_name(profile, name, *rule);
	if (json_array_size(names) == 0)
		return profile_fail(profile, at, "names", "is missing or empty");
	for (size_t i = 0; i < json_array_size(names); i++) {
		int rc =
		    add_name(profile, json_string_value(json_array_get(names, i)), *rule);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* An entry that does not apply here is checked like any other. */
static int read_entry(struct profile *profile, const char *at, const json_t *entry)
{
	struct seccomp_rule rule = {0};
	struct seccomp_test *tests = NULL;
	bool applies;
	int rc = profile_check_keys(profile, at, entry, entry_keys, COUNT(entry_keys));

	if (rc < 0)
		return rc;
	rc = profile_action(profile, at, entry, "action", "errnoRet", "errno",
			    &rule.action);
	if (rc < 0)
		return rc;
	rc =
	    read_tests(profile, at, profile_get(entry, "args"), &tests, &rule.test_count);
	if (rc < 0)
		return rc;
	rule.tests = tests;
	rc = read_conditions(profile, at, entry, &applies);
	if (rc < 0 || !applies)
		return rc;
	return add_names(profile, at, entry, &rule);
}

/* Room for every condition in the list, so that rules can point at them. */
static int make_pool(struct profile *profile, const json_t *list)
{
	size_t total = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		total += json_array_size(profile_get(json_array_get(list, i), "args"));
	if (total > PROFILE_TESTS_MAX)
		return error_set(profile->err, HUSK_E_TOO_BIG, profile->where,
				 "syscalls: more than %d conditions", PROFILE_TESTS_MAX);
	profile->tests = calloc(total + SECCOMP_ARGS, sizeof(*profile->tests));
	return profile->tests ? 0 : error_oom(profile->err, profile->where);
}

int profile_syscalls(struct profile *profile, const json_t *list)
{
	char at[PROFILE_ENTRY_MAX];
	int rc = make_pool(profile, list);

	for (size_t i = 0; i < json_array_size(list) && rc == 0; i++) {
		(void)snprintf(at, sizeof(at), "syscalls[%zu]", i);
		rc = read_entry(profile, at, json_array_get(list, i));
	}
	return rc;
}
