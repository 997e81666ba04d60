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
		    .order = (uint32_t)set->count,
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

static bool print_filter(const char *name, const struct seccomp_table *table,
			 const struct seccomp_table *more)
{
	CLEANUP_SECCOMP_RULESET struct seccomp_ruleset set = {0};
	CLEANUP_SECCOMP_PROGRAM struct seccomp_program program = {0};

	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		set.abi[abi].known = set.abi[abi].unknown = SECCOMP_RET_KILL_PROCESS;
		set.abi[abi].known_last = UINT32_MAX;
	}
	if (add_rows(&set, table) < 0 || (more && add_rows(&set, more) < 0) ||
	    seccomp_compose(&set, &program) < 0)
		return false;
	gen_print_program(name, &program);
	return true;
}

bool gen_print_init(void)
{
	(void)printf(
	    "/* SPDX-License-Identifier: Apache-2.0 */\n"
	    "/* Written by seccomp/gen; change seccomp/policy_init.c instead. */\n");
	return print_filter("init_filter", &seccomp_init_calls, NULL) &&
	       print_filter("init_trace_filter", &seccomp_init_calls,
			    &seccomp_init_trace_calls) &&
	       print_filter("init_park_filter", &seccomp_init_calls,
			    &seccomp_init_park_calls);
}
