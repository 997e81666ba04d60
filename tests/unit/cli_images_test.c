/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller's environment says about stores, credentials and proxies. */
#include "cli/images.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {
    "ALL_PROXY",  "DOCKER_CONFIG", "HOME",	  "HTTPS_PROXY",	"HTTP_PROXY",
    "HUSK_STORE", "NO_PROXY",	   "PATH",	  "REGISTRY_AUTH_FILE", "XDG_DATA_HOME",
    "all_proxy",  "http_proxy",	   "https_proxy", "no_proxy",		"XDG_RUNTIME_DIR",
};
enum { COUNT = sizeof(names) / sizeof(names[0]) };
static char *saved[COUNT];

static int save(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		const char *value = getenv(names[i]);

		saved[i] = value ? strdup(value) : NULL;
		(void)unsetenv(names[i]);
	}
	return 0;
}

static int restore(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		if (saved[i])
			(void)setenv(names[i], saved[i], 1);
		else
			(void)unsetenv(names[i]);
		free(saved[i]);
	}
	return 0;
}

static void finish(struct cli_settings *settings)
{
	struct husk_error err = {0};

	assert_int_equal(cli_images_finish(settings, &err), 0);
}

static void test_store(void **state)
{
	struct cli_settings settings;
	char here[4096], want[4200];

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	cli_settings_init(&settings);
	finish(&settings);
	assert_null(settings.images.store);
	(void)setenv("HOME", "/h", 1);
	finish(&settings);
	if (geteuid() == 0)
		assert_null(settings.images.store);
	else
		assert_string_equal(settings.images.store, "/h/.local/share/husk");
	(void)setenv("XDG_DATA_HOME", "relative", 1);
	finish(&settings);
	if (geteuid() == 0)
		assert_null(settings.images.store);
	(void)setenv("XDG_DATA_HOME", "/data", 1);
	finish(&settings);
	assert_string_equal(settings.images.store, "/data/husk");
	(void)setenv("HUSK_STORE", "/store", 1);
	finish(&settings);
	assert_string_equal(settings.images.store, "/store");
	(void)setenv("HUSK_STORE", "my/store", 1);
	finish(&settings);
	(void)snprintf(want, sizeof(want), "%s/my/store", here);
	assert_string_equal(settings.images.store, want);
	(void)setenv("HUSK_STORE", "", 1);
	finish(&settings);
	assert_string_equal(settings.images.store, "/data/husk");
	cli_settings_deinit(&settings);
}

static void test_auth_files(void **state)
{
	struct cli_settings settings;
	struct husk_error err = {0};

	(void)state;
	cli_settings_init(&settings);
	finish(&settings);
	assert_null(settings.images.auth_files[0]);
	assert_null(settings.images.helper_path);
	(void)setenv("HOME", "/h", 1);
	(void)setenv("XDG_RUNTIME_DIR", "/r", 1);
	(void)setenv("PATH", "/p", 1);
	finish(&settings);
	assert_string_equal(settings.images.auth_files[0], "/r/containers/auth.json");
	assert_string_equal(settings.images.auth_files[1], "/h/.docker/config.json");
	assert_null(settings.images.auth_files[2]);
	assert_string_equal(settings.images.helper_path, "/p");
	(void)setenv("REGISTRY_AUTH_FILE", "/a.json", 1);
	(void)setenv("DOCKER_CONFIG", "/d", 1);
	finish(&settings);
	assert_string_equal(settings.images.auth_files[0], "/a.json");
	assert_string_equal(settings.images.auth_files[1], "/r/containers/auth.json");
	assert_string_equal(settings.images.auth_files[2], "/d/config.json");
	assert_null(settings.images.auth_files[3]);
	/* The one that is named is the only one, and has to be there. */
	settings.authfile = "/dev/null";
	finish(&settings);
	assert_string_equal(settings.images.auth_files[0], "/dev/null");
	assert_null(settings.images.auth_files[1]);
	settings.authfile = "/dev/null/none";
	assert_int_equal(cli_images_finish(&settings, &err), HUSK_E_INVALID);
	assert_string_equal(err.where, "--authfile");
	cli_settings_deinit(&settings);
}

static void expect_proxies(const char *http, const char *https, const char *none)
{
	struct cli_settings settings;

	cli_settings_init(&settings);
	finish(&settings);
	assert_string_equal(settings.images.http_proxy ? settings.images.http_proxy : "-",
			    http);
	assert_string_equal(
	    settings.images.https_proxy ? settings.images.https_proxy : "-", https);
	assert_string_equal(settings.images.no_proxy ? settings.images.no_proxy : "-",
			    none);
	cli_settings_deinit(&settings);
}

static void test_proxies(void **state)
{
	(void)state;
	expect_proxies("-", "-", "-");
	(void)setenv("HTTP_PROXY", "a", 1); /* of a web server's making */
	expect_proxies("-", "-", "-");
	(void)setenv("ALL_PROXY", "b", 1);
	(void)setenv("NO_PROXY", "c", 1);
	expect_proxies("b", "b", "c");
	(void)setenv("all_proxy", "d", 1);
	(void)setenv("no_proxy", "e", 1);
	expect_proxies("d", "d", "e");
	(void)setenv("HTTPS_PROXY", "f", 1);
	expect_proxies("d", "f", "e");
	(void)setenv("https_proxy", "g", 1);
	(void)setenv("http_proxy", "h", 1);
	expect_proxies("h", "g", "e");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_store, save, restore),
	    cmocka_unit_test_setup_teardown(test_auth_files, save, restore),
	    cmocka_unit_test_setup_teardown(test_proxies, save, restore),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
