/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of the init program itself: native numbers alone, a kill for all else. */
#include "seccomp/gen/gen.h"

#include "seccomp/compose.h"

#include <linux/seccomp.h>
#include <stdio.h>

static int add_rows(struct seccomp_ruleset *set, const struct seccomp_table *table)
{
	int r = 0;

	for (size_t i = 0; i < table->count && r == 0; i++) {
		const struct seccomp_row *row = &table->rows[i];
		const struct seccomp_rule rule = {
		    .nr = gen_number((enum seccomp_abi)0, row->name),
		    .order = (uint32_t)i,
		    .action = SECCOMP_RET_ALLOW,
		    .int_args = UINT8_MAX,
		    .test_count = row->test_count,
		    .tests = row->tests,
		};

		if (rule.nr == SECCOMP_NO_NUMBER) {
			(void)fprintf(stderr, "init: no system call is called %s\n",
				      row->name);
			return -1;
		}
		r = seccomp_ruleset_add(set, &rule);
	}
	return r;
}

bool gen_print_init(const char *name, const struct seccomp_table *table)
{
	CLEANUP_SECCOMP_RULESET struct seccomp_ruleset set = {0};
	CLEANUP_SECCOMP_PROGRAM struct seccomp_program program = {0};

	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		set.abi[abi].known = set.abi[abi].unknown = SECCOMP_RET_KILL_PROCESS;
		set.abi[abi].known_last = UINT32_MAX;
	}
	if (add_rows(&set, table) < 0 || seccomp_compose(&set, &program) < 0)
		return false;
	(void)printf(
	    "/* SPDX-License-Identifier: Apache-2.0 */\n"
	    "/* Written by seccomp/gen; change seccomp/policy_init.c instead. */\n");
	gen_print_program(name, &program);
	return true;
}
