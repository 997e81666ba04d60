/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in filters against libseccomp's for the same tables: another compiler, and
 * names looked up in the other direction. What libseccomp does not do (review, x32, rows
 * whose order matters) is left out here and tested elsewhere. */
#include "tests/unit/seccomp_evaluate.h"

#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint32_t scmp_action(uint8_t verdict, uint16_t error)
{
	if (verdict == SECCOMP_ALLOW)
		return SCMP_ACT_ALLOW;
	return verdict == SECCOMP_KILL ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(error);
}

static bool asks_for_null(const struct seccomp_row *row)
{
	for (uint8_t t = 0; t < row->test_count; t++) {
		if (row->tests[t].op == SECCOMP_OP_NULL)
			return true;
	}
	return false;
}

/* Do several rows name this call, so that their order decides? */
static bool ordered(const struct seccomp_policy *policy, const struct seccomp_row *row)
{
	size_t tested = 0, plain = 0;

	for (size_t t = 0; t < SECCOMP_TABLES; t++) {
		const struct seccomp_table *table = policy->tables[t];

		for (size_t i = 0; table && i < table->count; i++) {
			if (strcmp(table->rows[i].name, row->name) != 0)
				continue;
			if (asks_for_null(&table->rows[i]))
				return true;
			tested += table->rows[i].test_count > 0;
			plain += table->rows[i].test_count == 0;
		}
	}
	return tested > 0 && plain > 0;
}

/* A test as libseccomp's; "any of these bits" becomes one for each bit. Returns how many.
 */
static size_t comparisons(const struct seccomp_test *test, struct scmp_arg_cmp ret[32])
{
	const struct scmp_arg_cmp cmp = {
	    .arg = test->arg,
	    .op = SCMP_CMP_MASKED_EQ,
	    .datum_a = test->op == SECCOMP_OP_EQ ? UINT32_MAX : test->mask,
	    .datum_b = test->value,
	};
	size_t count = 0;

	if (test->op != SECCOMP_OP_ANY) {
		ret[0] = cmp;
		return 1;
	}
	for (int bit = 0; bit < 32; bit++) {
		if (!(test->mask & (UINT64_C(1) << bit)))
			continue;
		ret[count] = cmp;
		ret[count].datum_a = ret[count].datum_b = UINT64_C(1) << bit;
		count++;
	}
	return count;
}

static void add_rules(scmp_filter_ctx ctx, const struct seccomp_row *row, int nr)
{
	const uint32_t action = scmp_action(row->verdict, row->error);
	struct scmp_arg_cmp first[32], second[32], both[2];
	size_t n, m = 1;

	if (row->test_count == 0) {
		assert_int_equal(seccomp_rule_add_array(ctx, action, nr, 0, NULL), 0);
		return;
	}
	assert_in_range(row->test_count, 1, 2);
	n = comparisons(&row->tests[0], first);
	if (row->test_count == 2)
		m = comparisons(&row->tests[1], second);
	for (size_t i = 0; i < n * m; i++) {
		both[0] = first[i / m];
		both[1] = second[i % m];
		assert_int_equal(seccomp_rule_add_array(ctx, action, nr,
							(unsigned)row->test_count, both),
				 0);
	}
}

static struct seccomp_program exported(scmp_filter_ctx ctx)
{
	struct seccomp_program program = {.owned = true};
	int fd = memfd_create("filter", MFD_CLOEXEC);
	struct sock_filter *insns;
	off_t size;

	assert_true(fd >= 0);
	assert_int_equal(seccomp_export_bpf(ctx, fd), 0);
	size = lseek(fd, 0, SEEK_END);
	insns = malloc((size_t)size);
	assert_non_null(insns);
	assert_int_equal(pread(fd, insns, (size_t)size, 0), size);
	(void)close(fd);
	program.insns = insns;
	program.count = (uint16_t)((size_t)size / sizeof(*insns));
	return program;
}

static scmp_filter_ctx oracle_for(const struct seccomp_policy *policy, uint32_t arch)
{
	scmp_filter_ctx ctx = seccomp_init(scmp_action(policy->verdict, policy->error));

	assert_non_null(ctx);
	if (arch != seccomp_arch_native()) {
		assert_int_equal(seccomp_arch_add(ctx, arch), 0);
		assert_int_equal(seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE), 0);
	}
	for (size_t t = 0; t < SECCOMP_TABLES; t++) {
		const struct seccomp_table *table = policy->tables[t];

		for (size_t i = 0; table && i < table->count; i++) {
			const struct seccomp_row *row = &table->rows[i];
			const int nr = seccomp_syscall_resolve_name_arch(arch, row->name);
			const uint32_t usual =
			    scmp_action(policy->verdict, policy->error);

			if (nr < 0 || ordered(policy, row) ||
			    scmp_action(row->verdict, row->error) == usual)
				continue;
			add_rules(ctx, row, seccomp_syscall_resolve_name(row->name));
		}
	}
	return ctx;
}

static bool skip_number(const struct seccomp_policy *policy, uint32_t arch, uint32_t nr)
{
	char *name = seccomp_syscall_resolve_num_arch(arch, (int)nr);
	bool skip = !name || seccomp_syscall_resolve_name_arch(arch, name) != (int)nr;

	for (size_t t = 0; name && t < SECCOMP_TABLES; t++) {
		const struct seccomp_table *table = policy->tables[t];

		for (size_t i = 0; table && i < table->count; i++) {
			if (strcmp(table->rows[i].name, name) == 0 &&
			    ordered(policy, &table->rows[i]))
				skip = true;
		}
	}
	free(name);
	return skip;
}

static void compare(const struct seccomp_policy *policy,
		    const struct seccomp_abi_info *info)
{
	static const uint64_t args[][3] = {
	    {0, 0, 0},
	    {UINT32_MAX, UINT32_MAX, UINT32_MAX},
	    {0x10000011, 0x5412, 0x2000},
	    {0x3d0f00, 0x541c, 0x6000},
	    {0x1234567800020000, 0xfedcba9800002000, 0x1000},
	    {17, 0x5401, 0x81b6},
	};
	const uint32_t arch = seccomp_arch_resolve_name(info->name);
	scmp_filter_ctx ctx = oracle_for(policy, arch);
	struct seccomp_program oracle = exported(ctx), built = {0};
	size_t compared = 0;

	assert_int_equal(seccomp_builtin(policy->name, &built), 0);
	for (uint32_t nr = 0; nr <= 470; nr++) {
		if (skip_number(policy, arch, nr))
			continue;
		for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
			const uint32_t got =
			    evaluate_call(&built, info->audit_arch, nr, args[i][0],
					  args[i][1], args[i][2]);
			const uint32_t want =
			    evaluate_call(&oracle, info->audit_arch, nr, args[i][0],
					  args[i][1], args[i][2]);

			if (got != want)
				fail_msg("%s, %s, nr %u, arguments %zu: 0x%x, not 0x%x",
					 policy->name, info->name, nr, i, got, want);
			compared++;
		}
	}
	assert_true(compared > 1500);
	seccomp_program_deinit(&oracle);
	seccomp_release(ctx);
}

static void default_agrees_with_libseccomp(void **state)
{
	(void)state;
	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		if (seccomp_abis[abi].base == 0)
			compare(&seccomp_policy_default, &seccomp_abis[abi]);
	}
}

static void strict_agrees_with_libseccomp(void **state)
{
	(void)state;
	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		if (seccomp_abis[abi].base == 0)
			compare(&seccomp_policy_strict, &seccomp_abis[abi]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(default_agrees_with_libseccomp),
	    cmocka_unit_test(strict_agrees_with_libseccomp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
