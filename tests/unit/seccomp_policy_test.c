/* SPDX-License-Identifier: Apache-2.0 */
/* The policy tables, and the built-in filters held to them row by row. */
#include "tests/unit/seccomp_evaluate.h"

#include "seccomp/generated.h"

static const struct seccomp_policy *const policies[] = {
    &seccomp_policy_default,
    &seccomp_policy_strict,
};

enum { POLICY_COUNT = 2 };

static struct seccomp_program builtin(const char *name)
{
	struct seccomp_program program = {0};

	assert_int_equal(seccomp_builtin(name, &program), 0);
	return program;
}

/* -- the tables -- */

static void check_row(const struct seccomp_row *row)
{
	assert_non_null(row->reason);
	assert_true(strlen(row->reason) > 3);
	assert_true((row->verdict == SECCOMP_ERRNO) == (row->error != 0));
	assert_in_range(row->test_count, 0, SECCOMP_ROW_TESTS);
	for (uint8_t t = 0; t < row->test_count; t++) {
		const struct seccomp_test *test = &row->tests[t];
		const bool masked = test->op == SECCOMP_OP_MASKED_EQ;

		assert_in_range(test->arg, 0, SECCOMP_ARGS - 1);
		/* Rows test the low halves alone. */
		assert_int_equal(test->value >> 32, 0);
		assert_int_equal(test->mask >> 32, 0);
		if (masked)
			assert_int_equal(test->value & ~test->mask, 0);
		if (masked || test->op == SECCOMP_OP_ANY)
			assert_int_not_equal(test->mask, 0);
	}
}

/* Sorted; a row behind one of the same name without tests would never be asked. */
static void check_table(const struct seccomp_table *table)
{
	assert_in_range(table->count, 10, 512);
	for (size_t i = 0; i < table->count; i++) {
		const struct seccomp_row *row = &table->rows[i];
		int order;

		check_row(row);
		if (i == 0)
			continue;
		order = strcmp(row[-1].name, row->name);
		if (order > 0 || (order == 0 && row[-1].test_count == 0))
			fail_msg("%s after %s", row->name, row[-1].name);
	}
}

static void tables_are_sorted_and_reasoned(void **state)
{
	(void)state;
	check_table(&seccomp_denylist);
	check_table(&seccomp_refused);
	check_table(seccomp_policy_strict.tables[2]);
	assert_ptr_equal(seccomp_policy_default.tables[0], &seccomp_denylist);
	assert_null(seccomp_policy_default.tables[1]);
	assert_ptr_equal(seccomp_policy_strict.tables[0], &seccomp_denylist);
	assert_ptr_equal(seccomp_policy_strict.tables[1], &seccomp_refused);
}

static const struct seccomp_row *last_row(const struct seccomp_table *table,
					  const char *name)
{
	const struct seccomp_row *found = NULL;

	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->rows[i].name, name) == 0)
			found = &table->rows[i];
	}
	return found;
}

/* A row that an earlier table has decided already, whatever the arguments, would be a
 * lie; and what is refused is refused, whatever they are. */
static void strict_rows_are_reached(void **state)
{
	(void)state;
	for (size_t later = 1; later < SECCOMP_TABLES; later++) {
		const struct seccomp_table *table = seccomp_policy_strict.tables[later];

		for (size_t i = 0; i < table->count; i++) {
			for (size_t t = 0; t < later; t++) {
				const struct seccomp_row *row = last_row(
				    seccomp_policy_strict.tables[t], table->rows[i].name);

				if (row && row->test_count == 0)
					fail_msg("%s", row->name);
			}
		}
	}
	for (size_t i = 0; i < seccomp_refused.count; i++) {
		assert_int_equal(seccomp_refused.rows[i].verdict, SECCOMP_ERRNO);
		assert_int_equal(seccomp_refused.rows[i].test_count, 0);
	}
}

/* Every call that has a number in the reviewed ranges is let through, or refused with a
 * reason: nothing is refused because nobody thought of it. */
