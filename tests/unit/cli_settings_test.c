/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options: where they go, what they mean, and which are refused. */
#include "cli/options.h"
#include "cli/settings.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set(struct cli_settings *settings, const char *name, const char *value,
	       struct husk_error *err)
{
	const struct cli_option *option = cli_option_by_name(name, strlen(name));
	char word[128];

	assert_non_null(option);
	if (!option->argument)
		return option->set(option, settings, NULL, err);
	/* What a setter keeps of its word must outlive this frame. */
	(void)snprintf(word, sizeof(word), "%s", value);
	return option->set(option, settings,
			   cli_keep_text(&settings->kept, word, strlen(word)), err);
}

/* The defaults that the help shows go through the same parser as what a user types, and
 * mean what husk/options.h says that zero means. */
static void test_defaults(void **state)
{
	static const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
	    {"cpus", HUSK_UNLIMITED}, {"max-output", 64 << 20},
	    {"memory", 512 << 20},    {"pids", 256},
	    {"timeout", 30000},	      {"tmp-size", 256 << 20},
	};
	struct cli_settings settings;
	struct husk_error err = {0};

	(void)state;
	cli_settings_init(&settings);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct cli_option *option =
		    cli_option_by_name(rows[i].name, strlen(rows[i].name));
		uint64_t *at = (uint64_t *)(void *)((char *)&settings + option->at);

		assert_true(*at == 0);
		assert_int_equal(set(&settings, rows[i].name, option->standard, &err), 0);
		assert_true(*at == rows[i].value);
	}
	assert_int_equal(set(&settings, "limits", "enforce", &err), 0);
	assert_int_equal(settings.box.limits, HUSK_LIMITS_ENFORCE);
	assert_int_equal(set(&settings, "network", "none", &err), 0);
	assert_int_equal(settings.box.allow_network, 0);
	cli_settings_deinit(&settings);
}

static void test_values_reach_the_box(void **state)
{
	struct cli_settings settings;
	struct husk_error err = {0};

	(void)state;
	cli_settings_init(&settings);
	assert_int_equal(settings.box.size, sizeof(struct husk_options));
	assert_int_equal(set(&settings, "cpus", "1.5", &err), 0);
	assert_int_equal(set(&settings, "memory", "none", &err), 0);
	assert_int_equal(set(&settings, "pids", "none", &err), 0);
	assert_int_equal(set(&settings, "timeout", "0.25", &err), 0);
	assert_int_equal(set(&settings, "max-output", "1k", &err), 0);
	assert_int_equal(set(&settings, "tmp-size", "2m", &err), 0);
	assert_int_equal(set(&settings, "image", "dir:/x", &err), 0);
	assert_int_equal(set(&settings, "limits", "best-effort", &err), 0);
	assert_int_equal(set(&settings, "network", "host", &err), 0);
	assert_int_equal(set(&settings, "seccomp", "strict", &err), 0);
	assert_int_equal(set(&settings, "pull", "missing", &err), 0);
	assert_int_equal(settings.box.pull, HUSK_PULL_MISSING);
	assert_int_equal(set(&settings, "pull", "never", &err), 0);
	assert_int_equal(settings.box.pull, HUSK_PULL_NEVER);
	assert_int_equal(set(&settings, "pull", "always", &err), 0);
	assert_int_equal(settings.box.pull, HUSK_PULL_ALWAYS);
	assert_int_equal(set(&settings, "format", "oci", &err), 0);
	assert_int_equal(settings.format, HUSK_IMAGE_OCI);
	assert_int_equal(set(&settings, "format", "docker", &err), 0);
	assert_int_equal(settings.format, HUSK_IMAGE_DOCKER);
	assert_int_equal(set(&settings, "mirror", "one.example", &err), 0);
	assert_int_equal(set(&settings, "mirror", "two.example:5000", &err), 0);
	assert_string_equal(settings.mirrors[0], "one.example");
	assert_string_equal(settings.mirrors[1], "two.example:5000");
	assert_null(settings.mirrors[2]);
	assert_int_equal(set(&settings, "user", "app:4294967294", &err), 0);
	assert_int_equal(set(&settings, "user", "7:wheel", &err), 0);
	assert_int_equal(set(&settings, "user", "1000:4294967294", &err), 0);
	assert_int_equal(set(&settings, "workdir", "/w", &err), 0);
	assert_int_equal(set(&settings, "workspace", "ws", &err), 0);
	assert_int_equal(set(&settings, "writable-root", NULL, &err), 0);
	assert_int_equal(set(&settings, "volume", "/a:/b:ro", &err), 0);
	assert_int_equal(settings.box.cpu_milli, 1500);
	assert_true(settings.box.memory_bytes == HUSK_UNLIMITED);
	assert_true(settings.box.pids == HUSK_UNLIMITED);
	assert_int_equal(settings.box.timeout_ms, 250);
	assert_int_equal(settings.box.max_output_bytes, 1024);
	assert_int_equal(settings.box.tmp_bytes, 2 << 20);
	assert_string_equal(settings.box.image, "dir:/x");
	assert_int_equal(settings.box.limits, HUSK_LIMITS_BEST_EFFORT);
	assert_int_equal(settings.box.allow_network, 1);
	assert_string_equal(settings.box.seccomp, "strict");
	assert_string_equal(settings.box.user, "1000:4294967294");
	assert_string_equal(settings.box.workdir, "/w");
	assert_string_equal(settings.box.workspace, "ws");
	assert_int_equal(settings.box.allow_writable_root, 1);
	assert_int_equal(settings.mount_count, 1);
	assert_string_equal(settings.mounts[0].target, "/b");
	cli_settings_deinit(&settings);
}

