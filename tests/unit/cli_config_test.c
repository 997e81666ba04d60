/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration files: where keys stand, what is refused and in which words. */
#include "tests/unit/cli_config_files.h"

static const char ETC[] = CONFIG_ETC;

/* -- lines -------------------------------------------------------------------------- */

static unsigned line(const char *text, const char *one, const char *two,
		     const char *three)
{
	const char *keys[] = {one, two, three};
	size_t depth = three ? 3 : two ? 2 : 1;

	return cli_config_line(text, strlen(text), keys, depth);
}

static void test_lines(void **state)
{
	static const char text[] = "\n"
				   "{ \"a\": {\"b\": [1, \"}\\\"]\", {\"x\": 1}],\n"
				   "  \"c\":\n"
				   "    {\"b\": 1, \"x\": 2,\r\n"
				   "\"d\\u0065f\": null}},\n"
				   "\"x\": true, \"b\": {}\n"
				   "}\n";

	(void)state;
	assert_int_equal(line(text, "a", NULL, NULL), 2);
	assert_int_equal(line(text, "a", "b", NULL), 2);
	assert_int_equal(line(text, "a", "c", NULL), 3);
	assert_int_equal(line(text, "a", "c", "x"), 4);
	assert_int_equal(line(text, "a", "c", "def"), 5);
	assert_int_equal(line(text, "x", NULL, NULL), 6);
	assert_int_equal(line(text, "b", NULL, NULL), 6);
	/* What is not there: also what is only deeper, or below something else. */
	assert_int_equal(line(text, "c", NULL, NULL), 0);
	assert_int_equal(line(text, "a", "x", NULL), 0);
	assert_int_equal(line(text, "b", "b", NULL), 0);
	assert_int_equal(line(text, "x", "b", NULL), 0);
}

/* Every beginning of a text: the answer is the same, or none. */
static void test_lines_of_cut_texts(void **state)
{
	static const char text[] = "{\"a\":\n{\"q\\\\\": \"\\\"\", \"b\": [[{\n}]],\n"
				   "\"c\": 1}}";
	const char *keys[] = {"a", "c"};
	unsigned found = 0;

	(void)state;
	for (size_t size = 0; size < sizeof(text); size++) {
		char *copy = malloc(size + 1); /* a byte too far is seen by asan */
		unsigned at;

		assert_non_null(copy);
		memcpy(copy, text, size);
		at = cli_config_line(copy, size, keys, 2);
		assert_true(at == 0 || at == 4);
		found += at == 4;
		free(copy);
	}
	assert_true(found > 3);
}

/* -- files -------------------------------------------------------------------------- */

static int parse(enum cli_config_kind kind, const char *text, struct husk_error *err)
{
	struct cli_config_file file;
	int r;

	memset(err, 0, sizeof(*err));
	make_file(&file, kind, text);
	r = cli_config_parse(&file, err);
	free(file.text);
	json_decref(file.root);
	return r;
}

