/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration: layers, ceilings, registries. */
#include "tests/unit/cli_config_files.h"

#include <strings.h>

static const char ADMIN[] =
    "{\"defaults\": {\"memory\": \"1g\", \"pids\": 10, \"timeout\": 5,"
    " \"deps-readonly\": true, \"writable-root\": true,"
    " \"env\": {\"A\": \"etc\", \"B\": \"etc\", \"C\": \"etc\", \"D\": \"etc\"},"
    " \"volume\": [\"/a:/x\", \"/a:/y:ro\"]}}";
static const char USER[] =
    "{\"defaults\": {\"memory\": 1024, \"writable-root\": false,"
    " \"env\": [\"B=user\", \"C=user\", \"D=user\"], \"volume\": [\"/b:/y\"]},"
    " \"profiles\": {\"p\": {\"pids\": 20, \"env\": {\"C\": \"profile\"}},"
    "               \"none\": {\"env\": {}, \"volume\": [\"/c:/z\"]},"
    "               \"bare\": {\"volume\": []}}}";

static void assert_env(struct cli_settings *settings, const char *const *expected)
{
	const char *const *env = NULL;
	struct husk_error err = {0};

	assert_int_equal(
	    cli_environment_merge(&settings->environment, &settings->kept, &env, &err),
	    0);
	for (; *expected; expected++, env++)
		assert_string_equal(*env, *expected);
	assert_true(!env || !*env);
}

static void test_each_layer_is_over_the_one_before(void **state)
{
	static const char *const expected[] = {"A=etc", "B=user", "C=profile", "D=line",
					       NULL};
	struct cli_settings settings;

	(void)state;
	set_up(&settings, ADMIN, USER);
	apply_all(&settings, CLI_VERB_RUN, "p");
	assert_int_equal(give(&settings, "env", "D=line"), 0);
	assert_int_equal(give(&settings, "volume", "/d:/x:ro"), 0);
	assert_int_equal(settings.box.memory_bytes, 1024);
	assert_int_equal(settings.box.pids, 20);
	assert_int_equal(settings.box.timeout_ms, 5000);
	assert_int_equal(settings.box.deps_readonly, 1);
	assert_int_equal(settings.box.allow_writable_root, 0);
	assert_env(&settings, expected);
	assert_int_equal(settings.mount_count, 2);
	assert_string_equal(settings.mounts[0].source, "/d");
	assert_int_equal(settings.mounts[0].flags, 0);
	assert_string_equal(settings.mounts[1].source, "/b");
	assert_int_equal(settings.mounts[1].flags, HUSK_MOUNT_ALLOW_WRITE);
	cli_settings_deinit(&settings);
}

/* On one command line two mounts of one target stay two, for the library to judge. */
static void test_volumes_of_one_layer(void **state)
{
	struct cli_settings settings;

	(void)state;
	set_up(&settings, "{}", "{}");
	apply_all(&settings, CLI_VERB_RUN, NULL);
	assert_int_equal(give(&settings, "volume", "/a:/x"), 0);
	assert_int_equal(give(&settings, "volume", "/b:/x"), 0);
	assert_int_equal(settings.mount_count, 2);
	cli_settings_deinit(&settings);
}

static void test_empty_lists_take_back(void **state)
{
	static const char *const none[] = {NULL};
	static const char *const env[] = {"A=etc", "B=user", "C=user", "D=user", NULL};
	struct cli_settings settings;

	(void)state;
	set_up(&settings, ADMIN, USER);
	apply_all(&settings, CLI_VERB_RUN, "none");
	assert_env(&settings, none);
	assert_int_equal(settings.mount_count, 3);
	cli_settings_deinit(&settings);

	set_up(&settings, ADMIN, USER);
	apply_all(&settings, CLI_VERB_RUN, "bare");
	assert_env(&settings, env);
	assert_int_equal(settings.mount_count, 0);
	assert_null(cli_config_noted(settings.config, cli_option_by_name("volume", 6)));
	cli_settings_deinit(&settings);

	set_up(&settings, ADMIN, USER);
	apply_all(&settings, CLI_VERB_RUN, "untrusted");
	assert_env(&settings, none);
	assert_int_equal(settings.mount_count, 0);
	assert_string_equal(settings.box.seccomp, "strict");
	assert_int_equal(settings.box.memory_bytes, 256 << 20);
	assert_int_equal(settings.box.pids, 64);
	assert_int_equal(settings.box.timeout_ms, 10000);
	assert_int_equal(settings.box.allow_network, 0);
	cli_settings_deinit(&settings);
}