/* Each could be taken for "no limit", or for something wider than it says. */
static const struct {
	const char *name, *value;
} refused[] = {
    {"cpus", "0"},
    {"cpus", "-1"},
    {"cpus", "inf"},
    {"cpus", "1e-9"},
    {"cpus", "0.0001"},
    {"cpus", "8192.001"},
    {"cpus", "None"},
    {"cpus", ""},
    {"memory", "0"},
    {"memory", "-1"},
    {"memory", "None"},
    {"memory", "512 m"},
    {"memory", "17179869184G"},
    {"memory", "unlimited"},
    {"memory", "18446744073709551615"},
    {"pids", "0"},
    {"pids", "-1"},
    {"pids", "4194305"},
    {"pids", "9223372036854775808"},
    {"pids", "1.0"},
    {"timeout", "0"},
    {"timeout", "none"},
    {"timeout", "inf"},
    {"timeout", "1e18"},
    {"timeout", "-5"},
    {"timeout", "0.0009"},
    {"timeout", "315360000.001"},
    {"max-output", "0"},
    {"max-output", "none"},
    {"tmp-size", "0"},
    {"tmp-size", "none"},
    {"network", ""},
    {"network", "HOST"},
    {"network", "bridge"},
    {"limits", "none"},
    {"limits", "best"},
    {"user", ""},
    {"user", "root:"},
    {"user", "ro ot"},
    {"user", "a:b:c"},
    {"user", ".a"},
    {"pull", "often"},
    {"pull", ""},
    {"format", "zip"},
    {"mirror", ""},
    {"user", "-1"},
    {"user", "+0"},
    {"user", "0x0"},
    {"user", "1000 "},
    {"user", " 1000"},
    {"user", "1000x"},
    {"user", "4294967295"},
    {"user", "4294967296"},
    {"user", "18446744073709551616"},
    {"user", "5:"},
    {"user", ":5"},
    {"user", "1:2:3"},
    {"user", "1:-1"},
    {"image", ""},
    {"workspace", ""},
    {"workdir", ""},
    {"workdir", ".."},
    {"workdir", "a"},
    {"seccomp", ""},
    {"language", "sh"},
    {"volume", "/a"},
    {"env", "=1"},
};