static void strict_names_every_call(void **state)
{
	char buf[32];
	size_t named = 0;

	(void)state;
	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		const struct seccomp_abi_info *info = &seccomp_abis[abi];

		for (uint32_t nr = 0; info->base == 0 && nr < 1000; nr++) {
			const char *name =
			    seccomp_syscall_name(info->audit_arch, nr, buf, sizeof(buf));
			bool row = false;

			if (strncmp(name, "syscall ", 8) == 0)
				continue;
			for (size_t t = 0; t < SECCOMP_TABLES; t++)
				row = row ||
				      last_row(seccomp_policy_strict.tables[t], name);
			if (!row)
				fail_msg("%s, %u: %s is in no table", info->name, nr,
					 name);
			named++;
		}
	}
	assert_true(named > 700);
}

static void int_args_are_sorted_and_known(void **state)
{
	(void)state;
	assert_true(seccomp_int_args_count > 10);
	for (size_t i = 0; i < seccomp_int_args_count; i++) {
		bool known __attribute__((unused)) = false;

		for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
			if (seccomp_number(abi, seccomp_int_args[i].name) !=
			    SECCOMP_NO_NUMBER)
				known = true;
		}
#if defined(__x86_64__)
		/* Some are calls of this machine alone. */
		assert_true(known);
#endif
		assert_int_not_equal(seccomp_int_args[i].args, 0);
		if (i > 0)
			assert_true(strcmp(seccomp_int_args[i - 1].name,
					   seccomp_int_args[i].name) < 0);
	}
}

/* -- the tables against the filters -- */

static bool test_holds(const struct seccomp_test *test, const uint64_t *args)
{
	const uint32_t arg = (uint32_t)args[test->arg];

	switch (test->op) {
	case SECCOMP_OP_EQ:
		return arg == test->value;
	case SECCOMP_OP_MASKED_EQ:
		return (arg & test->mask) == test->value;
	case SECCOMP_OP_ANY:
		return (arg & test->mask) != 0;
	case SECCOMP_OP_NULL:
		return args[test->arg] == 0;
	}
	fail_msg("operator %d in a row", test->op);
	return false;
}

static bool row_matches(const struct seccomp_row *row, const uint64_t *args)
{
	for (uint8_t t = 0; t < row->test_count; t++) {
		if (!test_holds(&row->tests[t], args))
			return false;
	}
	return true;
}

static uint32_t action_of(uint8_t verdict, uint16_t error)
{
	if (verdict == SECCOMP_ALLOW)
		return SECCOMP_RET_ALLOW;
	if (verdict == SECCOMP_FEIGN)
		return SECCOMP_RET_ERRNO;
	return verdict == SECCOMP_KILL ? SECCOMP_RET_USER_NOTIF : FAILS(error);
}

static bool reviewed(const struct seccomp_abi_info *info, uint32_t nr)
{
	for (size_t r = 0; r < SECCOMP_REVIEWED_MAX; r++) {
		const struct seccomp_range *range = &info->reviewed[r];

		if (range->last != 0 && nr >= info->base + range->first &&
		    nr <= info->base + range->last)
			return true;
	}
	return false;
}

/* The numbers of every row, looked up once. */
enum { ROWS_MAX = 512 };

static uint32_t numbers[POLICY_COUNT][SECCOMP_TABLES][ROWS_MAX][SECCOMP_ABI_COUNT];

static int look_up_rows(void **state)
{
	(void)state;
	for (size_t p = 0; p < POLICY_COUNT; p++) {
		for (size_t t = 0; t < SECCOMP_TABLES; t++) {
			const struct seccomp_table *table = policies[p]->tables[t];

			for (size_t i = 0; table && i < table->count && i < ROWS_MAX;
			     i++) {
				for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++)
					numbers[p][t][i][abi] =
					    seccomp_number(abi, table->rows[i].name);
			}
		}
	}
	return 0;
}

static bool row_is_for(const struct seccomp_row *row, const uint32_t *row_numbers,
		       unsigned abi, uint32_t nr)
{
	const uint32_t base = seccomp_abis[abi].base;

	if (row_numbers[abi] == nr)
		return base == 0 || row->verdict == SECCOMP_KILL;
	return base != 0 && row->verdict == SECCOMP_KILL && row_numbers[0] + base == nr;
}

/* What the tables say, by walking them. */
static uint32_t expected(size_t p, unsigned abi, uint32_t nr, const uint64_t *args)
{
	const struct seccomp_abi_info *info = &seccomp_abis[abi];
	const struct seccomp_policy *policy = policies[p];

	for (size_t t = 0; t < SECCOMP_TABLES; t++) {
		const struct seccomp_table *table = policy->tables[t];

		for (size_t i = 0; table && i < table->count; i++) {
			if (row_is_for(&table->rows[i], numbers[p][t][i], abi, nr) &&
			    row_matches(&table->rows[i], args))
				return action_of(table->rows[i].verdict,
						 table->rows[i].error);
		}
	}
	if (info->base != 0 || !reviewed(info, nr))
		return FAILS(ENOSYS);
	return action_of(policy->verdict, policy->error);
}

