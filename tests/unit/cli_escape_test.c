/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing that a terminal would act on gets through. */
#include "cli/escape.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_printed(const char *text, size_t size, unsigned flags,
			   const char *want)
{
	char out[256];

	assert_int_equal(cli_escape(out, sizeof(out), text, size, flags), strlen(want));
	assert_string_equal(out, want);
}

static void test_passed(void **state)
{
	static const char *const texts[] = {
	    "",
	    "plain text, 100% of it: ~!@#",
	    "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xb3 \xc2\xa0",
	    "\xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_printed(texts[i], strlen(texts[i]), 0, texts[i]);
}

static void test_controls(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
	    {"\x1b]0;pwn\x07", "\\x1b]0;pwn\\x07"},
	    {"a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd"},
	    {"\x7f", "\\x7f"},
	    {"\xc2\x9b"
	     "31m",
	     "\\xc2\\x9b31m"},
	    {"\xe2\x80\xaetxt", "\\xe2\\x80\\xaetxt"},
	    {"\xe2\x81\xa6x", "\\xe2\\x81\\xa6x"},
	    {"\xe2\x80\xa8x", "\\xe2\\x80\\xa8x"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_printed(rows[i].text, strlen(rows[i].text), 0, rows[i].want);
	assert_printed("a\0b", 3, 0, "a\\x00b");
}

static void test_not_utf8(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
	    {"\xff", "\\xff"}, /* no such byte */
	    {"\x9b"
	     "31m",
	     "\\x9b31m"},			 /* C1 in one byte */
	    {"\xc3", "\\xc3"},			 /* cut */
	    {"\xc3(", "\\xc3("},		 /* no continuation */
	    {"\xe2\x82", "\\xe2\\x82"},		 /* cut */
	    {"\xc0\x9b", "\\xc0\\x9b"},		 /* overlong ESC */
	    {"\xe0\x80\x9b", "\\xe0\\x80\\x9b"}, /* overlong ESC */
	    {"\xf0\x80\x80\x9b", "\\xf0\\x80\\x80\\x9b"},
	    {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* surrogate */
	    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_printed(rows[i].text, strlen(rows[i].text), 0, rows[i].want);
}

static void test_flags(void **state)
{
	(void)state;
	assert_printed("a\\x1b", 5, 0, "a\\x1b");
	assert_printed("a\\x1b", 5, CLI_ESCAPE_EXACT, "a\\\\x1b");
	assert_printed("a\n\tb\r", 5, CLI_ESCAPE_LINES, "a\n\tb\\x0d");
}

/* Whatever two bytes come: what is printed is ASCII without controls, or whole UTF-8. */
static void test_every_pair(void **state)
{
	(void)state;
	for (unsigned pair = 0; pair < 0x10000; pair++) {
		char text[2] = {(char)(pair >> 8), (char)pair}, out[16];
		size_t size = cli_escape(out, sizeof(out), text, 2, 0);
		bool character = size == 2 && memcmp(out, text, 2) == 0 &&
				 (unsigned char)text[0] >= 0xc2;

		assert_true(size >= 2 && size <= 8);
		for (size_t i = 0; i < size && !character; i++)
			assert_in_range((unsigned char)out[i], 0x20, 0x7e);
	}
}

/* What does not fit is cut between two characters, and nothing is written behind. */
static void test_cut(void **state)
{
	static const char text[] = "ab\x1b\xc3\xa9z";
	static const struct {
		size_t capacity;
		const char *want;
	} rows[] = {
	    {1, ""},
	    {2, "a"},
	    {3, "ab"},
	    {6, "ab"},
	    {7, "ab\\x1b"},
	    {8, "ab\\x1b"},
	    {9, "ab\\x1b\xc3\xa9"},
	    {10, "ab\\x1b\xc3\xa9z"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char out[16];

		memset(out, '#', sizeof(out));
		assert_int_equal(
		    cli_escape(out, rows[i].capacity, text, sizeof(text) - 1, 0),
		    strlen(rows[i].want));
		assert_string_equal(out, rows[i].want);
		for (size_t j = rows[i].capacity; j < sizeof(out); j++)
			assert_int_equal(out[j], '#');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_passed),     cmocka_unit_test(test_controls),
	    cmocka_unit_test(test_not_utf8),   cmocka_unit_test(test_flags),
	    cmocka_unit_test(test_every_pair), cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
