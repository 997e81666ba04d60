/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of the command with each allocation failing once: what is read and printed is
 * whole, or it is told that there was no memory. */
#include "cli/config.h"
#include "cli/json_memory.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/failing_malloc.h"
#include "tests/unit/skipping.h"

#if !FAILING_MALLOC

/* A sanitizer has taken the place of malloc already. */
static void every_allocation_fails_once(void **state)
{
	(void)state;
	skip_because("a sanitizer has taken the place of malloc already");
}

#else

static const char text[] =
    "{\"defaults\": {\"memory\": \"123m\", \"pids\": 123, \"image\": "
    "\"registry.example/abcdefghijklmnopqrstuvwxyz\"}, \"ceilings\": {\"memory\": "
    "\"1000000000\", \"network\": \"none\", \"images\": [\"host\"]}}";

static void read_and_print(const char *whole)
{
	json_t *value = NULL, *more;
	char *printed = NULL;
	int r;

	cli_json_forget();
	failing = true;
	r = cli_json_read(text, strlen(text), 0, &value, NULL);
	if (r == 0) {
		more = json_pack("{s:s, s:i}", "one", "a", "two", 2);
		(void)json_object_set_new(value, "more", more);
		printed = cli_json_dump(value, JSON_COMPACT);
	}
	failing = false;
	if (r < 0)
		assert_int_equal(r, -ENOMEM);
	else if (printed)
		assert_string_equal(printed, whole);
	else
		assert_true(allocation >= fail_at);
	json_decref(value);
	free(printed);
}

static void configure(void)
{
	struct cli_config_file file = {
	    .path = "input", .kind = CLI_CONFIG_ADMIN, .size = strlen(text)};
	struct husk_error err = {0};
	int r;

	file.text = strdup(text);
	cli_json_forget();
	failing = true;
	r = cli_config_parse(&file, &err);
	failing = false;
	if (allocation < fail_at)
		assert_int_equal(r, 0);
	if (r < 0)
		assert_string_equal(err.message, "out of memory");
	json_decref(file.root);
	free(file.text);
}

static void every_allocation_fails_once(void **state)
{
	json_t *value = NULL;
	char *whole;
	(void)state;

	cli_json_watch();
	assert_int_equal(cli_json_read(text, strlen(text), 0, &value, NULL), 0);
	assert_int_equal(
	    json_object_set_new(value, "more",
				json_pack("{s:s, s:i}", "one", "a", "two", 2)),
	    0);
	whole = cli_json_dump(value, JSON_COMPACT);
	assert_non_null(whole);
	for (fail_at = 1;; fail_at++) {
		allocation = 0;
		read_and_print(whole);
		if (allocation < fail_at)
			break;
	}
	assert_true(fail_at > 30);
	for (fail_at = 1;; fail_at++) {
		allocation = 0;
		configure();
		if (allocation < fail_at)
			break;
	}
	free(whole);
	json_decref(value);
}

#endif

int main(void)
{
	const struct CMUnitTest json_memory[] = {
	    cmocka_unit_test(every_allocation_fails_once),
	};

	return cmocka_run_group_tests(json_memory, NULL, NULL);
}
