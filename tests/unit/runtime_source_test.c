/* SPDX-License-Identifier: Apache-2.0 */
/* Mount targets and refused sources. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/source.h"

static void test_good_targets(void **state)
{
	static const char *const rows[][2] = {
	    {"/data", "data"},
	    {"//data//x/", "data/x"},
	    {"/./data/./x", "data/x"},
	    {"/workspace/in", "workspace/in"},
	    {"/workspacex", "workspacex"},
	    {"/devices", "devices"},
	    {"/procfs/x", "procfs/x"},
	    {"/x:y", "x:y"},
	    {"/...", "..."},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *target = NULL;

		assert_int_equal(source_check_target(rows[i][0], &target, NULL), 0);
		assert_string_equal(target, rows[i][1]);
		free(target);
	}
}

static void test_bad_targets(void **state)
{
	static const char *const rows[] = {
	    "",	     "relative", "/",	       "//",	      "/.",
	    "/proc", "/proc/1",	 "/proc/",     "/sys",	      "/sys/fs",
	    "/dev",  "/dev/",	 "/dev/null",  "/./dev",      "/x/../proc",
	    "/..",   "/a/..",	 "/workspace", "/workspace/", "//workspace/.",
	};
	char *target = NULL, longest[5001];
	struct husk_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (source_check_target(rows[i], &target, &err) != HUSK_E_MOUNT_REFUSED)
			fail_msg("\"%s\" was taken as %s", rows[i], target);
		assert_true(err.message[0] != '\0');
	}
	for (size_t i = 0; i < 5000; i++)
		longest[i] = i % 100 ? 'a' : '/';
	longest[5000] = '\0';
	assert_int_equal(source_check_target(longest, &target, &err),
			 HUSK_E_MOUNT_REFUSED);
	memset(longest + 1, 'b', 300);
	longest[301] = '\0';
	assert_int_equal(source_check_target(longest, &target, &err),
			 HUSK_E_MOUNT_REFUSED);
}

static int verdict(const char *path, const char *home, const char *const *extra)
{
	struct source source = SOURCE_INIT;
	int r = source_pin(path, "test", &source, NULL);

	if (r == 0)
		r = source_check(&source, home, extra, NULL);
	source_deinit(&source);
	return r;
}

static void test_refused_by_identity(void **state)
{
	static const char *const rows[] = {
	    "/",
	    "/etc",
	    "/etc/",
	    "//etc",
	    "/etc/.",
	    "/usr/../etc",
	    "/proc",
	    "/proc/self",
	    "/proc/self/root",
	    "/proc/self/root/etc",
	    "/sys",
	    "/sys/kernel",
	    "/dev",

	    "/run",
	    "/var/run",
	    "/var",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stat st;

		if (stat(rows[i], &st) < 0)
			continue; /* not on this host */
		if (verdict(rows[i], NULL, NULL) != HUSK_E_MOUNT_REFUSED)
			fail_msg("%s was taken", rows[i]);
	}
}

static void test_links_and_homes(void **state)
{
	char dir[] = "/tmp/husk-source-XXXXXX", link[64], sub[64];
	const char *extra[] = {dir, NULL};

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(link, sizeof(link), "%s/link", dir);
	(void)snprintf(sub, sizeof(sub), "%s/sub", dir);
	assert_int_equal(symlink("/etc", link), 0);
	assert_int_equal(mkdir(sub, 0700), 0);
	assert_int_equal(verdict(link, NULL, NULL), HUSK_E_MOUNT_REFUSED);
	assert_int_equal(verdict(dir, NULL, NULL), 0);
	assert_int_equal(verdict(sub, NULL, NULL), 0);
	/* The home itself and what contains it, not what lies below. */
	assert_int_equal(verdict(sub, sub, NULL), HUSK_E_MOUNT_REFUSED);
	assert_int_equal(verdict(dir, sub, NULL), HUSK_E_MOUNT_REFUSED);
	assert_int_equal(verdict(sub, dir, NULL), 0);
	/* What is husk's own is refused with all that is below. */
	assert_int_equal(verdict(sub, NULL, extra), HUSK_E_MOUNT_REFUSED);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(sub), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void test_only_files_and_directories(void **state)
{
	char dir[] = "/tmp/husk-source-XXXXXX", path[64];
	struct source source = SOURCE_INIT;
	struct husk_error err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/pipe", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(source_pin(path, "test", &source, &err), HUSK_E_MOUNT_REFUSED);
	assert_int_equal(source_pin("/nonexistent/x", "test", &source, &err),
			 HUSK_E_MOUNT_REFUSED);
	assert_int_equal(source_pin("relative", "test", &source, &err),
			 HUSK_E_MOUNT_REFUSED);
	assert_int_equal(source_pin("/etc/hostname", "test", &source, NULL) == 0 ||
			     access("/etc/hostname", F_OK) != 0,
			 1);
	source_deinit(&source);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* A directory that is yet to be made holds nothing: what counts is below what it will be.
 */
static void test_new_directories(void **state)
{
	(void)state;
	assert_int_equal(source_check_new("/husk-not-there", NULL), 0);
	assert_int_equal(source_check_new("/husk-not-there/below", NULL), 0);
	assert_int_equal(source_check_new("/proc/husk-not-there", NULL),
			 HUSK_E_MOUNT_REFUSED);
	assert_int_equal(source_check_new("/sys/kernel/husk-not-there/below", NULL),
			 HUSK_E_MOUNT_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good_targets),
	    cmocka_unit_test(test_bad_targets),
	    cmocka_unit_test(test_refused_by_identity),
	    cmocka_unit_test(test_links_and_homes),
	    cmocka_unit_test(test_only_files_and_directories),
	    cmocka_unit_test(test_new_directories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
