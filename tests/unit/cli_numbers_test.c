/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the command line: what they mean, and that nothing odd passes for one. */
#include "cli/numbers.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What *ret holds before: it must not change on failure. */
static const uint64_t UNTOUCHED = 77;

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
	    {"1", 1},
	    {"4096", 4096},
	    {"007", 7},
	    {"3k", 3 << 10},
	    {"3K", 3 << 10},
	    {"512m", 512 << 20},
	    {"512M", 512 << 20},
	    {"2g", UINT64_C(2) << 30},
	    {"2G", UINT64_C(2) << 30},
	    {"8589934591g", UINT64_C(8589934591) << 30},
	    {"9223372036854775807", INT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t bytes = 0;

		assert_int_equal(cli_number_size(rows[i].text, &bytes), 0);
		assert_true(bytes == rows[i].bytes);
	}
}

static void test_sizes_refused(void **state)
{
	static const struct {
		const char *text;
		int error;
	} rows[] = {
	    {"", -EINVAL},
	    {"m", -EINVAL},
	    {"-1", -EINVAL},
	    {"+1", -EINVAL},
	    {" 1", -EINVAL},
	    {"1 ", -EINVAL},
	    {"512 m", -EINVAL},
	    {"512mb", -EINVAL},
	    {"512mm", -EINVAL},
	    {"1.5g", -EINVAL},
	    {"1e3", -EINVAL},
	    {"0x10", -EINVAL},
	    {"NaN", -EINVAL},
	    {"inf", -EINVAL},
	    {"none", -EINVAL},
	    {"1t", -EINVAL},
	    {"1,000", -EINVAL},
	    {"\xd9\xa1", -EINVAL},
	    {"1\n", -EINVAL},
	    {"0", -ERANGE},
	    {"000", -ERANGE},
	    {"0g", -ERANGE},
	    {"8589934592g", -ERANGE},
	    {"9223372036854775808", -ERANGE},
	    {"18446744073709551615", -ERANGE},
	    {"18446744073709551616", -ERANGE},
	    {"17179869184G", -ERANGE},
	    {"18014398509481985k", -ERANGE},
	    {"99999999999999999999", -ERANGE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t bytes = UNTOUCHED;

		assert_int_equal(cli_number_size(rows[i].text, &bytes), rows[i].error);
		assert_true(bytes == UNTOUCHED);
	}
}

static void test_milli(void **state)
{
	static const struct {
		const char *text;
		uint64_t milli;
	} rows[] = {
	    {"1", 1000},
	    {"30", 30000},
	    {"0.5", 500},
	    {".5", 500},
	    {"0.001", 1},
	    {"1.25", 1250},
	    {"2.000", 2000},
	    {"00.50", 500},
	    {"0.0019", 1},
	    {"1.23456", 1234},
	    {"1.99999999999999999999999999999999", 1999},
	    {"1000", 1000000},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t milli = 0;

		assert_int_equal(cli_number_milli(rows[i].text, 1000000, &milli), 0);
		assert_true(milli == rows[i].milli);
	}
}

static void test_milli_refused(void **state)
{
	static const struct {
		const char *text;
		int error;
	} rows[] = {
	    {"", -EINVAL},	 {".", -EINVAL},
	    {"5.", -EINVAL},	 {"-5", -EINVAL},
	    {"+5", -EINVAL},	 {" 5", -EINVAL},
	    {"5 ", -EINVAL},	 {"5s", -EINVAL},
	    {"1.2.3", -EINVAL},	 {"1,5", -EINVAL},
	    {"1e18", -EINVAL},	 {"1e-9", -EINVAL},
	    {"inf", -EINVAL},	 {"nan", -EINVAL},
	    {"None", -EINVAL},	 {"0x1", -EINVAL},
	    {"0", -ERANGE},	 {"0.0", -ERANGE},
	    {"0.0009", -ERANGE}, {"1000.001", -ERANGE},
	    {"1001", -ERANGE},	 {"99999999999999999999", -ERANGE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t milli = UNTOUCHED;

		assert_int_equal(cli_number_milli(rows[i].text, 1000000, &milli),
				 rows[i].error);
		assert_true(milli == UNTOUCHED);
	}
}

/* The largest maximum that there is must not make the sums wrap. */
static void test_milli_at_the_edge(void **state)
{
	uint64_t milli = 0;

	(void)state;
	assert_int_equal(cli_number_milli("18446744073709551.615", UINT64_MAX, &milli),
			 0);
	assert_true(milli == UINT64_MAX);
	assert_int_equal(cli_number_milli("18446744073709551.616", UINT64_MAX, &milli),
			 -ERANGE);
	assert_int_equal(cli_number_milli("18446744073709552", UINT64_MAX, &milli),
			 -ERANGE);
}

static void test_counts(void **state)
{
	static const char *const words[] = {"",	  "-1", "+1",  "1.0",
					    "1k", " 1", "0x1", "none"};
	uint64_t count = UNTOUCHED;

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		assert_int_equal(cli_number_count(words[i], 100, &count), -EINVAL);
	assert_int_equal(cli_number_count("0", 100, &count), -ERANGE);
	assert_int_equal(cli_number_count("101", 100, &count), -ERANGE);
	assert_int_equal(cli_number_count("18446744073709551617", 100, &count), -ERANGE);
	/* A maximum of one digit: the digit alone passes it. */
	assert_int_equal(cli_number_count("9", 5, &count), -ERANGE);
	assert_true(count == UNTOUCHED);
	assert_int_equal(cli_number_count("100", 100, &count), 0);
	assert_true(count == 100);
	assert_int_equal(cli_number_count("18446744073709551615", UINT64_MAX, &count), 0);
	assert_true(count == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_sizes_refused),
	    cmocka_unit_test(test_milli),
	    cmocka_unit_test(test_milli_refused),
	    cmocka_unit_test(test_milli_at_the_edge),
	    cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
