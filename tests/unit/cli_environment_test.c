/* SPDX-License-Identifier: Apache-2.0 */
/* -e and --env-file: which variables the box gets, and what a broken file says. */
#include "cli/environment.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An environment under construction, and what went wrong last. */
struct fixture {
	struct cli_environment environment;
	struct cli_keep *kept;
	struct husk_error err;
};

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	cli_keep_release(&fixture->kept);
	free(fixture);
	return 0;
}

static int add(struct fixture *fixture, const char *text)
{
	char word[256];

	(void)snprintf(word, sizeof(word), "%s", text);
	return cli_environment_add(&fixture->environment, &fixture->kept, word,
				   &fixture->err);
}

static int add_lines(struct fixture *fixture, const char *text, size_t size)
{
	char *copy = cli_keep_text(&fixture->kept, text, size);

	assert_non_null(copy);
	return cli_environment_add_lines(&fixture->environment, &fixture->kept,
					 "some.env", copy, size, false, &fixture->err);
}

/* The variables are exactly these, NULL-terminated and sorted by name. */
static void assert_variables(struct fixture *fixture, const char *const *want)
{
	const char *const *env = NULL;
	size_t i;

	assert_int_equal(cli_environment_merge(&fixture->environment, &fixture->kept,
					       &env, &fixture->err),
			 0);
	for (i = 0; want[i]; i++) {
		assert_non_null(env[i]);
		assert_string_equal(env[i], want[i]);
	}
	assert_null(env[i]);
}

static void test_none(void **state)
{
	struct fixture *fixture = *state;
	const char *const *env = (const char *const *)"x";

	assert_int_equal(cli_environment_merge(&fixture->environment, &fixture->kept,
					       &env, &fixture->err),
			 0);
	assert_null(env);
}

static void test_given(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(add(fixture, "B=2"), 0);
	assert_int_equal(add(fixture, "EMPTY="), 0);
	assert_int_equal(add(fixture, "A=x=y z\n"), 0);
	assert_int_equal(add(fixture, "AB=1"), 0);
	assert_variables(
	    fixture, (const char *const[]){"A=x=y z\n", "AB=1", "B=2", "EMPTY=", NULL});
}

static void test_names_refused(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(add(fixture, ""), HUSK_E_INVALID);
	assert_int_equal(add(fixture, "=x"), HUSK_E_INVALID);
	assert_string_equal(fixture->err.where, "--env");
	assert_int_equal(fixture->environment.count, 0);
}

/* A name alone copies the caller's variable; one that the caller lacks is not made up. */
static void test_copied(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(setenv("CLI_TEST_MINE", "my=own", 1), 0);
	assert_int_equal(setenv("CLI_TEST_MISSING_LONGER", "no", 1), 0);
	assert_int_equal(unsetenv("CLI_TEST_MISSING"), 0);
	assert_int_equal(add(fixture, "CLI_TEST_MINE"), 0);
	assert_int_equal(add(fixture, "CLI_TEST_MISSING"), 0);
	assert_variables(fixture, (const char *const[]){"CLI_TEST_MINE=my=own", NULL});
}

/* The value does not stay in the word that the process list shows. */
static void test_value_is_blanked(void **state)
{
	struct fixture *fixture = *state;
	char word[] = "TOKEN=s3cret";

	assert_int_equal(cli_environment_add(&fixture->environment, &fixture->kept, word,
					     &fixture->err),
			 0);
	assert_string_equal(word, "TOKEN=******");
	assert_variables(fixture, (const char *const[]){"TOKEN=s3cret", NULL});
}

/* -e before files, later before earlier, each name once. */
static void test_precedence(void **state)
{
	static const char first[] = "A=file1\nB=file1\nC=file1\nCLI_TEST_MINE=file\n",
			  second[] = "B=file2\n";
	struct fixture *fixture = *state;

	assert_int_equal(setenv("CLI_TEST_MINE", "copied", 1), 0);
	assert_int_equal(add(fixture, "A=given1"), 0);
	assert_int_equal(add(fixture, "CLI_TEST_MINE"), 0);
	assert_int_equal(add_lines(fixture, first, sizeof(first) - 1), 0);
	assert_int_equal(add_lines(fixture, second, sizeof(second) - 1), 0);
	assert_int_equal(add(fixture, "D=given1"), 0);
	assert_int_equal(add(fixture, "D=given2"), 0);
	assert_variables(fixture,
			 (const char *const[]){"A=given1", "B=file2", "C=file1",
					       "CLI_TEST_MINE=copied", "D=given2", NULL});
}

static void test_many(void **state)
{
	struct fixture *fixture = *state;
	const char *const *env = NULL;
	char word[32];
	size_t count = 0;

	for (int i = 0; i < 5000; i++) {
		(void)snprintf(word, sizeof(word), "N%d=%d", i % 2500, i);
		assert_int_equal(add(fixture, word), 0);
	}
	assert_int_equal(cli_environment_merge(&fixture->environment, &fixture->kept,
					       &env, &fixture->err),
			 0);
	for (; env[count]; count++) {
		int name, value;

		assert_int_equal(sscanf(env[count], "N%d=%d", &name, &value), 2);
		assert_int_equal(value, name + 2500);
	}
	assert_int_equal(count, 2500);
}

