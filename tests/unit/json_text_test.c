/* SPDX-License-Identifier: Apache-2.0 */
/* JSON written by hand must be what jansson writes, and what it reads back. */
#include "base/json_text.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What jansson makes of the same bytes, those that are not UTF-8 replaced before. */
static void check_text(const char *data, size_t size)
{
	struct buffer mine = BUFFER_INIT(1 << 24), text = BUFFER_INIT(1 << 24);
	json_t *value, *back;
	char *theirs;

	assert_int_equal(json_text_add(&mine, data, size), 0);
	assert_int_equal(utf8_replace(&text, data, size), 0);
	value = json_stringn(text.data ? text.data : "", text.size);
	assert_non_null(value);
	theirs = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	assert_non_null(theirs);
	assert_string_equal(mine.data, theirs);
	assert_int_equal(mine.size, strlen(theirs));
	back = json_loads(mine.data, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	assert_non_null(back);
	assert_int_equal(json_string_length(back), text.size);
	json_decref(back);
	json_decref(value);
	free(theirs);
	buffer_deinit(&mine);
	buffer_deinit(&text);
}

static void every_byte_alone(void **state)
{
	(void)state;

	check_text("", 0);
	for (int c = 0; c < 256; c++) {
		char byte = (char)c;

		check_text(&byte, 1);
	}
}

/* Sequences of all lengths, whole and cut, at every place around the end of a step. */
static void sequences_at_the_end_of_a_step(void **state)
{
	static const char *const parts[] = {
	    "\xc3\xa9",	    "\xe2\x82\xac", "\xf0\x9f\x90\x9a",
	    "\xf0\x9f\x90", "\xe2\x82",	    "\xed\xa0\x80",
	    "\xff",	    "\n",
	};
	static char data[8192 + 64];
	(void)state;

	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
		for (size_t at = 8192 - 5; at < 8192 + 2; at++) {
			memset(data, 'x', sizeof(data));
			memcpy(data + at, parts[p], strlen(parts[p]));
			check_text(data, sizeof(data));
			check_text(data, at + strlen(parts[p]));
		}
	}
}

static void any_bytes(void **state)
{
	static char data[20000];
	unsigned int seed = 4711;
	(void)state;

	for (int round = 0; round < 200; round++) {
		size_t size = (size_t)rand_r(&seed) % sizeof(data);
		int kind = round % 3;

		for (size_t i = 0; i < size; i++) {
			int byte = rand_r(&seed) >> 4;

			data[i] = (char)(kind == 0   ? byte & 255
					 : kind == 1 ? byte & 31
						     : 0x80 | (byte & 127));
		}
		check_text(data, size);
	}
}

static void members_are_separated(void **state)
{
	struct buffer text = BUFFER_INIT(100);
	(void)state;

	assert_int_equal(buffer_add(&text, "{", 1), 0);
	assert_int_equal(json_text_key(&text, "a"), 0);
	assert_int_equal(buffer_add_text(&text, "{"), 0);
	assert_int_equal(json_text_key(&text, "b\""), 0);
	assert_int_equal(buffer_add_text(&text, "1}"), 0);
	assert_int_equal(json_text_key(&text, "c"), 0);
	assert_string_equal(text.data, "{\"a\":{\"b\\\"\":1},\"c\":");
	buffer_deinit(&text);
}

static void what_does_not_fit_is_an_error(void **state)
{
	struct buffer text = BUFFER_INIT(40);
	(void)state;

	assert_int_equal(
	    json_text_add(&text, "0123456789012345678901234567890123456789", 40),
	    -ENOMEM);
	buffer_deinit(&text);
}

/* Bytes that are not UTF-8 at every place of the words that are looked at eight bytes at
 * a time. */
static void validity_at_every_place(void **state)
{
	char data[40];
	(void)state;

	for (size_t at = 0; at < sizeof(data); at++) {
		memset(data, 'x', sizeof(data));
		assert_true(utf8_valid(data, sizeof(data)));
		data[at] = '\x80';
		assert_false(utf8_valid(data, sizeof(data)));
		data[at] = '\xc3';
		assert_false(utf8_valid(data, sizeof(data)));
		if (at + 1 < sizeof(data)) {
			data[at + 1] = '\xa9';
			assert_true(utf8_valid(data, sizeof(data)));
		}
	}
}

int main(void)
{
	const struct CMUnitTest json_text[] = {
	    cmocka_unit_test(every_byte_alone),
	    cmocka_unit_test(sequences_at_the_end_of_a_step),
	    cmocka_unit_test(any_bytes),
	    cmocka_unit_test(members_are_separated),
	    cmocka_unit_test(what_does_not_fit_is_an_error),
	    cmocka_unit_test(validity_at_every_place),
	};

	return cmocka_run_group_tests(json_text, NULL, NULL);
}
