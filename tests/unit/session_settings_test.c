/* SPDX-License-Identifier: Apache-2.0 */
/* Options structs of every age, and every number and string that a caller can get wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <husk.h>

#include "session/settings.h"

static void test_sized_structs(void **state)
{
	struct {
		struct husk_options options;
		char tail[32];
	} newer = {0};
	struct husk_options known;
	HUSK_OPTIONS(options);

	(void)state;
	assert_int_equal(settings_options(NULL, &known, NULL), 0);
	assert_int_equal(settings_options(&options, &known, NULL), 0);
	options.timeout_ms = 5;
	options.size = offsetof(struct husk_options, mounts);
	assert_int_equal(settings_options(&options, &known, NULL), 0);
	assert_int_equal(known.timeout_ms, 0); /* an older caller does not know it */
	options.size = 0;
	assert_int_equal(settings_options(&options, &known, NULL), HUSK_E_INVALID);
	newer.options.size = sizeof(newer);
	assert_int_equal(settings_options(&newer.options, &known, NULL), 0);
	newer.tail[31] = 1;
	assert_int_equal(settings_options(&newer.options, &known, NULL), HUSK_E_INVALID);
}

/* The members that came last: a caller who knows none of them, and one who knows more. */
static void test_images_of_every_age(void **state)
{
	struct {
		struct husk_image_options options;
		char tail[32];
	} newer = {0};
	struct husk_image_options known;
	struct husk_options box, full;
	HUSK_IMAGE_OPTIONS(options);
	int cancel = 7;

	(void)state;
	assert_int_equal(settings_images(NULL, &known, &cancel, NULL), 0);
	assert_null(known.store);
	assert_int_equal(cancel, -1);
	options.store = "/somewhere";
	options.allow_plain_http = 1;
	options.size = offsetof(struct husk_image_options, allow_plain_http);
	assert_int_equal(settings_images(&options, &known, &cancel, NULL), 0);
	assert_string_equal(known.store, "/somewhere");
	assert_int_equal(known.allow_plain_http, 0);
	options.size = 0;
	assert_int_equal(settings_images(&options, &known, &cancel, NULL),
			 HUSK_E_INVALID);
	options.size = sizeof(options);
	options.reserved = 1;
	assert_int_equal(settings_images(&options, &known, &cancel, NULL),
			 HUSK_E_INVALID);
	options.reserved = 0;
	options.store = "relative";
	assert_int_equal(settings_images(&options, &known, &cancel, NULL),
			 HUSK_E_INVALID);
	newer.options.size = sizeof(newer);
	assert_int_equal(settings_images(&newer.options, &known, &cancel, NULL), 0);
	newer.tail[0] = 1;
	assert_int_equal(settings_images(&newer.options, &known, &cancel, NULL),
			 HUSK_E_INVALID);

	/* A session's options from before there were images. */
	memset(&box, 0, sizeof(box));
	box.images = &options;
	box.size = offsetof(struct husk_options, images);
	assert_int_equal(settings_options(&box, &full, NULL), 0);
	assert_null(full.images);
}

static const char *value_of(const struct settings *settings, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; settings->env[i]; i++) {
		if (strncmp(settings->env[i], name, n) == 0 && settings->env[i][n] == '=')
			return settings->env[i] + n + 1;
	}
	return NULL;
}

/* husk's own, then the home, then the image's, then the caller's. */
static void test_variables_of_an_image(void **state)
{
	static const char *const image[] = {"PATH=/image", "A=image", "B=image",
					    "=x",	   "nothing", "PYTHONPATH=/app",
					    "B=again",	   NULL};
	static const char *const home[] = {"HOME=/image", NULL};
	static const char *const none[] = {NULL};
	static const char *const given[] = {"A=caller", "C=caller", NULL};
	static const char *const all[] = {"HOME=/mine", "PYTHONPATH=/mine", NULL};
	struct settings settings;
	HUSK_OPTIONS(options);

	(void)state;
	options.env = given;
	assert_int_equal(settings_init(&options, &settings, NULL), 0);
	assert_int_equal(settings_add_image(&settings, image, "/srv/u", given, NULL), 0);
	assert_string_equal(value_of(&settings, "A"), "caller");
	assert_string_equal(value_of(&settings, "B"), "again");
	assert_string_equal(value_of(&settings, "C"), "caller");
	assert_string_equal(value_of(&settings, "HOME"), "/srv/u");
	assert_string_equal(value_of(&settings, "LANG"), "C.UTF-8");
	assert_string_equal(value_of(&settings, "PYTHONPATH"), "/workspace/.deps:/app");
	assert_string_equal(settings.search, "/image");
	assert_null(value_of(&settings, "nothing"));
	assert_int_equal(settings_add_image(&settings, home, "/srv/u", given, NULL), 0);
	assert_string_equal(value_of(&settings, "HOME"), "/image");
	settings_deinit(&settings);

	options.env = all;
	assert_int_equal(settings_init(&options, &settings, NULL), 0);
	assert_int_equal(settings_add_image(&settings, image, "/srv/u", all, NULL), 0);
	assert_string_equal(value_of(&settings, "HOME"), "/mine");
	assert_string_equal(value_of(&settings, "PYTHONPATH"), "/mine");
	settings_deinit(&settings);

	options.env = NULL;
	assert_int_equal(settings_init(&options, &settings, NULL), 0);
	assert_int_equal(settings_add_image(&settings, none, NULL, NULL, NULL), 0);
	assert_string_equal(value_of(&settings, "HOME"), "/tmp");
	settings_deinit(&settings);
}

