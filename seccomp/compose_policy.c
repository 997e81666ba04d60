/* SPDX-License-Identifier: Apache-2.0 */
/* From a policy's tables to rules for every ABI. */
#include "seccomp/compose.h"

#include <errno.h>
#include <linux/seccomp.h>

static uint32_t action_of(uint8_t verdict, uint16_t error)
{
	switch (verdict) {
	case SECCOMP_ALLOW:
		return SECCOMP_RET_ALLOW;
	case SECCOMP_ERRNO:
		return SECCOMP_RET_ERRNO | error;
	case SECCOMP_FEIGN:
		return SECCOMP_RET_ERRNO;
	default:
		return SECCOMP_RET_USER_NOTIF;
	}
}

/* x32 is there on few kernels and used by no program that we have met: what would kill
 * kills there too, so that it is reported, and all else does not exist. */
static bool is_x32(enum seccomp_abi abi)
{
	return seccomp_abis[abi].base != 0;
}

static int add_row(struct seccomp_ruleset *set, const struct seccomp_row *row,
		   enum seccomp_abi abi, uint32_t nr)
{
	const struct seccomp_rule rule = {
	    .nr = nr,
	    .order = (uint32_t)set->count,
	    .action = action_of(row->verdict, row->error),
	    .abi = (uint8_t)abi,
	    .int_args = UINT8_MAX,
	    .test_count = row->test_count,
	    .tests = row->tests,
	};

	if (nr == SECCOMP_NO_NUMBER || (is_x32(abi) && row->verdict != SECCOMP_KILL))
		return 0;
	return seccomp_ruleset_add(set, &rule);
}

/* Kernels up to 5.3 took x32's mark on any number, also on one that x32 has moved. */
static uint32_t marked_number(const struct seccomp_row *row, enum seccomp_abi abi,
			      seccomp_number_fn number)
{
	const uint32_t native = number((enum seccomp_abi)0, row->name);

	return native == SECCOMP_NO_NUMBER ? native : native + seccomp_abis[abi].base;
}

static int add_rows(struct seccomp_ruleset *set, const struct seccomp_table *table,
		    enum seccomp_abi abi, seccomp_number_fn number)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct seccomp_row *row = &table->rows[i];
		const uint32_t nr = number(abi, row->name);
		uint32_t marked;
		int rc = add_row(set, row, abi, nr);

		if (rc < 0)
			return rc;
		if (!is_x32(abi))
			continue;
		marked = marked_number(row, abi, number);
		if (marked != nr)
			rc = add_row(set, row, abi, marked);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int seccomp_compose_policy(const struct seccomp_policy *policy, seccomp_number_fn number,
			   struct seccomp_program *ret)
{
	CLEANUP_SECCOMP_RULESET struct seccomp_ruleset set = {0};

	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		set.abi[abi].unknown = SECCOMP_RET_ERRNO | ENOSYS;
		set.abi[abi].known_last = UINT32_MAX;
		set.abi[abi].known = is_x32(abi)
					 ? set.abi[abi].unknown
					 : action_of(policy->verdict, policy->error);
		for (size_t t = 0; t < SECCOMP_TABLES; t++) {
			int rc = 0;

			if (policy->tables[t])
				rc = add_rows(&set, policy->tables[t], abi, number);
			if (rc < 0)
				return rc;
		}
	}
	return seccomp_compose(&set, ret);
}
