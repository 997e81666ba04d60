/* SPDX-License-Identifier: Apache-2.0 */
/* Whose credentials a registry gets: keys, files, and the programs that keep them. */
#include "tests/unit/oci_place.h"

#include "oci/credential_program.h"
#include "oci/credentials.h"

#include <signal.h>

static const char reg[] = "reg.example:5000", repo[] = "team/app";

static void test_keys(void **state)
{
	static const struct {
		const char *key, *registry, *repository;
		bool fits;
	} rows[] = {
	    {"reg.example:5000", reg, repo, true},
	    {"REG.example:5000", reg, repo, true},
	    {"https://reg.example:5000", reg, repo, true},
	    {"http://reg.example:5000/v2/", reg, repo, true},
	    {"reg.example:5000/v1/", reg, repo, true},
	    {"reg.example", reg, repo, false},
	    {"reg.example:500", reg, repo, false},
	    {"reg.example:50001", reg, repo, false},
	    {"sub.reg.example:5000", reg, repo, false},
	    {"evilreg.example:5000", reg, repo, false},
	    {"reg.example:5000.evil", reg, repo, false},
	    {"reg.example:443", "reg.example", repo, false},
	    {"", reg, repo, false},
	    {"https://", reg, repo, false},
	    {"/", reg, repo, false},
	    /* names below a registry */
	    {"reg.example:5000/team", reg, repo, true},
	    {"reg.example:5000/team/", reg, repo, true},
	    {"reg.example:5000/team/app", reg, repo, true},
	    {"reg.example:5000/team/ap", reg, repo, false},
	    {"reg.example:5000/team/app/x", reg, repo, false},
	    {"reg.example:5000/tea", reg, repo, false},
	    {"reg.example/team", reg, repo, false},
	    /* Docker Hub */
	    {"https://index.docker.io/v1/", "docker.io", "library/python", true},
	    {"index.docker.io", "docker.io", "library/python", true},
	    {"docker.io", "docker.io", "library/python", true},
	    {"registry-1.docker.io", "docker.io", "library/python", true},
	    {"docker.io/library", "docker.io", "library/python", true},
	    {"docker.io/other", "docker.io", "library/python", false},
	    {"hub.docker.io", "docker.io", "library/python", false},
	    {"docker.io", reg, repo, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((credentials_key_fits(rows[i].key, rows[i].registry,
					  rows[i].repository) > 0) != rows[i].fits)
			fail_msg("%s for %s/%s", rows[i].key, rows[i].registry,
				 rows[i].repository);
	}
}

static void test_the_longest_key_wins(void **state)
{
	static const char *const keys[] = {
	    "https://reg.example:5000/v2/", "reg.example:5000",
	    "https://reg.example:5000/team", "reg.example:5000/team",
	    "reg.example:5000/team/app"};

	(void)state;
	for (size_t i = 1; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_true(credentials_key_fits(keys[i - 1], reg, repo) <
			    credentials_key_fits(keys[i], reg, repo));
}

/* Ask with up to two files whose contents are given; NULL: the file is missing. */
static int ask(struct place *place, const char *first, const char *second,
	       struct credentials *ret)
{
	char path[2][128];
	const char *files[] = {path[0], path[1], NULL};
	const struct credential_places places = {.files = files,
						 .helper_path = place->dir};
	const char *texts[] = {first, second};

	for (int i = 0; i < 2; i++) {
		FILE *file;

		(void)snprintf(path[i], sizeof(path[i]), "%s/auth%d", place->dir, i);
		(void)unlink(path[i]);
		if (!texts[i])
			continue;
		file = fopen(path[i], "we");
		assert_non_null(file);
		assert_true(fputs(texts[i], file) >= 0);
		assert_int_equal(fclose(file), 0);
	}
	*ret = (struct credentials){0};
	place->err = (struct husk_error){0};
	return credentials_find(&places, reg, repo, ret, &place->err);
}

/* "user:pass" is dXNlcjpwYXNz. */
static void test_files(void **state)
{
	static const struct {
		const char *text, *user, *password, *identity, *registry;
	} rows[] = {
	    {"{\"auths\":{\"reg.example:5000\":{\"auth\":\"dXNlcjpwYXNz\"}}}", "user",
	     "pass", NULL, NULL},
	    {"{\"auths\":{\"reg.example:5000\":{\"username\":\"u\",\"password\":\"p:q\"}}"
	     "}",
	     "u", "p:q", NULL, NULL},
	    {"{\"auths\":{\"reg.example:5000\":{\"username\":\"u\"}}}", "u", "", NULL,
	     NULL},
	    {"{\"auths\":{\"reg.example:5000\":{\"identitytoken\":\"i\"}}}", NULL, NULL,
	     "i", NULL},
	    {"{\"auths\":{\"reg.example:5000\":{\"registrytoken\":\"r\"}}}", NULL, NULL,
	     NULL, "r"},
	    {"{\"auths\":{\"reg.example:5000\":{\"auth\":\"dTpw\"},"
	     "\"reg.example:5000/team\":{\"auth\":\"dXNlcjpwYXNz\"}}}",
	     "user", "pass", NULL, NULL},
	    {"{\"auths\":{\"reg.example:5000\":{}}}", NULL, NULL, NULL, NULL},
	    {"{\"auths\":{\"reg.example\":{\"auth\":\"dXNlcjpwYXNz\"}}}", NULL, NULL,
	     NULL, NULL},
	    {"{}", NULL, NULL, NULL, NULL},
	    {"", NULL, NULL, NULL, NULL},
	};
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *wanted[] = {rows[i].user, rows[i].password, rows[i].identity,
					rows[i].registry};
		struct credentials found;

		OK(ask(place, rows[i].text, NULL, &found));
		const char *got[] = {found.user, found.password, found.identity_token,
				     found.registry_token};

		for (int k = 0; k < 4; k++) {
			if ((got[k] != NULL) != (wanted[k] != NULL) ||
			    (got[k] && strcmp(got[k], wanted[k]) != 0))
				fail_msg("row %zu, member %d: %s", i, k,
					 got[k] ? got[k] : "none");
		}
		credentials_deinit(&found);
	}
}

static void test_the_first_file_that_knows_decides(void **state)
{
	static const char mine[] =
	    "{\"auths\":{\"reg.example:5000\":{\"auth\":\"dXNlcjpwYXNz\"}}}";
	static const char other[] =
	    "{\"auths\":{\"reg.example:5000\":{\"auth\":\"dTpw\"}}}";
	struct place *place = *state;
	struct credentials found;

	OK(ask(place, mine, other, &found));
	assert_string_equal(found.user, "user");
	credentials_deinit(&found);
	OK(ask(place, NULL, other, &found));
	assert_string_equal(found.user, "u");
	credentials_deinit(&found);
	OK(ask(place, "{\"auths\":{\"x\":{}}}", other, &found));
	assert_string_equal(found.user, "u");
	credentials_deinit(&found);
	/* known, but without credentials: that is an answer, too */
	OK(ask(place, "{\"auths\":{\"reg.example:5000\":{}}}", other, &found));
	assert_false(credentials_any(&found));
	credentials_deinit(&found);
}

static void test_broken_files(void **state)
{
	static const char *const texts[] = {
	    "{",
	    "[]",
	    "{\"auths\":{\"reg.example:5000\":{\"auth\":\"SECRET\"}}}",
	    "{\"auths\":{\"reg.example:5000\":{\"auth\":\"U0VDUkVU\"}}}",
	    "{\"auths\":{\"reg.example:5000\":3}}",
	    "{\"auths\":{\"a\":{\"auth\":\"SECRET\"},\"a\":{}}}",
	    "{\"auths\":{\"a\":{\"auth\":\"SECRET",
	};
	struct place *place = *state;
	struct credentials found;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (ask(place, texts[i], NULL, &found) != HUSK_E_INVALID)
			fail_msg("%s is accepted", texts[i]);
		assert_non_null(strstr(place->err.where, "auth0"));
		assert_null(strstr(place->err.message, "SECRET"));
		assert_false(credentials_any(&found));
	}
}

