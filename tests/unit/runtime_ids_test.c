/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "runtime/ids.h"

static const char whole[] = "         0          0 4294967295\n";

static void test_ordinary_caller_is_itself(void **state)
{
	struct ids ids;

	(void)state;
	assert_int_equal(ids_pick(whole, 1000, 7, &ids), 0);
	assert_false(ids.foreign);
	assert_int_equal(ids.uid, 1000);
}

static void test_root_gets_an_id_of_the_range(void **state)
{
	(void)state;
	for (uint32_t spread = 0; spread < 3000000000U; spread += 299999999U) {
		struct ids ids;

		assert_int_equal(ids_pick(whole, 0, spread, &ids), 0);
		assert_true(ids.foreign);
		assert_in_range(ids.uid, 1879048192U, 2147483647U);
		assert_int_equal(ids.uid, ids.gid);
	}
}

/* "root" of an unprivileged user namespace has one id to its name. */
static void test_root_of_one_id_is_ordinary(void **state)
{
	struct ids ids;

	(void)state;
	assert_int_equal(ids_pick("0 1000 1\n", 0, 7, &ids), 0);
	assert_false(ids.foreign);
	assert_int_equal(ids.uid, 0);
}

static void test_container_shares(void **state)
{
	static const struct {
		const char *map;
		uint32_t low, high;
	} rows[] = {
	    {"0 100000 65536\n", 64000, 65535},
	    {"0 1000 1\n1 100000 65536\n", 64000, 65536},
	    {"0 100000 2\n", 1, 1},
	    {"0 1000 1\n1 100000 300\n", 300, 300},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ids ids;

		assert_int_equal(ids_pick(rows[i].map, 0, 12345, &ids), 0);
		assert_true(ids.foreign);
		assert_in_range(ids.uid, rows[i].low, rows[i].high);
	}
}

static void test_never_root(void **state)
{
	struct ids ids;

	(void)state;
	for (uint32_t count = 2; count < 6000; count++) {
		char map[64];

		(void)snprintf(map, sizeof(map), "0 100000 %u\n", count);
		assert_int_equal(ids_pick(map, 0, count * 7919, &ids), 0);
		assert_int_not_equal(ids.uid, 0);
		assert_true(ids.uid < count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ordinary_caller_is_itself),
	    cmocka_unit_test(test_root_gets_an_id_of_the_range),
	    cmocka_unit_test(test_root_of_one_id_is_ordinary),
	    cmocka_unit_test(test_container_shares),
	    cmocka_unit_test(test_never_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
