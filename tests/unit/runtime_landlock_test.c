/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "runtime/landlock.h"

static void test_every_abi_handles_what_it_has(void **state)
{
	static const struct {
		uint32_t abi;
		uint64_t fs, scoped;
	} rows[] = {
	    {0, 0, 0},	    {1, 0x1fff, 0}, {2, 0x3fff, 0}, {3, 0x7fff, 0},
	    {4, 0x7fff, 0}, {5, 0xffff, 0}, {6, 0xffff, 3}, {7, 0xffff, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct landlock landlock = landlock_of_abi(rows[i].abi);

		assert_int_equal(landlock.abi, rows[i].abi);
		assert_int_equal(landlock.fs, rows[i].fs);
		assert_int_equal(landlock.scoped, rows[i].scoped);
	}
}

/* A later kernel's rights are not handled before somebody has read what they are. */
static void test_a_newer_one_gets_what_is_known(void **state)
{
	struct landlock newest = landlock_of_abi(7), later = landlock_of_abi(UINT32_MAX);

	(void)state;
	assert_int_equal(later.fs, newest.fs);
	assert_int_equal(later.scoped, newest.scoped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_abi_handles_what_it_has),
	    cmocka_unit_test(test_a_newer_one_gets_what_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
