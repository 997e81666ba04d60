/* SPDX-License-Identifier: Apache-2.0 */
/* The modules that a waiting interpreter imports ahead of its call. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/settings.h"

enum {
	MODULES_MAX = 64,
	NAME_BYTES_MAX = 200,
};

/* Of ASCII, whatever the locale. */
static bool begins_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Identifiers with dots between them: nothing else ever gets into the interpreter. */
static bool is_dotted_name(const char *name)
{
	bool at_start = true;

	for (const char *c = name; *c; c++) {
		if (at_start && !begins_name(*c))
			return false;
		if (*c != '.' && !begins_name(*c) && !(*c >= '0' && *c <= '9'))
			return false;
		at_start = *c == '.';
	}
	return !at_start;
}

static int check_name(const char *name, struct husk_error *err)
{
	if (strlen(name) > NAME_BYTES_MAX)
		return error_set(err, HUSK_E_INVALID, "preload",
				 "a name is longer than %d bytes", NAME_BYTES_MAX);
	if (is_dotted_name(name))
		return 0;
	error_set(err, HUSK_E_INVALID, "preload",
		  "\"%.100s\" is not the name of a module", name);
	error_hint(err, "give names as import takes them: numpy, os.path");
	return HUSK_E_INVALID;
}

static int check_list(const struct husk_options *options, size_t *ret_count,
		      struct husk_error *err)
{
	size_t count = 0;
	int r = 0;

	for (; r == 0 && options->preload[count]; count++) {
		if (count == MODULES_MAX)
			return error_set(err, HUSK_E_INVALID, "preload",
					 "there are more than %d modules", MODULES_MAX);
		r = check_name(options->preload[count], err);
	}
	if (r == 0 && count > 0 && options->prewarm == 0) {
		error_set(err, HUSK_E_INVALID, "preload",
			  "there are no waiting interpreters to import it");
		error_hint(err, "ask for spares as well: --prewarm 1 (C and Python: "
				"prewarm)");
		return HUSK_E_INVALID;
	}
	*ret_count = count;
	return r;
}

static int copy_list(const char *const *list, size_t count, struct settings *settings,
		     struct husk_error *err)
{
	settings->preload = calloc(count + 1, sizeof(*settings->preload));
	for (size_t i = 0; settings->preload && i < count; i++) {
		settings->preload[i] = strdup(list[i]);
		if (!settings->preload[i])
			return error_oom(err, "preload");
	}
	return settings->preload ? 0 : error_oom(err, "preload");
}

/* Tests only: HUSK_TEST_PRELOAD, names parted by commas, is for the interpreters of
 * sessions that keep spares because of HUSK_TEST_PREWARM alone. */
static int take_from_test(const struct husk_options *options, struct settings *settings,
			  struct husk_error *err)
{
#ifdef HUSK_TEST_HOOKS
	const char *text = options->prewarm == 0 && secure_getenv("HUSK_TEST_PREWARM")
			       ? secure_getenv("HUSK_TEST_PRELOAD")
			       : NULL;
	CLEANUP_FREE char *words = text ? strdup(text) : NULL;
	const char *list[MODULES_MAX];
	size_t count = 0;
	char *rest = words, *word;

	while (words && count < MODULES_MAX && (word = strsep(&rest, ",")))
		list[count++] = word;
	return count > 0 ? copy_list(list, count, settings, err) : 0;
#else
	(void)options;
	(void)settings;
	(void)err;
	return 0;
#endif
}

int settings_preload(const struct husk_options *options, struct settings *settings,
		     struct husk_error *err)
{
	size_t count = 0;
	int r = options->preload ? check_list(options, &count, err) : 0;

	if (r < 0)
		return r;
	return count > 0 ? copy_list(options->preload, count, settings, err)
			 : take_from_test(options, settings, err);
}
