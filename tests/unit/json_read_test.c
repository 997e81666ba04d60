/* SPDX-License-Identifier: Apache-2.0 */
/* JSON is read as jansson reads it, and without memory not at all: never as another
 * document. */
#include "base/json_read.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static long allocation; /* how many there were */
static long fail_at;	/* that one fails; 0: none */

static void *failing_malloc(size_t size)
{
	if (++allocation == fail_at) {
		errno = ENOMEM;
		return NULL;
	}
	return malloc(size);
}

static json_t *read_text(const char *text, size_t flags, int code)
{
	json_t *json = NULL;

	assert_int_equal(json_read(text, strlen(text), flags, &json, NULL), code);
	assert_int_equal(code == 0, json != NULL);
	return json;
}

static void what_jansson_takes_is_taken(void **state)
{
	static const char *const rows[] = {
	    "{}",
	    "[]",
	    " [ ] ",
	    "{\"a\":[1,2.5,true,null,\"x\\\"]}[{\"]}",
	    "[\"\\\\\",\"\\\"\"]",
	    "{\"a\":1,\"a\":2}",
	    "[123456789012345678]",
	    "[\"\xc3\xa9\"]",
	};
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *mine = read_text(rows[i], 0, 0);
		json_t *theirs = json_loads(rows[i], 0, NULL);

		assert_true(json_equal(mine, theirs));
		json_decref(mine);
		json_decref(theirs);
	}
	json_decref(read_text("\"alone\"", JSON_DECODE_ANY, 0));
}

/* With jansson's own words, and what would be whole only in the frame is not. */
static void what_jansson_refuses_is_refused(void **state)
{
	static const char *const rows[] = {
	    "",
	    " ",
	    "{",
	    "1",
	    "\"alone\"",
	    "{}{}",
	    "{},{}",
	    "],[",
	    "],[]",
	    "1],[2",
	    "{\"a\":1,\"a\":2}",
	    "\"",
	    "\"\\",
	    "[\"\\u0000\"]",
	    "{} x",
	    "[1,]",
	};
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_error_t mine, theirs;
		json_t *json = NULL;

		assert_int_equal(json_read(rows[i], strlen(rows[i]),
					   JSON_REJECT_DUPLICATES, &json, &mine),
				 -EINVAL);
		assert_null(json);
		assert_null(json_loads(rows[i], JSON_REJECT_DUPLICATES, &theirs));
		assert_string_equal(mine.text, theirs.text);
		assert_int_equal(mine.line, theirs.line);
	}
}

/* Every allocation of jansson fails once. */
static void without_memory_it_is_no_other_document(void **state)
{
	char text[3000], name[900];
	json_t *whole;
	(void)state;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	(void)snprintf(text, sizeof(text),
		       "{\"%s\":\"%.40s\",\"names\":[\"ptrace\",\"%s\"],\"n\":%.17s1}",
		       name, name, name, "22222222222222222");
	whole = json_loads(text, 0, NULL);
	assert_non_null(whole);
	json_set_alloc_funcs(failing_malloc, free);
	for (fail_at = 1;; fail_at++) {
		json_t *json = NULL;
		int rc;

		allocation = 0;
		rc = json_read(text, strlen(text), 0, &json, NULL);
		if (rc == 0)
			assert_true(json_equal(json, whole));
		else
			assert_int_equal(rc, -ENOMEM);
		json_decref(json);
		if (allocation < fail_at)
			break;
	}
	assert_true(fail_at > 20);
	fail_at = 0;
	json_set_alloc_funcs(malloc, free);
	json_decref(whole);
}

static void the_end_of_a_string(void **state)
{
	(void)state;
	assert_int_equal(json_string_end("\"ab\"", 4, 1), 3);
	assert_int_equal(json_string_end("\"a\\\"\"", 5, 1), 4);
	assert_int_equal(json_string_end("\"a\\", 3, 1), 3);
	assert_int_equal(json_string_end("\"a", 2, 1), 2);
	assert_int_equal(json_string_end("\"", 1, 1), 1);
}

int main(void)
{
	const struct CMUnitTest json_read_tests[] = {
	    cmocka_unit_test(what_jansson_takes_is_taken),
	    cmocka_unit_test(what_jansson_refuses_is_refused),
	    cmocka_unit_test(without_memory_it_is_no_other_document),
	    cmocka_unit_test(the_end_of_a_string),
	};

	return cmocka_run_group_tests(json_read_tests, NULL, NULL);
}
