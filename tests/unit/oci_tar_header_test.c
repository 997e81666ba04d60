/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, sums and names of tar headers. */
#include "oci/tar_header.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FIELD(text) (text), sizeof(text) - 1

static void numbers(void **state)
{
	static const struct {
		const char *field;
		size_t size;
		int64_t value; /* -1: none */
	} rows[] = {
	    {FIELD("00000000017\0"), 15},
	    {FIELD("777777777777"), 68719476735},
	    {FIELD("       17 \0\0"), 15},
	    {FIELD("\0\0\0\0\0\0\0\0\0\0\0\0"), 0},
	    {FIELD("            "), 0},
	    {FIELD("0000000008\0\0"), -1},
	    {FIELD("17\0 1       "), -1},
	    {FIELD("-1          "), -1},
	    {FIELD("0x1         "), -1},
	    {FIELD("\x80\0\0\0\0\0\0\0\0\0\1\2"), 258},
	    {FIELD("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff"), INT64_MAX},
	    {FIELD("\x80\0\0\0\x80\0\0\0\0\0\0\0"), -1},
	    {FIELD("\x80\1\0\0\0\0\0\0\0\0\0\0"), -1},
	    {FIELD("\x81\0\0\0\0\0\0\0\0\0\0\0"), -1},
	    {FIELD("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), -1},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 77;
		int rc = tar_number((const unsigned char *)rows[i].field, rows[i].size,
				    &value);

		if (rc != (rows[i].value < 0 ? -EINVAL : 0) ||
		    value != (rows[i].value < 0 ? 77 : (uint64_t)rows[i].value))
			fail_msg("row %zu: %d, %llu", i, rc, (unsigned long long)value);
	}
}

/* The sum in octal, with what stands before and behind it. */
static void put_sum(unsigned char *header, const char *front, long sum, const char *back)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%s%lo%s", front, sum, back);
	memset(header + TAR_AT_SUM, 0, TAR_SUM);
	memcpy(header + TAR_AT_SUM, text, strnlen(text, TAR_SUM));
}

static void sums(void **state)
{
	unsigned char header[TAR_BLOCK] = "n\xff\xff";
	const long plain = 'n' + 2 * 255 + 8 * ' ', with_sign = plain - 512;
	(void)state;

	put_sum(header, "00", plain, "");
	assert_true(tar_sum_is_right(header));
	put_sum(header, "00", plain, " ");
	assert_true(tar_sum_is_right(header));
	put_sum(header, " ", with_sign, " ");
	assert_true(tar_sum_is_right(header));
	put_sum(header, "00", plain + 1, "");
	assert_false(tar_sum_is_right(header));
	put_sum(header, "", plain, "x");
	assert_false(tar_sum_is_right(header));
	memset(header, 0, sizeof(header));
	assert_false(tar_sum_is_right(header));
	assert_true(tar_is_zero(header));
	header[TAR_BLOCK - 1] = 1;
	assert_false(tar_is_zero(header));
}

static void prefixes(void **state)
{
	unsigned char header[TAR_BLOCK] = "name";
	(void)state;

	header[TAR_AT_PREFIX] = 'p';
	assert_null(tar_prefix(header));
	memcpy(header + TAR_AT_MAGIC, "ustar  ", 8);
	assert_null(tar_prefix(header));
	memcpy(header + TAR_AT_MAGIC, "ustar\00000", 8);
	assert_ptr_equal(tar_prefix(header), header + TAR_AT_PREFIX);
	header[TAR_AT_PREFIX] = '\0';
	assert_null(tar_prefix(header));
}

int main(void)
{
	const struct CMUnitTest oci_tar_header[] = {
	    cmocka_unit_test(numbers),
	    cmocka_unit_test(sums),
	    cmocka_unit_test(prefixes),
	};

	return cmocka_run_group_tests(oci_tar_header, NULL, NULL);
}
