/* SPDX-License-Identifier: Apache-2.0 */
/* Names of unknown origin in messages. */
#include "base/printable.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void steering_is_escaped(void **state)
{
	static const struct {
		const char *text;
		const char *want;
	} rows[] = {
	    {"", ""},
	    {"plain/name-1.txt", "plain/name-1.txt"},
	    {"a\nb\tc\rd\\e", "a\\nb\\tc\\rd\\\\e"},
	    {"\x1b]0;x\x07", "\\x1b]0;x\\x07"},
	    {"\x7f", "\\x7f"},
	    {"h\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x90\x9a",
	     "h\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x90\x9a"},
	    {"\xff\xfe", "\\xff\\xfe"},
	    {"\xc3", "\\xc3"}, /* cut short */
	    {"\xe6\x97", "\\xe6\\x97"},
	    {"\xc0\xaf", "\\xc0\\xaf"}, /* overlong */
	    {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
	    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},	  /* a surrogate */
	    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* past the last */
	    {"\xe2\x80\xae"
	     "gpj",
	     "\\xe2\\x80\\xaegpj"}, /* right to left */
	    {"\xc2\x9b"
	     "1m",
	     "\\xc2\\x9b1m"}, /* C1 */
	};
	char out[128];
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(printable(out, sizeof(out), rows[i].text),
				    rows[i].want);
}

static void what_does_not_fit_is_cut_at_a_character(void **state)
{
	char out[16];
	(void)state;

	assert_string_equal(printable(out, 8, "1234567"), "1234567");
	assert_string_equal(printable(out, 8, "12345678"), "1234...");
	assert_string_equal(printable(out, 8, "123\n5678"), "123...");
	assert_string_equal(printable(out, 8,
				      "123\xe6\x97\xa5"
				      "8901"),
			    "123...");
	assert_string_equal(printable(out, 8, "\xff\xff"), "\\xff...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(steering_is_escaped),
	    cmocka_unit_test(what_does_not_fit_is_cut_at_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
