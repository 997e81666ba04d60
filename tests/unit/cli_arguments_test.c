/* SPDX-License-Identifier: Apache-2.0 */
/* Taking command lines apart. */
#include "cli/arguments.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORDS = 8, MAX_SIZE = 160 };

/* A command line that can be written to, as main() gets it, and what came of it. */
struct line {
	char text[MAX_WORDS][MAX_SIZE];
	char *words[MAX_WORDS + 1];
	struct cli_settings settings;
	struct husk_error err;
	size_t count;
	int result;
};

static void parse(struct line *line, const char *verb_name, const char *const *words)
{
	const struct cli_verb *verb = NULL;
	size_t i;

	memset(line, 0, sizeof(*line));
	for (i = 0; words[i]; i++) {
		assert_true(i < MAX_WORDS && strlen(words[i]) < MAX_SIZE);
		(void)snprintf(line->text[i], MAX_SIZE, "%s", words[i]);
		line->words[i] = line->text[i];
	}
	assert_int_equal(cli_verb_find(verb_name, &verb, &line->err), 0);
	cli_settings_init(&line->settings);
	line->result = cli_arguments_parse(verb, &line->settings, line->words,
					   &line->count, &line->err);
}

#define PARSE(line, verb, ...) parse(line, verb, (const char *const[]){__VA_ARGS__, NULL})

static void done(struct line *line)
{
	cli_settings_deinit(&line->settings);
}

/* The words that are no options. */
static void assert_words(struct line *line, const char *const *want)
{
	size_t i;

	assert_int_equal(line->result, 0);
	for (i = 0; want[i]; i++) {
		assert_non_null(line->words[i]);
		assert_string_equal(line->words[i], want[i]);
	}
	assert_null(line->words[i]);
	assert_int_equal(line->count, i);
}