static void add_program(const struct place *place, const char *name, const char *script)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/docker-credential-%s", place->dir, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fprintf(file, "#!/bin/sh\n%s\n", script) > 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static int never(void *user)
{
	(void)user;
	return 0;
}

static int at_once(void *user)
{
	(void)user;
	return 1;
}

static int run(struct place *place, const char *name, struct credentials *ret)
{
	const struct helper helper = {
	    .name = name,
	    .server = reg,
	    .path = place->dir,
	    .stopped = strcmp(name, "stopped") == 0 ? at_once : never,
	    .timeout_s = 1,
	};

	*ret = (struct credentials){0};
	place->err = (struct husk_error){0};
	return helper_get(&helper, ret, &place->err);
}

static void test_programs(void **state)
{
	static const struct {
		const char *name, *script; /* NULL: there is none */
		int rc;
		const char *user, *secret, *token;
	} rows[] = {
	    {"good",
	     "read s; echo \"{\\\"Username\\\":\\\"u$1\\\",\\\"Secret\\\":\\\"$s\\\"}\"",
	     0, "uget", "reg.example:5000", NULL},
	    {"token", "echo '{\"Username\":\"<token>\",\"Secret\":\"t\"}'", 0, NULL, NULL,
	     "t"},
	    {"none", "echo 'credentials not found in native keychain'; exit 1", 0, NULL,
	     NULL, NULL},
	    {"deaf", "exec 0<&-; echo '{\"Username\":\"u\",\"Secret\":\"p\"}'", 0, "u",
	     "p", NULL},
	    {"leaves", "sleep 60 & echo '{\"Username\":\"u\",\"Secret\":\"p\"}'", 0, "u",
	     "p", NULL},
	    {"fails", "echo SECRET; echo SECRET >&2; exit 3", HUSK_E_REGISTRY, NULL, NULL,
	     NULL},
	    {"killed", "kill -9 $$", HUSK_E_REGISTRY, NULL, NULL, NULL},
	    {"junk", "echo SECRET", HUSK_E_REGISTRY, NULL, NULL, NULL},
	    {"half", "echo '{\"Username\":\"SECRET\"}'", HUSK_E_REGISTRY, NULL, NULL,
	     NULL},
	    {"silent", "", HUSK_E_REGISTRY, NULL, NULL, NULL},
	    {"endless", "while :; do echo SECRETSECRETSECRET; done", HUSK_E_REGISTRY,
	     NULL, NULL, NULL},
	    {"hangs", "sleep 60", HUSK_E_REGISTRY, NULL, NULL, NULL},
	    {"stopped", "sleep 60", HUSK_E_CANCELLED, NULL, NULL, NULL},
	    {"missing", NULL, 1, NULL, NULL, NULL},
	    {"../x", NULL, HUSK_E_INVALID, NULL, NULL, NULL},
	    {"a b", NULL, HUSK_E_INVALID, NULL, NULL, NULL},
	    {"", NULL, HUSK_E_INVALID, NULL, NULL, NULL},
	};
	struct place *place = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct credentials found;
		int rc;

		if (rows[i].script)
			add_program(place, rows[i].name, rows[i].script);
		rc = run(place, rows[i].name, &found);
		if (rc != rows[i].rc)
			fail_msg("%s: %d, %s", rows[i].name, rc, place->err.message);
		assert_null(strstr(place->err.message, "SECRET"));
		assert_null(strstr(place->err.hint, "SECRET"));
		if (rows[i].user)
			assert_string_equal(found.user, rows[i].user);
		else
			assert_null(found.user);
		if (rows[i].secret)
			assert_string_equal(found.password, rows[i].secret);
		if (rows[i].token)
			assert_string_equal(found.identity_token, rows[i].token);
		credentials_deinit(&found);
	}
}

