/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of commands and options: in order and complete. */
#include "cli/options.h"
#include "cli/verbs.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void test_options_are_sorted(void **state)
{
	size_t count;
	const struct cli_option *options = cli_options(&count);

	(void)state;
	assert_true(count > 20);
	for (size_t i = 1; i < count; i++)
		assert_true(strcmp(options[i - 1].name, options[i].name) < 0);
}

static void test_options_are_complete(void **state)
{
	size_t count;
	const struct cli_option *options = cli_options(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const struct cli_option *option = &options[i];

		assert_true(option->verbs != 0 && (option->verbs & ~CLI_VERB_ALL) == 0);
		assert_non_null(option->set);
		assert_true(strlen(option->help) > 5 && strlen(option->help) < 400);
		assert_int_not_equal(option->help[strlen(option->help) - 1], '.');
		/* A choice names its words in its help, and takes a value. */
		if (option->words)
			assert_non_null(option->argument);
		if (option->standard)
			assert_non_null(option->argument);
		assert_ptr_equal(cli_option_by_name(option->name, strlen(option->name)),
				 option);
		if (option->letter)
			assert_ptr_equal(cli_option_by_letter(option->letter), option);
	}
	assert_null(cli_option_by_letter('\0'));
	assert_null(cli_option_by_letter('?'));
	assert_null(cli_option_by_name("env-file", 4));
	assert_null(cli_option_by_name("memory", 0));
}

static void test_verbs_are_sorted_and_complete(void **state)
{
	size_t count;
	const struct cli_verb *verbs = cli_verbs(&count);
	unsigned all = 0;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const struct cli_verb *found = NULL;
		struct husk_error err = {0};

		if (i > 0)
			assert_true(strcmp(verbs[i - 1].name, verbs[i].name) < 0);
		assert_int_equal(verbs[i].bit & (verbs[i].bit - 1), 0);
		assert_int_equal(all & verbs[i].bit, 0);
		all |= verbs[i].bit;
		assert_non_null(verbs[i].usage);
		assert_non_null(verbs[i].summary);
		assert_non_null(strstr(verbs[i].status, "125  "));
		assert_non_null(strstr(verbs[i].example, verbs[i].name));
		assert_non_null(verbs[i].run);
		assert_int_equal(cli_verb_find(verbs[i].name, &found, &err), 0);
		assert_ptr_equal(found, &verbs[i]);
	}
	assert_int_equal(all, CLI_VERB_ALL);
}

static void test_unknown_verb(void **state)
{
	const struct cli_verb *verb = NULL;
	struct husk_error err = {0};

	(void)state;
	assert_int_equal(cli_verb_find("docter", &verb, &err), HUSK_E_INVALID);
	assert_string_equal(err.where, "docter");
	assert_non_null(strstr(err.hint, "doctor"));
	assert_int_equal(cli_verb_find("frobnicate", &verb, &err), HUSK_E_INVALID);
	assert_string_equal(err.hint, "");
	assert_int_equal(cli_verb_find("", &verb, &err), HUSK_E_INVALID);
	assert_null(verb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options_are_sorted),
	    cmocka_unit_test(test_options_are_complete),
	    cmocka_unit_test(test_verbs_are_sorted_and_complete),
	    cmocka_unit_test(test_unknown_verb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