/* More than any program needs, and enough to keep us busy. */
static void test_image_with_too_many_variables(void **state)
{
	enum { COUNT = 5000 };
	static const char *many[COUNT + 1];
	struct settings settings;
	struct husk_error err = {0};
	HUSK_OPTIONS(options);

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		many[i] = "A=b";
	assert_int_equal(settings_init(&options, &settings, NULL), 0);
	assert_int_equal(settings_add_image(&settings, many, NULL, NULL, &err),
			 HUSK_E_IMAGE);
	settings_deinit(&settings);
}

static void test_names_of_users(void **state)
{
	static const char *const names[] = {"root", "_apt",    "www-data:www-data",
					    "a:0",  "1:wheel", "sys.tem$"};
	static const char *const others[] = {
	    "",	   "0",	  "1000:5", "1x",   "a:",	":a",  "a:b:c",
	    "a b", "a/b", "-a",	    "a\nb", "\xc3\xa4", "a:-1"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!settings_user_is_name(names[i]))
			fail_msg("\"%s\" is a name", names[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (settings_user_is_name(others[i]))
			fail_msg("\"%s\" is no name", others[i]);
	}
}

static int try_user(const char *user, uint32_t *uid, uint32_t *gid)
{
	struct husk_error err = {0};

	return settings_user(user, uid, gid, &err);
}

static void test_users(void **state)
{
	static const char *const bad[] = {
	    "",		  "-1",
	    "+0",	  " 1",
	    "1 ",	  "1000x",
	    "0x0",	  "4294967295",
	    "4294967296", "1:",
	    ":1",	  "1:2:3",
	    "1:-1",	  "18446744073709551616",
	    "root",
	};
	uint32_t uid, gid;

	(void)state;
	assert_int_equal(try_user(NULL, &uid, &gid), 0);
	assert_int_equal(uid, 0);
	assert_int_equal(try_user("1000", &uid, &gid), 0);
	assert_int_equal(uid, 1000);
	assert_int_equal(gid, 0);
	assert_int_equal(try_user("007:65536", &uid, &gid), 0);
	assert_int_equal(uid, 7);
	assert_int_equal(gid, 65536);
	assert_int_equal(try_user("4294967294", &uid, &gid), 0);
	assert_int_equal(uid, 4294967294U);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (try_user(bad[i], &uid, &gid) != HUSK_E_INVALID)
			fail_msg("\"%s\" was taken as %u:%u", bad[i], uid, gid);
	}
}

static int try_options(const struct husk_options *options)
{
	struct settings settings;
	struct husk_error err = {0};
	int r = settings_init(options, &settings, &err);

	if (r == 0)
		settings_deinit(&settings);
	else
		assert_true(err.message[0] != '\0' && err.where[0] != '\0');
	return r;
}