static const struct {
	const char *text, *where, *message, *hint;
} refused[] = {
    {"", ":1", "not JSON", "no comments"},
    {"{\n\"defaults\": {},\n}", ":3", "not JSON", ""},
    {"{\"defaults\": {}}\n// no\n", ":2", "not JSON", ""},
    {"{\"defaults\": {\"pids\": 1,\n\"pids\": 2}}", ":2", "duplicate object key", ""},
    {"[]", "", "not a JSON object", ""},
    {"{\"\\u0000\": 1}", ":1", "not JSON", ""},
    {"{\n\"default\": {}}", ":2", "default: no section has this name",
     "did you mean defaults?"},
    {"{\"wat\": {}}", ":1", "wat: no section", "there are ceilings"},
    {"{\"defaults\": 1}", ":1", "defaults: must be an object", ""},
    {"{\"defaults\":\n{\n\"memry\": \"1g\"}}", ":3", "defaults.memry: no setting",
     "did you mean memory?"},
    {"{\"defaults\":\n{\n\"json\": true}}", ":3",
     "defaults.json: can stand on the command line only", ""},
    {"{\"defaults\": {\"profile\": \"x\"}}", ":1", "command line only", ""},
    {"{\"defaults\": {\"memory\": \"1t\"}}", ":1", "defaults.memory: 1t: not a size", ""},
    {"{\"defaults\": {\"memory\": -1}}", ":1", "defaults.memory: -1: not a size", ""},
    {"{\"defaults\": {\"memory\": true}}", ":1", "must be a string or a number", ""},
    {"{\"defaults\": {\"memory\": null}}", ":1", "must be a string or a number", ""},
    {"{\"defaults\": {\"memory\": [\"1g\"]}}", ":1", "must be a string or a number", ""},
    {"{\"defaults\": {\"timeout\": 0}}", ":1", "defaults.timeout: 0: must be", ""},
    {"{\"defaults\": {\"timeout\": 0.0001}}", ":1", "defaults.timeout: 0.000: must", ""},
    {"{\"defaults\": {\"timeout\": 1e300}}", ":1", "must be a string or a number", ""},
    {"{\"defaults\": {\"pids\": 1.5}}", ":1", "defaults.pids: 1.500: not a whole", ""},
    {"{\"defaults\": {\"network\": \"HOST\"}}", ":1", "neither none nor host", ""},
    {"{\"defaults\": {\"deps-readonly\": \"yes\"}}", ":1", "must be true or false", ""},
    {"{\"defaults\": {\"deps-readonly\": 1}}", ":1", "must be true or false", ""},
    {"{\"defaults\": {\"volume\": {\"/a\": \"/b\"}}}", ":1", "must be a list", ""},
    {"{\"defaults\": {\"volume\": [1]}}", ":1", "must be a list of strings", ""},
    {"{\"defaults\": {\"volume\": [\"/a:/b:r0\"]}}", ":1", "defaults.volume: ", ""},
    {"{\"defaults\": {\"env\": {\"\": \"1\"}}}", ":1", "(empty): no name", ""},
    {"{\"defaults\": {\"env\": {\"A=B\": \"1\"}}}", ":1", "A=B: no name", ""},
    {"{\"defaults\": {\"env\": {\"A\": 1}}}", ":1", "A: must be a string", ""},
    {"{\"defaults\": {\"env\": 1}}", ":1", "must be an object or a list", ""},
    {"{\"defaults\": {\"seccomp\": \"x.json\"}}", ":1", "must be an absolute path", ""},
    {"{\"defaults\": {\"env-file\": [\"x\"]}}", ":1", "must be an absolute path", ""},
    {"{\"profiles\": {\"p\":\n{\"pids\": 0}}}", ":2", "profiles.p.pids: 0: must be", ""},
    {"{\"profiles\": {\"p\": 1}}", ":1", "profiles.p: must be an object", ""},
    {"{\"profiles\": {\"\": {}}}", ":1", "a profile has no name", ""},
    {"{\"registries\": {\"r.example\": {\"mirror\": []}}}", ":1",
     "registries.r.example.mirror: nothing", "did you mean mirrors?"},
    {"{\"registries\": {\"https://r.example\": {}}}", ":1", "not a host", "lower case"},
    {"{\"registries\": {\"R.example\": {}}}", ":1", "not a host", ""},
    {"{\"registries\": {\"r.example\": {\"mirrors\": [\"http://m\"]}}}", ":1",
     "http://m: not a host", ""},
    {"{\"registries\": {\"r.example\": {\"insecure\": 1}}}", ":1", "true or false", ""},
    {"{\"registries\": {\"r.example\": {\"ca\": \"x.pem\"}}}", ":1", "absolute path", ""},
    {"{\"ceilings\":\n{\"memry\": 1}}", ":2", "ceilings.memry: no ceiling",
     "did you mean memory?"},
    {"{\"ceilings\": {\"memory\": \"none\"}}", ":1", "none: that is no ceiling", ""},
    {"{\"ceilings\": {\"memory\": 0}}", ":1", "ceilings.memory: 0: must be", ""},
    {"{\"ceilings\": {\"seccomp\": \"/x\"}}", ":1", "neither strict nor default", ""},
    {"{\"ceilings\": {\"volume\": \"rw\"}}", ":1", "neither none nor ro", ""},
    {"{\"ceilings\": {\"writable-root\": true}}", ":1", "can only be false", ""},
    {"{\"ceilings\": {\"images\": []}}", ":1", "must be a list of patterns", ""},
    {"{\"ceilings\": {\"images\": [1]}}", ":1", "must be a list of patterns", ""},
    {"{\"defaults\": {\"a\\u001b[2J\": 1}}", ":1", "defaults.a\\x1b[2J", ""},
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct husk_error err;
		char where[64];

		assert_int_equal(parse(CLI_CONFIG_ADMIN, refused[i].text, &err),
				 HUSK_E_INVALID);
		(void)snprintf(where, sizeof(where), "%s%s", ETC, refused[i].where);
		if (!strstr(err.message, refused[i].message) ||
		    !strstr(err.hint, refused[i].hint))
			print_error("%s: %s (%s)\n", refused[i].text, err.message,
				    err.hint);
		assert_string_equal(err.where, where);
		assert_non_null(strstr(err.message, refused[i].message));
		assert_non_null(strstr(err.hint, refused[i].hint));
	}
}

static void test_ceilings_are_the_administrators(void **state)
{
	struct husk_error err;

	(void)state;
	assert_int_equal(parse(CLI_CONFIG_ADMIN, "{\"ceilings\": {\"pids\": 9}}", &err),
			 0);
	assert_int_equal(parse(CLI_CONFIG_USER, "{\n\"ceilings\": {\"pids\": 9}}", &err),
			 HUSK_E_INVALID);
	assert_string_equal(err.where, "/u.json:2");
	assert_non_null(strstr(err.message, "only the administrator"));
}

static void test_long_paths(void **state)
{
	struct cli_config_file file;
	struct cli_config_place place = {.file = &file, .keys = {"defaults"}, .depth = 1};
	char path[400], where[128];

	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	make_file(&file, CLI_CONFIG_USER, "{\n\n\"defaults\": {}}");
	file.path = path;
	cli_config_where(&place, where, sizeof(where));
	assert_true(strlen(where) < sizeof(where));
	assert_memory_equal(where, "...ppp", 6);
	assert_string_equal(where + strlen(where) - 3, "p:3");
	free(file.text);
}

/* Every option that may stand in a file is one that the manual of files names. */
static void test_documented(void **state)
{
	size_t count, size;
	const struct cli_option *options = cli_options(&count);
	static char text[65536];
	FILE *file = fopen("docs/CONFIG.md", "re");

	(void)state;
	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	assert_int_equal(fclose(file), 0);
	for (size_t i = 0; i < count; i++) {
		char quoted[64];

		if (!cli_config_takes(&options[i]))
			continue;
		(void)snprintf(quoted, sizeof(quoted), "`%s`", options[i].name);
		if (!strstr(text, quoted))
			print_error("docs/CONFIG.md lacks %s\n", quoted);
		assert_non_null(strstr(text, quoted));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_lines_of_cut_texts),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_ceilings_are_the_administrators),
	    cmocka_unit_test(test_long_paths),
	    cmocka_unit_test(test_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