/* What a command has a default of its own for, and what is no option of it. */
static void test_other_commands(void **state)
{
	static const char text[] =
	    "{\"defaults\": {\"memory\": \"1g\", \"network\": \"none\", \"timeout\": 5,"
	    " \"workdir\": \"/w\", \"pids\": 7},"
	    " \"profiles\": {\"p\": {\"timeout\": 6}}}";
	struct cli_settings settings;

	(void)state;
	set_up(&settings, "{}", text);
	apply_all(&settings, CLI_VERB_SETUP, NULL);
	assert_int_equal(settings.box.memory_bytes, 0);
	assert_int_equal(settings.box.timeout_ms, 0);
	assert_int_equal(settings.network_given, 0);
	assert_null(settings.box.workdir);
	assert_int_equal(settings.box.pids, 7);
	cli_settings_deinit(&settings);

	set_up(&settings, "{}", text);
	apply_all(&settings, CLI_VERB_SHELL, "p");
	assert_int_equal(settings.box.memory_bytes, 1 << 30);
	assert_int_equal(settings.box.timeout_ms, 6000);
	assert_string_equal(settings.box.workdir, "/w");
	cli_settings_deinit(&settings);
}

/* -- ceilings ----------------------------------------------------------------------- */

static const struct {
	const char *ceiling, *option, *value;
	bool passes;
} ceilings[] = {
    {"\"memory\": \"1g\"", "memory", "1g", false},
    {"\"memory\": \"1g\"", "memory", "1025m", true},
    {"\"memory\": \"1g\"", "memory", "none", true},
    {"\"cpus\": 1.5", "cpus", "1.5", false},
    {"\"cpus\": 1.5", "cpus", "1.501", true},
    {"\"cpus\": 2", "cpus", "none", true},
    {"\"pids\": 100", "pids", "100", false},
    {"\"pids\": 100", "pids", "101", true},
    {"\"timeout\": 10", "timeout", "10", false},
    {"\"timeout\": 10", "timeout", "10.001", true},
    {"\"max-output\": \"1m\"", "max-output", "1m", false},
    {"\"max-output\": \"1m\"", "max-output", "2m", true},
    {"\"tmp-size\": \"1m\"", "tmp-size", "2m", true},
    {"\"network\": \"none\"", "network", "none", false},
    {"\"network\": \"none\"", "network", "host", true},
    {"\"limits\": \"enforce\"", "limits", "enforce", false},
    {"\"limits\": \"enforce\"", "limits", "best-effort", true},
    {"\"seccomp\": \"default\"", "seccomp", "strict", false},
    {"\"seccomp\": \"default\"", "seccomp", "default", false},
    {"\"seccomp\": \"default\"", "seccomp", "/p.json", true},
    {"\"seccomp\": \"strict\"", "seccomp", "default", true},
    {"\"writable-root\": false", "writable-root", NULL, true},
    {"\"volume\": \"ro\"", "volume", "/a:/b:ro", false},
    {"\"volume\": \"ro\"", "volume", "/a:/b", true},
    {"\"volume\": \"none\"", "volume", "/a:/b:ro", true},
    {"\"images\": [\"host\", \"r.example/*\"]", "image", "host", false},
    {"\"images\": [\"host\", \"r.example/*\"]", "image", "r.example/a/b:1", false},
    {"\"images\": [\"host\", \"r.example/*\"]", "image", "r.example.evil/a", true},
    {"\"images\": [\"dir:/srv/*\"]", "image", "dir:/srv/../home", true},
};