static void check_call(size_t p, const struct seccomp_program *program, unsigned abi,
		       uint32_t nr, const uint64_t *args)
{
	struct seccomp_data data = {.arch = seccomp_abis[abi].audit_arch, .nr = (int)nr};
	uint32_t got, want = expected(p, abi, nr, args);

	memcpy(data.args, args, sizeof(data.args));
	got = evaluate(program, &data);
	if (got != want)
		fail_msg("%s, %s, nr %u (%llx %llx %llx): 0x%x, not 0x%x",
			 policies[p]->name, seccomp_abis[abi].name, nr,
			 (unsigned long long)args[0], (unsigned long long)args[1],
			 (unsigned long long)args[2], got, want);
}

/* The same call with garbage in the upper halves of its registers must fare the same. */
static void check_call_and_garbage(size_t p, const struct seccomp_program *program,
				   unsigned abi, uint32_t nr, const uint64_t *args)
{
	uint64_t garbage[SECCOMP_ARGS];

	check_call(p, program, abi, nr, args);
	for (int i = 0; i < SECCOMP_ARGS; i++)
		garbage[i] = args[i] | 0xdeadbeef00000000;
	check_call(p, program, abi, nr, garbage);
}

/* Arguments that make a row match, if nothing before it does. */
static void satisfy(const struct seccomp_row *row, uint64_t *args)
{
	memset(args, 0, SECCOMP_ARGS * sizeof(*args));
	for (uint8_t t = 0; t < row->test_count; t++) {
		const struct seccomp_test *test = &row->tests[t];

		args[test->arg] = test->op == SECCOMP_OP_ANY ? test->mask : test->value;
	}
}

static void check_row_everywhere(size_t p, const struct seccomp_program *program,
				 const struct seccomp_row *row)
{
	uint64_t args[SECCOMP_ARGS];

	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		const uint32_t nr = seccomp_number(abi, row->name);

		if (nr == SECCOMP_NO_NUMBER)
			continue;
		satisfy(row, args);
		check_call_and_garbage(p, program, abi, nr, args);
		/* One bit off in each argument that any row could look at. */
		for (int arg = 0; arg < 3; arg++) {
			for (int bit = 0; bit < 32; bit++) {
				args[arg] ^= UINT64_C(1) << bit;
				check_call_and_garbage(p, program, abi, nr, args);
				args[arg] ^= UINT64_C(1) << bit;
			}
		}
	}
}

static void every_row_holds_in_every_abi(void **state)
{
	(void)state;
	for (size_t p = 0; p < POLICY_COUNT; p++) {
		const struct seccomp_program program = builtin(policies[p]->name);

		for (size_t t = 0; t < SECCOMP_TABLES; t++) {
			const struct seccomp_table *table = policies[p]->tables[t];

			for (size_t i = 0; table && i < table->count; i++)
				check_row_everywhere(p, &program, &table->rows[i]);
		}
	}
}

/* Every number, also those that no row names, up to well past the last. */
static void every_number_is_as_the_tables_say(void **state)
{
	static const uint64_t vectors[][SECCOMP_ARGS] = {
	    {0},
	    {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
	    {1, 2, 3, 4, 5, 6},
	};

	(void)state;
	for (size_t p = 0; p < POLICY_COUNT; p++) {
		const struct seccomp_program program = builtin(policies[p]->name);

		for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
			for (uint32_t n = 0; n < 1200; n++) {
				for (size_t v = 0; v < 3; v++)
					check_call(p, &program, abi,
						   seccomp_abis[abi].base + n,
						   vectors[v]);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tables_are_sorted_and_reasoned),
	    cmocka_unit_test(strict_rows_are_reached),
	    cmocka_unit_test(strict_names_every_call),
	    cmocka_unit_test(int_args_are_sorted_and_known),
	    cmocka_unit_test(every_row_holds_in_every_abi),
	    cmocka_unit_test(every_number_is_as_the_tables_say),
	};

	return cmocka_run_group_tests(tests, look_up_rows, NULL);
}
