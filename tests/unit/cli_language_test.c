/* SPDX-License-Identifier: Apache-2.0 */
/* The language of a piece of code. */
#include "cli/language.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_names(void **state)
{
	static const struct {
		const char *name, *program, *flag;
	} rows[] = {
	    {"bash", "bash", "-c"}, {"node", "node", "-e"}, {"python", "python3", "-c"}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct cli_language *language = NULL;
		struct husk_error err = {0};

		assert_int_equal(cli_language_find(rows[i].name, &language, &err), 0);
		assert_string_equal(language->name, rows[i].name);
		assert_string_equal(language->program, rows[i].program);
		assert_string_equal(language->flag, rows[i].flag);
	}
}

static void test_names_refused(void **state)
{
	static const char *const rows[] = {"", "Python", "python3", "perl", "sh"};
	const struct cli_language *language = NULL;
	struct husk_error err = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(cli_language_find(rows[i], &language, &err),
				 HUSK_E_INVALID);
	assert_int_equal(cli_language_find("pyhton", &language, &err), HUSK_E_INVALID);
	assert_non_null(strstr(err.hint, "python"));
}

/* Path, code, language. */
static void test_guesses(void **state)
{
	static const struct {
		const char *path, *code, *name;
	} rows[] = {
	    {NULL, "", "python"},
	    {NULL, "#", "python"},
	    {"x", "print(1)", "python"},
	    {"x.py", "", "python"},
	    {"x.sh", "", "bash"},
	    {"x.bash", "", "bash"},
	    {"x.js", "", "node"},
	    {"x.mjs", "", "node"},
	    {"x.cjs", "", "node"},
	    {"x.txt", "", "python"},
	    {"dir.sh/x", "", "python"},
	    {".sh", "", "bash"},
	    {"a.py.sh", "", "bash"},
	    /* the ending says more than the first line */
	    {"x.py", "#!/bin/sh\n", "python"},
	    {"x", "#!/bin/sh\n", "bash"},
	    {"x", "#!/bin/sh", "bash"},
	    {"x", "#! /bin/bash -eu\r\n", "bash"},
	    {"x", "#!/usr/bin/env node\n", "node"},
	    {"x", "#!/usr/bin/env -S A=1 /opt/bin/python3.12 -u\n", "python"},
	    {"x", "#!/usr/bin/python\n", "python"},
	    {"x", "#!/usr/bin/python3\n", "python"},
	    {"x", "#!/usr/bin/nodejs\n", "node"},
	    {"x", "\xef\xbb\xbf#!/bin/sh\n", "bash"},
	    {NULL, "#!/bin/dash\n", "bash"},
	    /* a mark that is not at the start is none */
	    {"x", "\n#!/bin/sh\n", "python"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct cli_language *language = NULL;
		struct husk_error err = {0};

		assert_int_equal(cli_language_guess(rows[i].path, rows[i].code,
						    strlen(rows[i].code), &language,
						    &err),
				 0);
		assert_string_equal(language->name, rows[i].name);
	}
}

/* A file that says what it is for is not run as something else. */
static void test_other_interpreters(void **state)
{
	static const char *const rows[] = {
	    "#!/usr/bin/perl\n",      "#!/usr/bin/env ruby\n", "#!/usr/bin/env\n", "#!\n",
	    "#!/usr/bin/pythonish\n", "#!/usr/bin/env -S\n"};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct cli_language *language = NULL;
		struct husk_error err = {0};

		assert_int_equal(
		    cli_language_guess("tool", rows[i], strlen(rows[i]), &language, &err),
		    HUSK_E_INVALID);
		assert_string_equal(err.where, "tool");
		assert_non_null(strstr(err.hint, "--language"));
	}
}

/* Only as much of the code is looked at as there is. */
static void test_cut_code(void **state)
{
	const struct cli_language *language = NULL;
	struct husk_error err = {0};

	(void)state;
	assert_int_equal(cli_language_guess("x", "#!/bin/shell", 9, &language, &err), 0);
	assert_string_equal(language->name, "bash");
	assert_int_equal(cli_language_guess("x", "#!/bin/sh", 1, &language, &err), 0);
	assert_string_equal(language->name, "python");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),    cmocka_unit_test(test_names_refused),
	    cmocka_unit_test(test_guesses),  cmocka_unit_test(test_other_interpreters),
	    cmocka_unit_test(test_cut_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