static void test_ceilings(void **state)
{
	(void)state;
	(void)unsetenv("HUSK_IMAGE");
	for (size_t i = 0; i < sizeof(ceilings) / sizeof(ceilings[0]); i++) {
		struct cli_settings settings;
		struct husk_error err = {0};
		char text[128], where[64];
		int r;

		(void)snprintf(text, sizeof(text), "{\"ceilings\":\n {%s}}",
			       ceilings[i].ceiling);
		set_up(&settings, text, "{}");
		apply_all(&settings, CLI_VERB_RUN, NULL);
		assert_int_equal(give(&settings, ceilings[i].option, ceilings[i].value),
				 0);
		r = cli_config_hold(verb("run"), &settings, &err);
		if ((r < 0) != ceilings[i].passes)
			print_error("%s: %s\n", text, ceilings[i].value);
		assert_int_equal(r, ceilings[i].passes ? HUSK_E_INVALID : 0);
		(void)snprintf(where, sizeof(where), "--%s", ceilings[i].option);
		if (r < 0) {
			assert_string_equal(err.where, where);
			assert_non_null(strstr(err.message, "/etc/husk/config.json:2"));
			assert_non_null(strstr(err.message, "ceilings."));
		}
		cli_settings_deinit(&settings);
	}
}

/* Defaults that nobody asked for are lowered, each as the command has it. */
static void test_ceilings_lower_defaults(void **state)
{
	static const char text[] =
	    "{\"ceilings\": {\"memory\": \"100m\", \"cpus\": 2, \"timeout\": 60,"
	    " \"pids\": 1000, \"network\": \"none\", \"seccomp\": \"strict\","
	    " \"volume\": \"none\", \"writable-root\": false}}";
	struct cli_settings settings;
	struct husk_error err = {0};

	(void)state;
	set_up(&settings, text, "{}");
	apply_all(&settings, CLI_VERB_RUN, NULL);
	assert_int_equal(cli_config_hold(verb("run"), &settings, &err), 0);
	assert_int_equal(settings.box.memory_bytes, 100 << 20);
	assert_int_equal(settings.box.cpu_milli, 2000);
	assert_int_equal(settings.box.timeout_ms, 0); /* 30 s are within it */
	assert_int_equal(settings.box.pids, 0);
	assert_string_equal(settings.box.seccomp, "strict");
	cli_settings_deinit(&settings);

	set_up(&settings, text, "{}");
	apply_all(&settings, CLI_VERB_SETUP, NULL);
	assert_int_equal(cli_config_hold(verb("setup"), &settings, &err), 0);
	assert_int_equal(settings.box.timeout_ms, 60000);
	assert_int_equal(settings.network_given, 1);
	assert_int_equal(settings.box.allow_network, 0);
	cli_settings_deinit(&settings);

	set_up(&settings, text, "{}");
	apply_all(&settings, CLI_VERB_SHELL, NULL);
	assert_int_equal(cli_config_hold(verb("shell"), &settings, &err), 0);
	assert_int_equal(settings.box.timeout_ms, 60000);
	cli_settings_deinit(&settings);
}

/* A refusal is about where the value is from. */
static void test_ceilings_name_the_place(void **state)
{
	struct cli_settings settings;
	struct husk_error err = {0};

	(void)state;
	set_up(&settings, "{\"ceilings\": {\"memory\": \"1g\", \"volume\": \"ro\"}}",
	       "{\"profiles\": {\"p\": {\n\"memory\": \"2g\"},"
	       "\n\"v\": {\"volume\": [\"/a:/b\"]}}}");
	apply_all(&settings, CLI_VERB_RUN, "p");
	assert_int_equal(cli_config_hold(verb("run"), &settings, &err), HUSK_E_INVALID);
	assert_string_equal(err.where, "/u.json:2");
	assert_non_null(strstr(err.message, "profiles.p.memory: 2g: not within"));
	assert_int_equal(give(&settings, "memory", "1g"), 0);
	assert_int_equal(cli_config_hold(verb("run"), &settings, &err), 0);
	/* Of several volumes, the one that may be written to. */
	cli_settings_deinit(&settings);
	set_up(&settings, "{\"ceilings\": {\"volume\": \"ro\"}}",
	       "{\"profiles\": {\n\"v\": {\"volume\": [\"/a:/b\"]}}}");
	apply_all(&settings, CLI_VERB_RUN, "v");
	assert_int_equal(give(&settings, "volume", "/c:/d:ro"), 0);
	assert_int_equal(cli_config_hold(verb("run"), &settings, &err), HUSK_E_INVALID);
	assert_string_equal(err.where, "/u.json:2");
	assert_int_equal(give(&settings, "volume", "/c:/b:ro"), 0);
	assert_int_equal(cli_config_hold(verb("run"), &settings, &err), 0);
	cli_settings_deinit(&settings);
}

