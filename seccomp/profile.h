/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a seccomp profile; internal to the module.
 *
 * A profile is text that somebody was given, so everything in it is checked: size,
 * nesting, every key and its type, every word. A key that is not known is refused,
 * because a misspelt one would silently drop a restriction; only "comment" is free. */
#ifndef SECCOMP_PROFILE_H
#define SECCOMP_PROFILE_H

#include "seccomp/compose.h"

#include <jansson.h>

enum {
	PROFILE_SIZE_MAX = 1024 * 1024,
	PROFILE_DEPTH_MAX = 16,
	PROFILE_TESTS_MAX = 16384,
	PROFILE_ENTRY_MAX = 32, /* "syscalls[123]" */
	PROFILE_AT_MAX = 96,	/* and below it */
	PROFILE_QUOTE_MAX = 48, /* text of the profile in a message */
	PROFILE_MULTIPLEXERS = 2,
};

struct profile {
	const char *where; /* names the file in errors */
	struct husk_error *err;
	uint32_t action; /* for calls that no rule names */
	bool permissive; /* that action lets the call happen */
	bool abi_on[SECCOMP_ABI_COUNT];
	struct seccomp_ruleset set;
	struct seccomp_test *tests; /* the rules borrow from here */
	size_t test_count;
	size_t unknown_names;
	unsigned kernel_major, kernel_minor;
	bool multiplexer_named[PROFILE_MULTIPLEXERS];
	bool multiplexed_denied[PROFILE_MULTIPLEXERS];
};

/* -- profile_json.c: access with words
 * --------------------------------------------------- */

enum profile_type {
	PROFILE_TEXT,
	PROFILE_NUMBER, /* a whole number that is not negative */
	PROFILE_LIST,
	PROFILE_TEXTS, /* a list of strings */
	PROFILE_OBJECT,
};

struct profile_key {
	const char *name;
	enum profile_type type;
	bool required;
};

/* HUSK_E_INVALID: "AT.KEY: why". Text from the profile goes through printable(). */
int profile_fail(struct profile *profile, const char *at, const char *key,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Check that an object has the keys that it must have, and no other than these, each of
 * its type. An explicit null counts as absence. */
int profile_check_keys(struct profile *profile, const char *at, const json_t *object,
		       const struct profile_key *keys, size_t count);

/* Access to keys that profile_check_keys has seen; NULL or `absent` where there is none.
 */
const json_t *profile_get(const json_t *object, const char *key);
const char *profile_text(const json_t *object, const char *key);
uint64_t profile_number(const json_t *object, const char *key, uint64_t absent);

/* Nesting depth of JSON text, counted without building anything. */
bool profile_too_deep(const char *text, size_t size);

/* -- profile_action.c -- */

/* The action of an object, from its keys for the action, the errno as a number and the
 * errno as a name, into a SECCOMP_RET_* value. */
int profile_action(struct profile *profile, const char *at, const json_t *object,
		   const char *action_key, const char *number_key, const char *name_key,
		   uint32_t *ret_action);

/* Does this action let the call happen? */
bool profile_is_permissive(uint32_t action);

/* -- profile_syscalls.c -- */

/* Turn the list "syscalls" into rules. */
int profile_syscalls(struct profile *profile, const json_t *list);

/* -- profile_multiplex.c -- */

/* Take note of a name in an entry with this action. */
void profile_note_multiplexed(struct profile *profile, const char *name, uint32_t action);

/* Add rules for the calls that would lead around a denial. 0, -ENOMEM or -E2BIG. */
int profile_close_multiplexers(struct profile *profile);

#endif