/* The kernel takes the status of a child away where SIGCHLD is ignored. */
static void test_program_while_children_are_ignored(void **state)
{
	struct place *place = *state;
	struct credentials found;

	add_program(place, "good", "echo '{\"Username\":\"u\",\"Secret\":\"p\"}'");
	assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
	OK(run(place, "good", &found));
	assert_true(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
	assert_string_equal(found.user, "u");
	credentials_deinit(&found);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_programs_in_files(void **state)
{
	static const char auth[] = "\"auths\":{\"reg.example:5000\":{\"auth\":\"dTpw\"}}";
	static const struct {
		const char *text; /* before auth */
		int rc;
		const char *user;
	} rows[] = {
	    {"\"credHelpers\":{\"reg.example:5000\":\"good\"}", 0, "g"},
	    {"\"credsStore\":\"good\"", 0, "g"},
	    {"\"credsStore\":\"fails\",\"credHelpers\":{\"reg.example:5000\":\"good\"}",
	     0, "g"},
	    /* never another's credentials instead */
	    {"\"credHelpers\":{\"reg.example:5000\":\"fails\"}", HUSK_E_REGISTRY, NULL},
	    {"\"credHelpers\":{\"reg.example:5000\":\"missing\"}", HUSK_E_REGISTRY, NULL},
	    {"\"credsStore\":\"fails\"", HUSK_E_REGISTRY, NULL},
	    {"\"credHelpers\":{\"reg.example:5000\":\"none\"}", 0, NULL},
	    /* a program that fails for one registry is none of another's business */
	    {"\"credHelpers\":{\"reg.example\":\"fails\",\"docker.io\":\"fails\"}", 0,
	     "u"},
	    /* there is no entry to miss */
	    {"\"credsStore\":\"missing\"", 0, "u"},
	    {"\"credsStore\":\"none\"", 0, "u"},
	};
	struct place *place = *state;

	add_program(place, "good", "echo '{\"Username\":\"g\",\"Secret\":\"p\"}'");
	add_program(place, "none", "echo 'credentials not found'; exit 1");
	add_program(place, "fails", "exit 1");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct credentials found;
		char text[512];
		int rc;

		(void)snprintf(text, sizeof(text), "{%s,%s}", rows[i].text, auth);
		rc = ask(place, text, NULL, &found);
		if (rc != rows[i].rc || (found.user != NULL) != (rows[i].user != NULL))
			fail_msg("%s: %d, %s", text, rc, place->err.message);
		if (found.user)
			assert_string_equal(found.user, rows[i].user);
		credentials_deinit(&found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_keys),
	    cmocka_unit_test(test_the_longest_key_wins),
	    PLACE_TEST(test_files),
	    PLACE_TEST(test_the_first_file_that_knows_decides),
	    PLACE_TEST(test_broken_files),
	    PLACE_TEST(test_programs),
	    PLACE_TEST(test_program_while_children_are_ignored),
	    PLACE_TEST(test_programs_in_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
