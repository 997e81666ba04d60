/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of commands and options: in order and complete. */
#include "cli/options.h"
#include "cli/verbs.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
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

		assert_true((option->verbs & CLI_VERB_ALL) != 0);
		assert_true((option->verbs & ~(CLI_VERB_ALL | CLI_OPTION_IN_FILES)) == 0);
		assert_non_null(option->set);
		assert_true(strlen(option->help) > 5 && strlen(option->help) < 400);
		assert_int_not_equal(option->help[strlen(option->help) - 1], '.');
		/* A choice takes a value; of the flags, one may. */
		if (option->words && !option->argument)
			assert_string_equal(option->name, "explain");
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

/* The rows of one level; *all: the bits that were seen. */
static void assert_verbs(const struct cli_verb *verbs, size_t count, unsigned *all)
{
	for (size_t i = 0; i < count; i++) {
		const struct cli_verb *below;
		size_t below_count;

		if (i > 0)
			assert_true(strcmp(verbs[i - 1].name, verbs[i].name) < 0);
		assert_int_equal(verbs[i].bit & (verbs[i].bit - 1), 0);
		assert_int_equal(*all & verbs[i].bit, 0);
		*all |= verbs[i].bit;
		assert_non_null(verbs[i].usage);
		assert_non_null(verbs[i].summary);
		assert_non_null(strstr(verbs[i].status, "125  "));
		assert_non_null(strstr(verbs[i].example, verbs[i].name));
		assert_non_null(verbs[i].run);
		if (!verbs[i].below)
			continue;
		below = verbs[i].below(&below_count);
		assert_verbs(below, below_count, all);
	}
}

static void test_verbs_are_sorted_and_complete(void **state)
{
	size_t count;
	const struct cli_verb *verbs = cli_verbs(&count);
	unsigned all = 0;

	(void)state;
	assert_verbs(verbs, count, &all);
	assert_int_equal(all, CLI_VERB_ALL);
	for (size_t i = 0; i < count; i++) {
		const struct cli_verb *found = NULL;
		struct husk_error err = {0};

		assert_int_equal(cli_verb_find(verbs[i].name, &found, &err), 0);
		assert_ptr_equal(found, &verbs[i]);
	}
}

static int find_words(const char *first, const char *second, const struct cli_verb **verb,
		      size_t *used, struct husk_error *err)
{
	char one[32], two[32];
	char *words[] = {one, second ? two : NULL, NULL};

	(void)snprintf(one, sizeof(one), "%s", first);
	(void)snprintf(two, sizeof(two), "%s", second ? second : "");
	memset(err, 0, sizeof(*err));
	return cli_verb_find_words(words, verb, used, err);
}

static void test_verbs_of_two_words(void **state)
{
	const struct cli_verb *verb = NULL;
	struct husk_error err;
	size_t used = 0;

	(void)state;
	assert_int_equal(find_words("image", "ls", &verb, &used, &err), 0);
	assert_string_equal(verb->name, "image ls");
	assert_int_equal(used, 2);
	assert_int_equal(find_words("run", "ls", &verb, &used, &err), 0);
	assert_string_equal(verb->name, "run");
	assert_int_equal(used, 1);
	assert_int_equal(find_words("image", NULL, &verb, &used, &err), 0);
	assert_string_equal(verb->name, "image");
	assert_int_equal(find_words("image", "--help", &verb, &used, &err), 0);
	assert_int_equal(used, 1);
	assert_int_equal(find_words("image", "improt", &verb, &used, &err),
			 HUSK_E_INVALID);
	assert_string_equal(verb->name, "image");
	assert_string_equal(err.where, "improt");
	assert_string_equal(err.message, "husk image has no such command");
	assert_string_equal(err.hint, "did you mean import?");
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
	    cmocka_unit_test(test_verbs_of_two_words),
	    cmocka_unit_test(test_unknown_verb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