#define ASSERT_WORDS(line, ...) \
	assert_words(line, (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static void test_forms_of_one_option(void **state)
{
	static const char *const forms[][4] = {
	    {"--workdir", "/w", "ls"}, {"--workdir=/w", "ls"},
	    {"-w", "/w", "ls"},	       {"-w/w", "ls"},
	    {"-w=/w", "ls"},
	};
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		parse(&line, "run", forms[i]);
		ASSERT_WORDS(&line, "ls");
		assert_string_equal(line.settings.box.workdir, "/w");
		done(&line);
	}
}

/* What follows the program belongs to it. */
static void test_program_ends_options(void **state)
{
	struct line line;

	(void)state;
	PARSE(&line, "run", "--json", "ls", "--json", "-l", "--", "--help");
	ASSERT_WORDS(&line, "ls", "--json", "-l", "--", "--help");
	assert_int_equal(line.settings.json, 1);
	assert_int_equal(line.settings.help, 0);
	done(&line);
	PARSE(&line, "run", "--", "--json");
	ASSERT_WORDS(&line, "--json");
	assert_int_equal(line.settings.json, 0);
	done(&line);
	PARSE(&line, "run", "--", "--", "-x");
	ASSERT_WORDS(&line, "--", "-x");
	done(&line);
	PARSE(&line, "run", "-", "--json");
	ASSERT_WORDS(&line, "-", "--json");
	done(&line);
	PARSE(&line, "run", "", "--json");
	ASSERT_WORDS(&line, "", "--json");
	done(&line);
}

/* A command that runs no program takes options on both sides of its argument. */
static void test_options_behind_a_file(void **state)
{
	struct line line;

	(void)state;
	PARSE(&line, "code", "x.py", "--language", "bash", "--json");
	ASSERT_WORDS(&line, "x.py");
	assert_non_null(line.settings.language);
	assert_int_equal(line.settings.json, 1);
	done(&line);
	PARSE(&line, "code", "--json", "--", "--language");
	ASSERT_WORDS(&line, "--language");
	done(&line);
	PARSE(&line, "code", "-c", "");
	ASSERT_WORDS(&line);
	assert_string_equal(line.settings.code, "");
	done(&line);
	PARSE(&line, "code", "-c", "-x", "--json");
	ASSERT_WORDS(&line);
	assert_string_equal(line.settings.code, "-x");
	assert_int_equal(line.settings.json, 1);
	done(&line);
}

static void test_bundles(void **state)
{
	struct line line;

	(void)state;
	PARSE(&line, "run", "-ie", "A=1", "-iw/w", "ls");
	ASSERT_WORDS(&line, "ls");
	assert_int_equal(line.settings.stdin_open, 1);
	assert_int_equal(line.settings.environment.count, 1);
	assert_string_equal(line.settings.box.workdir, "/w");
	done(&line);
	PARSE(&line, "run", "-ih", "ls");
	assert_int_equal(line.result, 0);
	assert_int_equal(line.settings.help, 1);
	done(&line);
}

/* Of an option that is given twice the later holds; those that add, add. */
static void test_repeated(void **state)
{
	struct line line;

	(void)state;
	PARSE(&line, "run", "--pids=5", "--pids=7", "-e", "A=1", "--env=A=2", "-v/a:/b",
	      "ls");
	ASSERT_WORDS(&line, "ls");
	assert_int_equal(line.settings.box.pids, 7);
	assert_int_equal(line.settings.environment.count, 2);
	assert_int_equal(line.settings.mount_count, 1);
	done(&line);
}

/* --help is an answer to whatever follows it. */
static void test_help_wins(void **state)
{
	struct line line;

	(void)state;
	PARSE(&line, "run", "--help", "--no-such", "--memory");
	assert_int_equal(line.result, 0);
	assert_int_equal(line.settings.help, 1);
	done(&line);
	PARSE(&line, "version", "x", "y", "-h");
	assert_int_equal(line.result, 0);
	assert_int_equal(line.settings.help, 1);
	done(&line);
}

static void test_refused(void **state)
{
	static const struct {
		const char *verb;
		const char *words[4];
		const char *where, *message, *hint;
	} rows[] = {
	    {"run", {"--memry", "5m"}, "--memry", "no such option", "--memory"},
	    {"run", {"--memry=5m"}, "--memry", "no such option", "--memory"},
	    {"run", {"--zzz"}, "--zzz", "no such option", ""},
	    {"run", {"--=x"}, "--", "no such option", ""},
	    {"run", {"-json"}, "-json", "no such option", "--json"},
	    {"run", {"-k"}, "-k", "no such option", ""},
	    {"run", {"-ik"}, "-k", "no such option", ""},
	    {"run", {"--language", "bash"}, "--language", "husk run", ""},
	    {"run", {"-c", "x"}, "-c", "husk run", ""},
	    {"doctor", {"--memory=5m"}, "--memory", "husk doctor", ""},
	    {"run", {"--json=1"}, "--json", "no value", ""},
	    {"run", {"--json="}, "--json", "no value", ""},
	    {"run", {"--memory"}, "--memory", "SIZE", ""},
	    {"run", {"-iw"}, "-w", "DIR", ""},
	    {"run", {"--memory="}, "--memory", "(empty)", ""},
	    {"run", {"--mem", "5m"}, "--mem", "no such option", "--memory"},
	    {"version", {"x"}, "x", "no arguments", ""},
	    {"help", {"image", "ls", "x"}, "x", "two arguments", ""},
	    {"pull", {"a", "b"}, "b", "one argument", ""},
	    {"run", {"--platform", "linux/arm64"}, "--platform", "husk run", ""},
	    {"code", {"a.py", "b.py"}, "b.py", "one argument", ""},
	};
	struct line line;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		parse(&line, rows[i].verb, rows[i].words);
		assert_int_equal(line.result, HUSK_E_INVALID);
		assert_string_equal(line.err.where, rows[i].where);
		assert_non_null(strstr(line.err.message, rows[i].message));
		assert_non_null(strstr(line.err.hint, rows[i].hint));
		if (rows[i].hint[0] == '\0')
			assert_string_equal(line.err.hint, "");
		done(&line);
	}
}

/* A word that is longer than an error can hold is cut. */
static void test_long_word(void **state)
{
	char word[MAX_SIZE];
	struct line line;

	(void)state;
	memset(word, 'x', sizeof(word));
	word[0] = word[1] = '-';
	word[sizeof(word) - 1] = '\0';
	PARSE(&line, "run", word, "ls");
	assert_int_equal(line.result, HUSK_E_INVALID);
	assert_int_equal(strlen(line.err.where), sizeof(line.err.where) - 1);
	assert_memory_equal(line.err.where, word, sizeof(line.err.where) - 1);
	done(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_forms_of_one_option),
	    cmocka_unit_test(test_program_ends_options),
	    cmocka_unit_test(test_options_behind_a_file),
	    cmocka_unit_test(test_bundles),
	    cmocka_unit_test(test_repeated),
	    cmocka_unit_test(test_help_wins),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_long_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