/* -- registries --------------------------------------------------------------------- */

static const struct {
	const char *reference, *mirror;
} hosts[] = {
    {"r.example/a:1", "m.example"},
    {"R.Example/a", "m.example"},
    {"localhost:5000/a", "user:1"},
    {"localhost/a", NULL},
    {"r.example", "hub.example"}, /* a name without a registry */
    {"python:3", "hub.example"},
    {"library/python", "hub.example"},
    {"docker.io/a/b", "hub.example"},
    {"r.example.evil/a", NULL},
    {"host", NULL},
    {"dir:r.example/a", NULL},
    {"oci:r.example/a", NULL},
};

static void test_registries(void **state)
{
	static const char admin[] =
	    "{\"registries\": {\"r.example\": {\"mirrors\": [\"m.example\"], "
	    "\"insecure\": "
	    "true, \"ca\": \"/ca\"},"
	    " \"docker.io\": {\"mirrors\": [\"hub.example\"]},"
	    " \"localhost:5000\": {\"mirrors\": [\"etc:1\"], \"insecure\": true}}}";
	static const char user[] =
	    "{\"registries\": {\"localhost:5000\": {\"mirrors\": [\"user:1\"]}}}";

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		struct cli_settings settings;
		struct husk_error err = {0};
		bool whole = strncasecmp(hosts[i].reference, "r.example/", 10) == 0;

		set_up(&settings, admin, user);
		assert_int_equal(cli_config_registry(&settings, hosts[i].reference, &err),
				 0);
		assert_int_equal(settings.mirror_count, hosts[i].mirror ? 1 : 0);
		if (hosts[i].mirror)
			assert_string_equal(settings.mirrors[0], hosts[i].mirror);
		assert_int_equal(settings.images.allow_plain_http, whole);
		assert_int_equal(settings.images.tls_ca != NULL, whole);
		cli_settings_deinit(&settings);
	}
}

static void test_registries_after_the_command_line(void **state)
{
	struct cli_settings settings;
	struct husk_error err = {0};

	(void)state;
	set_up(
	    &settings,
	    "{\"registries\": {\"r.example\": {\"mirrors\": [\"b\"], \"ca\": \"/b\"}}}",
	    "{}");
	assert_int_equal(give(&settings, "mirror", "a"), 0);
	assert_int_equal(give(&settings, "tls-ca", "/a"), 0);
	assert_int_equal(cli_config_registry(&settings, "r.example/x", &err), 0);
	assert_int_equal(settings.mirror_count, 2);
	assert_string_equal(settings.mirrors[0], "a");
	assert_string_equal(settings.mirrors[1], "b");
	assert_string_equal(settings.images.tls_ca, "/a");
	cli_settings_deinit(&settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each_layer_is_over_the_one_before),
	    cmocka_unit_test(test_volumes_of_one_layer),
	    cmocka_unit_test(test_empty_lists_take_back),
	    cmocka_unit_test(test_other_commands),
	    cmocka_unit_test(test_ceilings),
	    cmocka_unit_test(test_ceilings_lower_defaults),
	    cmocka_unit_test(test_ceilings_name_the_place),
	    cmocka_unit_test(test_registries),
	    cmocka_unit_test(test_registries_after_the_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