/* A refusal names its option, and changes nothing. */
static void test_values_refused(void **state)
{
	struct cli_settings settings, before;

	(void)state;
	cli_settings_init(&settings);
	cli_settings_init(&before);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct husk_error err = {0};
		char where[64];

		(void)snprintf(where, sizeof(where), "--%s", refused[i].name);
		assert_int_equal(set(&settings, refused[i].name, refused[i].value, &err),
				 HUSK_E_INVALID);
		assert_string_equal(err.where, where);
		assert_memory_equal(&settings.box, &before.box, sizeof(before.box));
		assert_int_equal(settings.mount_count, 0);
		assert_int_equal(settings.environment.count, 0);
	}
	cli_settings_deinit(&settings);
	cli_settings_deinit(&before);
}

static void test_many_volumes(void **state)
{
	struct cli_settings settings;
	struct husk_error err = {0};
	char word[64];

	(void)state;
	cli_settings_init(&settings);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(word, sizeof(word), "/s%d:/t%d:%s", i, i,
			       i % 2 ? "ro" : "rw");
		assert_int_equal(set(&settings, "volume", word, &err), 0);
	}
	assert_int_equal(settings.mount_count, 100);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(word, sizeof(word), "/s%d", i);
		assert_string_equal(settings.mounts[i].source, word);
		assert_int_equal(settings.mounts[i].flags,
				 i % 2 ? 0 : HUSK_MOUNT_ALLOW_WRITE);
	}
	cli_settings_deinit(&settings);
}

/* What the caller's environment decides. */
static void test_finish(void **state)
{
	struct cli_settings settings;
	struct husk_error err = {0};

	(void)state;
	cli_settings_init(&settings);
	assert_int_equal(setenv("HUSK_IMAGE", "", 1), 0);
	assert_int_equal(setenv("TMPDIR", "no/such/relative", 1), 0);
	assert_int_equal(cli_settings_finish(&settings, &err), 0);
	assert_null(settings.box.image);
	assert_null(settings.box.temp_dir);
	assert_int_equal(setenv("TMPDIR", "/no/such/directory", 1), 0);
	assert_int_equal(cli_settings_finish(&settings, &err), 0);
	assert_null(settings.box.temp_dir);
	assert_int_equal(setenv("TMPDIR", "/dev/null", 1), 0);
	assert_int_equal(cli_settings_finish(&settings, &err), 0);
	assert_null(settings.box.temp_dir);
	assert_int_equal(setenv("TMPDIR", ".", 1), 0);
	assert_int_equal(cli_settings_finish(&settings, &err), 0);
	assert_null(settings.box.temp_dir);
	assert_int_equal(setenv("TMPDIR", "/usr", 1), 0);
	assert_int_equal(setenv("HUSK_IMAGE", "dir:/from/env", 1), 0);
	assert_int_equal(cli_settings_finish(&settings, &err), 0);
	assert_string_equal(settings.box.temp_dir, "/usr");
	assert_string_equal(settings.box.image, "dir:/from/env");
	cli_settings_deinit(&settings);

	cli_settings_init(&settings);
	assert_int_equal(set(&settings, "image", "host", &err), 0);
	assert_int_equal(set(&settings, "workspace", "w", &err), 0);
	assert_int_equal(set(&settings, "env", "A=1", &err), 0);
	assert_int_equal(cli_settings_finish(&settings, &err), 0);
	assert_string_equal(settings.box.image, "host");
	assert_string_equal(settings.box.temp_dir, "/usr"); /* a setup's */
	assert_string_equal(settings.box.env[0], "A=1");
	assert_null(settings.box.env[1]);
	assert_int_equal(set(&settings, "env-file", "no/such/file", &err), 0);
	assert_int_equal(cli_settings_finish(&settings, &err), HUSK_E_INVALID);
	assert_string_equal(err.where, "--env-file");
	cli_settings_deinit(&settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_defaults),
	    cmocka_unit_test(test_values_reach_the_box),
	    cmocka_unit_test(test_values_refused),
	    cmocka_unit_test(test_many_volumes),
	    cmocka_unit_test(test_finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