#define TRY(member, value, want)                                       \
	do {                                                           \
		HUSK_OPTIONS(options_);                                \
		options_.member = (value);                             \
		if (try_options(&options_) != (want))                  \
			fail_msg(#member " = " #value ": not " #want); \
	} while (0)

static void test_numbers(void **state)
{
	(void)state;
	TRY(memory_bytes, 0, 0);
	TRY(memory_bytes, HUSK_UNLIMITED, 0);
	TRY(memory_bytes, 1, HUSK_E_INVALID);
	TRY(memory_bytes, 1 << 20, 0);
	TRY(memory_bytes, HUSK_UNLIMITED - 1, HUSK_E_INVALID);
	TRY(pids, 1, 0);
	TRY(pids, HUSK_UNLIMITED, 0);
	TRY(pids, UINT64_C(1) << 63, HUSK_E_INVALID);
	TRY(cpu_milli, 1, 0);
	TRY(cpu_milli, UINT64_C(1) << 40, HUSK_E_INVALID);
	TRY(timeout_ms, 1, 0);
	TRY(timeout_ms, HUSK_UNLIMITED, HUSK_E_INVALID); /* there is always a deadline */
	TRY(max_output_bytes, 1, 0);
	TRY(max_output_bytes, HUSK_UNLIMITED, HUSK_E_INVALID);
	TRY(tmp_bytes, 1, HUSK_E_INVALID);
	TRY(tmp_bytes, HUSK_UNLIMITED, HUSK_E_INVALID);
	TRY(limits, 2, HUSK_E_INVALID);
	TRY(limits, -1, HUSK_E_INVALID);
	TRY(pull, HUSK_PULL_ALWAYS, 0);
	TRY(pull, HUSK_PULL_ALWAYS + 1, HUSK_E_INVALID);
	TRY(pull, -1, HUSK_E_INVALID);
	TRY(workdir, "relative", HUSK_E_INVALID);
	TRY(workdir, "", HUSK_E_INVALID);
	TRY(workdir, "/anywhere", 0);
}

static const char *variable(const struct settings *settings, const char *name)
{
	const char *found = NULL;

	for (size_t i = 0; settings->env[i]; i++) {
		if (strncmp(settings->env[i], name, strlen(name)) == 0) {
			assert_null(found); /* each name once */
			found = settings->env[i] + strlen(name);
		}
	}
	return found;
}

static void test_environment(void **state)
{
	static const char *const env[] = {"PATH=/opt/bin", "A=1", "A=2", "EMPTY=", NULL};
	static const char *const bad[][2] = {{"NOVALUE", NULL}, {"=x", NULL}, {"", NULL}};
	struct settings settings;
	HUSK_OPTIONS(options);

	(void)state;
	setenv("HUSK_TEST_LEAK", "secret", 1);
	options.env = env;
	assert_int_equal(settings_init(&options, &settings, NULL), 0);
	assert_string_equal(variable(&settings, "PATH="), "/opt/bin");
	assert_string_equal(settings.search, "/opt/bin");
	assert_string_equal(variable(&settings, "A="), "2");
	assert_string_equal(variable(&settings, "EMPTY="), "");
	assert_string_equal(variable(&settings, "PYTHONPATH="), "/workspace/.deps");
	assert_non_null(variable(&settings, "HOME="));
	assert_null(variable(&settings, "HUSK_TEST_LEAK="));
	settings_deinit(&settings);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		options.env = bad[i];
		assert_int_equal(try_options(&options), HUSK_E_INVALID);
	}
}

static void test_exec_bounds(void **state)
{
	char *env[] = {NULL}, *longest = malloc(200000);
	const char *argv[] = {"prog", longest, NULL}, *none[] = {NULL},
		   *empty[] = {"", NULL};
	const char *many[25] = {"prog"};
	struct husk_error err = {0};

	(void)state;
	assert_non_null(longest);
	memset(longest, 'x', 200000);
	longest[131071] = '\0';
	assert_int_equal(settings_check_exec(argv, env, &err), 0);
	longest[131071] = 'x';
	longest[131072] = '\0';
	assert_int_equal(settings_check_exec(argv, env, &err), HUSK_E_INVALID);
	assert_non_null(strstr(err.message, "131072"));
	longest[131072] = 'x';
	longest[131000] = '\0';
	for (size_t i = 1; i < 24; i++)
		many[i] = longest;
	assert_int_equal(settings_check_exec(many, env, &err), HUSK_E_INVALID);
	assert_int_equal(settings_check_exec(none, env, &err), HUSK_E_INVALID);
	assert_int_equal(settings_check_exec(empty, env, &err), HUSK_E_INVALID);
	assert_int_equal(settings_check_exec(NULL, env, &err), HUSK_E_INVALID);
	free(longest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sized_structs),
	    cmocka_unit_test(test_images_of_every_age),
	    cmocka_unit_test(test_variables_of_an_image),
	    cmocka_unit_test(test_image_with_too_many_variables),
	    cmocka_unit_test(test_names_of_users),
	    cmocka_unit_test(test_users),
	    cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_environment),
	    cmocka_unit_test(test_exec_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
