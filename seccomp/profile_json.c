/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/profile.h"

#include "base/error.h"
#include "base/json_read.h"
#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int profile_fail(struct profile *profile, const char *at, const char *key,
		 const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return error_set(profile->err, HUSK_E_INVALID, profile->where, "%s%s%s: %s", at,
			 *at && *key ? "." : "", key, why);
}

const json_t *profile_get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

const char *profile_text(const json_t *object, const char *key)
{
	return json_string_value(profile_get(object, key));
}

uint64_t profile_number(const json_t *object, const char *key, uint64_t absent)
{
	const json_t *value = profile_get(object, key);

	return value ? (uint64_t)json_integer_value(value) : absent;
}

static bool all_text(const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!json_is_string(json_array_get(list, i)))
			return false;
	}
	return true;
}

static const char *wanted(enum profile_type type)
{
	static const char *const words[] = {
	    [PROFILE_TEXT] = "a string",
	    [PROFILE_NUMBER] = "a whole number that is not negative",
	    [PROFILE_LIST] = "a list",
	    [PROFILE_TEXTS] = "a list of strings",
	    [PROFILE_OBJECT] = "an object",
	};

	return words[type];
}

static bool has_type(const json_t *value, enum profile_type type)
{
	switch (type) {
	case PROFILE_TEXT:
		return json_is_string(value);
	case PROFILE_NUMBER:
		return json_is_integer(value) && json_integer_value(value) >= 0;
	case PROFILE_LIST:
		return json_is_array(value);
	case PROFILE_TEXTS:
		return json_is_array(value) && all_text(value);
	case PROFILE_OBJECT:
		return json_is_object(value);
	}
	return false;
}

static const struct profile_key *find_key(const struct profile_key *keys, size_t count,
					  const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	}
	return NULL;
}

int profile_check_keys(struct profile *profile, const char *at, const json_t *object,
		       const struct profile_key *keys, size_t count)
{
	char quoted[PROFILE_QUOTE_MAX];
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return profile_fail(profile, at, "", "must be an object");
	/* jansson iterates over a non-const object and does not change it. */
	json_object_foreach((json_t *)(uintptr_t)object, name, value)
	{
		const struct profile_key *key = find_key(keys, count, name);

		if (strcmp(name, "comment") == 0)
			continue;
		if (!key)
			return profile_fail(profile, at,
					    printable(quoted, sizeof(quoted), name),
					    "is not a key that husk knows");
		if (!json_is_null(value) && !has_type(value, key->type))
			return profile_fail(profile, at, key->name, "must be %s",
					    wanted(key->type));
	}
	for (size_t i = 0; i < count; i++) {
		if (keys[i].required && !profile_get(object, keys[i].name))
			return profile_fail(profile, at, keys[i].name, "is missing");
	}
	return 0;
}

bool profile_too_deep(const char *text, size_t size)
{
	int depth = 0;

	for (size_t i = 0; i < size; i++) {
		const char c = text[i];

		if (c == '"')
			i = json_string_end(text, size, i + 1);
		else if ((c == '{' || c == '[') && ++depth > PROFILE_DEPTH_MAX)
			return true;
		else if (c == '}' || c == ']')
			depth--;
	}
	return false;
}
