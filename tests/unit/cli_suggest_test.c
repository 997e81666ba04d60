/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions: slips find their name, anything else finds nothing. */
#include "cli/suggest.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static const char *const names[] = {"code", "cpus",    "doctor",  "env",      "env-file",
				    "help", "memory",  "network", "run",      "timeout",
				    "user", "version", "workdir", "workspace"};

static const char *nearest(const char *input)
{
	struct cli_suggestion suggestion = {.input = input};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cli_suggestion_offer(&suggestion, names[i]);
	return suggestion.best;
}

static void test_slips(void **state)
{
	static const struct {
		const char *typed, *meant;
	} rows[] = {
	    {"rnu", "run"},	   {"runn", "run"},	     {"ru", "run"},
	    {"RUN", "run"},	   {"cod", "code"},	     {"memroy", "memory"},
	    {"memmory", "memory"}, {"Memory", "memory"},     {"doc", "doctor"},
	    {"ver", "version"},	   {"env_file", "env-file"}, {"envfile", "env-file"},
	    {"timout", "timeout"}, {"netwrok", "network"},   {"worspace", "workspace"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *best = nearest(rows[i].typed);

		assert_non_null(best);
		assert_string_equal(best, rows[i].meant);
	}
}

static void test_nothing_silly(void **state)
{
	static const char *const rows[] = {
	    "",
	    "r",
	    "x",
	    "it",
	    "exec",
	    "start",
	    "docker",
	    "tty",
	    "publish",
	    "rm",
	    "zzzzzz",
	    "a-name-that-is-much-longer-than-any-name-that-there-is-in-the-table",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_null(nearest(rows[i]));
}

/* The nearer one wins, whatever the order. */
static void test_nearest_wins(void **state)
{
	struct cli_suggestion near = {.input = "worksapce"}, far = {.input = "worksapce"};

	(void)state;
	cli_suggestion_offer(&near, "workspaces");
	cli_suggestion_offer(&near, "workspace");
	cli_suggestion_offer(&far, "workspace");
	cli_suggestion_offer(&far, "workspaces");
	assert_string_equal(near.best, "workspace");
	assert_string_equal(far.best, "workspace");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_slips),
	    cmocka_unit_test(test_nothing_silly),
	    cmocka_unit_test(test_nearest_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