static void test_lines(void **state)
{
	static const char text[] = "\xef\xbb\xbf# comment\n"
				   "\n"
				   "  \t \n"
				   "  # indented comment\n"
				   "PLAIN=1\r\n"
				   "\tINDENTED=2\n"
				   "QUOTED=\"a b\" 'c'\n"
				   "SPACES=  kept  \n"
				   "HASH=a # no comment\n"
				   "EQUALS=a=b\n"
				   "EMPTY=\n"
				   "CLI_TEST_MINE  \n"
				   "CLI_TEST_MISSING\n"
				   "LAST=no line feed";
	struct fixture *fixture = *state;

	assert_int_equal(setenv("CLI_TEST_MINE", "copied", 1), 0);
	assert_int_equal(unsetenv("CLI_TEST_MISSING"), 0);
	assert_int_equal(add_lines(fixture, text, sizeof(text) - 1), 0);
	assert_variables(fixture,
			 (const char *const[]){
			     "CLI_TEST_MINE=copied", "EMPTY=", "EQUALS=a=b",
			     "HASH=a # no comment", "INDENTED=2", "LAST=no line feed",
			     "PLAIN=1", "QUOTED=\"a b\" 'c'", "SPACES=  kept  ", NULL});
}

static void test_nothing_in_a_file(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(add_lines(fixture, "", 0), 0);
	assert_int_equal(add_lines(fixture, "\xef\xbb\xbf", 3), 0);
	assert_int_equal(add_lines(fixture, "\n\r\n", 3), 0);
	assert_int_equal(fixture->environment.count, 0);
}

/* The line number is said, and never the line: it may hold a secret. */
static void test_broken_lines(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *line;
	} rows[] = {
	    {"A=1\nB C=s3cret\n", 15, "line 2"}, {"# x\n\n=s3cret\n", 13, "line 3"},
	    {"s3cret s3cret\n", 14, "line 1"},	 {"A\tB=s3cret", 10, "line 1"},
	    {"A=s3\0cret\n", 10, "line 1"},	 {"A=1\nB=s3cret\0", 13, "line 2"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *fixture = *state;

		assert_int_equal(add_lines(fixture, rows[i].text, rows[i].size),
				 HUSK_E_INVALID);
		assert_string_equal(fixture->err.where, "--env-file");
		assert_non_null(strstr(fixture->err.message, "some.env"));
		assert_non_null(strstr(fixture->err.message, rows[i].line));
		assert_null(strstr(fixture->err.message, "s3"));
	}
}

static void test_files_refused(void **state)
{
	static const char *const paths[] = {"", "no/such/file", ".", "/dev/zero"};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const struct cli_environment_file *file = NULL;

		assert_int_equal(cli_environment_add_file(&fixture->environment,
							  &fixture->kept, paths[i], "x",
							  "y", &fixture->err),
				 0);
		assert_int_equal(cli_environment_read(&fixture->environment,
						      &fixture->kept, NULL, &file,
						      &fixture->err),
				 HUSK_E_INVALID);
		assert_string_equal(fixture->err.where, "--env-file");
		assert_string_equal(file->key, "y");
		assert_null(fixture->environment.files);
	}
	assert_int_equal(fixture->environment.count, 0);
}

/* What a box may have written asks for none of the caller's variables. */
static void test_foreign_lines(void **state)
{
	struct fixture *fixture = *state;
	char good[] = "A=1\n# HOME\n", bad[] = "A=1\nHOME\n";

	assert_int_equal(cli_environment_add_lines(&fixture->environment, &fixture->kept,
						   "x", good, sizeof(good) - 1, true,
						   &fixture->err),
			 0);
	assert_int_equal(cli_environment_add_lines(&fixture->environment, &fixture->kept,
						   "x", bad, sizeof(bad) - 1, true,
						   &fixture->err),
			 HUSK_E_INVALID);
	assert_non_null(strstr(fixture->err.message, "line 2"));
	assert_non_null(strstr(fixture->err.hint, "-e NAME"));
}

/* Files are read last, and hold as if they had been read where they were given. */
static void test_files_of_layers(void **state)
{
	const char *want[] = {"A=high", "B=given", "C=low", NULL};
	char low[] = "/tmp/husk-test-XXXXXX", high[] = "/tmp/husk-test-XXXXXX";
	struct fixture *fixture = *state;
	struct cli_environment *environment = &fixture->environment;
	const struct cli_environment_file *file = NULL;
	int fd = mkstemp(low);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "A=low\nB=low\nC=low\n", 18), 18);
	(void)close(fd);
	fd = mkstemp(high);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "A=high\nB=high\n", 14), 14);
	(void)close(fd);
	for (int round = 0; round < 2; round++) {
		environment->layer = 1;
		assert_int_equal(cli_environment_add_file(environment, &fixture->kept,
							  low, NULL, NULL, &fixture->err),
				 0);
		assert_int_equal(add(fixture, "A=below"), 0);
		environment->layer = 2;
		assert_int_equal(add(fixture, "B=given"), 0);
		assert_int_equal(cli_environment_add_file(environment, &fixture->kept,
							  high, NULL, NULL,
							  &fixture->err),
				 0);
		if (round == 1)
			cli_environment_clear_below(environment);
		assert_int_equal(cli_environment_read(environment, &fixture->kept, NULL,
						      &file, &fixture->err),
				 0);
		assert_int_equal(environment->layer, 2);
		assert_variables(fixture, want);
		want[2] = NULL;
		environment->count = 0;
	}
	assert_int_equal(unlink(low), 0);
	assert_int_equal(unlink(high), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_none),
	    TEST(test_given),
	    TEST(test_names_refused),
	    TEST(test_copied),
	    TEST(test_value_is_blanked),
	    TEST(test_precedence),
	    TEST(test_many),
	    TEST(test_lines),
	    TEST(test_nothing_in_a_file),
	    TEST(test_broken_lines),
	    TEST(test_files_refused),
	    TEST(test_foreign_lines),
	    TEST(test_files_of_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
