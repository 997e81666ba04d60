/* SPDX-License-Identifier: Apache-2.0 */
/* -v SRC:DST[:ro|rw]: what is mounted, and that a slip never widens it. */
#include "cli/volume.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_forms(void **state)
{
	static const struct {
		const char *text, *source, *target;
		uint32_t flags;
	} rows[] = {
	    {"/a:/b", "/a", "/b", HUSK_MOUNT_ALLOW_WRITE},
	    {"/a:/b:rw", "/a", "/b", HUSK_MOUNT_ALLOW_WRITE},
	    {"/a:/b:ro", "/a", "/b", 0},
	    {"/with space,comma:/b c:ro", "/with space,comma", "/b c", 0},
	    {"/:/b:ro", "/", "/b", 0},
	    {"//etc/.:/b:ro", "//etc/.", "/b", 0},
	};
	struct cli_keep *kept = NULL;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct husk_mount mount = {.flags = 99, .reserved = 99};
		struct husk_error err = {0};

		assert_int_equal(cli_volume_parse(&kept, rows[i].text, &mount, &err), 0);
		assert_string_equal(mount.source, rows[i].source);
		assert_string_equal(mount.target, rows[i].target);
		assert_int_equal(mount.flags, rows[i].flags);
		assert_int_equal(mount.reserved, 0);
	}
	cli_keep_release(&kept);
}

static void test_refused(void **state)
{
	static const char *const rows[] = {
	    "",
	    ":",
	    "::",
	    "/a",
	    "/a:",
	    ":/b",
	    ":/b:ro",
	    "/a:b",
	    "/a:b:/c",
	    "/a:/b:",
	    "/a:/b:r0",
	    "/a:/b:RO",
	    "/a:/b:Rw",
	    "/a:/b:o",
	    "/a:/b:ro:",
	    "/a:/b:ro,rw",
	    "/a:/b:ro:rw",
	    "/a:/b:ro ",
	    "/a:/b: ro",
	    "a:/b",
	    "a/../b:/c",
	    "~/a:/b",
	    "...:/b",
	    ".hidden:/b",
	};
	struct cli_keep *kept = NULL;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct husk_mount mount = {.flags = 99};
		struct husk_error err = {0};

		assert_int_equal(cli_volume_parse(&kept, rows[i], &mount, &err),
				 HUSK_E_INVALID);
		assert_string_equal(err.where, "--volume");
		assert_string_not_equal(err.message, "");
		assert_string_not_equal(err.hint, "");
		assert_null(mount.source);
		assert_int_equal(mount.flags, 99);
	}
	cli_keep_release(&kept);
}

/* ./ and ../ are below the current directory, and so are . and .. alone. */
static void test_relative(void **state)
{
	static const char *const sources[] = {".", "..", "./a", "../a/b"};
	struct cli_keep *kept = NULL;
	char *cwd = getcwd(NULL, 0);

	(void)state;
	assert_non_null(cwd);
	for (size_t i = 0; i < COUNT(sources); i++) {
		struct husk_mount mount = {0};
		struct husk_error err = {0};
		char text[64], want[4096];

		(void)snprintf(text, sizeof(text), "%s:/b:ro", sources[i]);
		(void)snprintf(want, sizeof(want), "%s/%s", cwd, sources[i]);
		assert_int_equal(cli_volume_parse(&kept, text, &mount, &err), 0);
		assert_string_equal(mount.source, want);
		assert_string_equal(mount.target, "/b");
		assert_int_equal(mount.flags, 0);
	}
	cli_keep_release(&kept);
	free(cwd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_forms),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_relative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
