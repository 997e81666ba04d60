/* SPDX-License-Identifier: Apache-2.0 */
/* From rules to a program.
 *
 * A rule is a row with its number looked up. seccomp_compose sorts the rules, lays them
 * out as spans of numbers with one verdict each (compose.c), and emits a search tree over
 * the spans (compose_tree.c) whose leaves test arguments (compose_tests.c). The same way
 * is gone for the built-in policies, at build time, and for profiles, at run time. */
#ifndef SECCOMP_COMPOSE_H
#define SECCOMP_COMPOSE_H

#include "seccomp/policy.h"
#include "seccomp/seccomp.h"

struct seccomp_rule {
	uint32_t nr;	  /* as the ABI's programs say it: with the ABI's base */
	uint32_t order;	  /* among rules of one number; the first that matches decides */
	uint32_t action;  /* SECCOMP_RET_* with its data */
	uint8_t abi;	  /* enum seccomp_abi */
	uint8_t int_args; /* bit n: of argument n only the low 32 bits are compared */
	uint8_t test_count;		  /* 0: always matches */
	const struct seccomp_test *tests; /* borrowed */
};

struct seccomp_ruleset {
	struct seccomp_rule *rules;
	size_t count;
	size_t capacity;
	struct {
		uint32_t known;	     /* action for reviewed numbers without a rule */
		uint32_t unknown;    /* action for all others */
		uint32_t known_last; /* numbers above it count as not reviewed */
	} abi[SECCOMP_ABI_COUNT];
};

/* Bounds on what a profile can ask for. BPF_MAXINSNS is the kernel's own. */
enum { SECCOMP_RULES_MAX = 16384 };

void seccomp_ruleset_deinit(struct seccomp_ruleset *set);
#define CLEANUP_SECCOMP_RULESET __attribute__((cleanup(seccomp_ruleset_deinit)))

/* Append a rule. 0, -ENOMEM, or -E2BIG past SECCOMP_RULES_MAX. */
int seccomp_ruleset_add(struct seccomp_ruleset *set, const struct seccomp_rule *rule);

/* Compile. Sorts the rules. 0, -ENOMEM, or -E2BIG where the program would have more
 * instructions than the kernel takes. ret owns its instructions. */
int seccomp_compose(struct seccomp_ruleset *set, struct seccomp_program *ret);

/* Looks a system call's number up; SECCOMP_NO_NUMBER where the ABI has none. */
typedef uint32_t (*seccomp_number_fn)(enum seccomp_abi abi, const char *name);

/* Compile a policy. Errors as seccomp_compose. */
int seccomp_compose_policy(const struct seccomp_policy *policy, seccomp_number_fn number,
			   struct seccomp_program *ret);

#endif
