/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler: any rules, against an interpreter that walks them one by one. */
#include "tests/unit/seccomp_evaluate.h"

#include "seccomp/compose.h"
#include "seccomp/generated.h"

#include <stdlib.h>

/* A sequence that is the same in every run. */
static uint64_t random_state;

static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint32_t draw_below(uint32_t limit)
{
	return (uint32_t)(draw() % limit);
}

/* Few values, so that equal ones, neighbours and both halves come up. */
static uint64_t draw_value(void)
{
	static const uint64_t values[] = {
	    0,		1,	    2,		7,	    8,
	    0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 32, (1ULL << 32) + 1,
	    UINT64_MAX, 7ULL << 32};
	const uint64_t value = values[draw_below(12)];

	return draw_below(4) == 0 ? value + 1 : value;
}

/* -- what rules mean -- */

static bool test_holds(const struct seccomp_rule *rule, const struct seccomp_test *test,
		       const struct seccomp_data *data)
{
	uint64_t arg = data->args[test->arg];

	if (rule->int_args & (1u << test->arg))
		arg &= UINT32_MAX;
	switch (test->op) {
	case SECCOMP_OP_EQ:
		return arg == test->value;
	case SECCOMP_OP_NE:
		return arg != test->value;
	case SECCOMP_OP_LT:
		return arg < test->value;
	case SECCOMP_OP_LE:
		return arg <= test->value;
	case SECCOMP_OP_GT:
		return arg > test->value;
	case SECCOMP_OP_GE:
		return arg >= test->value;
	case SECCOMP_OP_MASKED_EQ:
		return (arg & test->mask) == test->value;
	default:
		return (arg & test->mask) != 0;
	}
}

static bool rule_matches(const struct seccomp_rule *rule, const struct seccomp_data *data)
{
	for (uint8_t t = 0; t < rule->test_count; t++) {
		if (!test_holds(rule, &rule->tests[t], data))
			return false;
	}
	return true;
}

static bool in_review(const struct seccomp_abi_info *info, uint32_t nr)
{
	for (size_t r = 0; r < SECCOMP_REVIEWED_MAX; r++) {
		if (info->reviewed[r].last &&
		    nr >= info->base + info->reviewed[r].first &&
		    nr <= info->base + info->reviewed[r].last)
			return true;
	}
	return false;
}

/* Rules are looked through in the order in which they were added, which is their order.
 */
static uint32_t expected(const struct seccomp_ruleset *set,
			 const struct seccomp_rule *rules, size_t count, unsigned abi,
			 const struct seccomp_data *data)
{
	const uint32_t nr = (uint32_t)data->nr;

	if (nr == UINT32_MAX)
		return SECCOMP_RET_ALLOW;
	if (!in_review(&seccomp_abis[abi], nr) || nr > set->abi[abi].known_last)
		return set->abi[abi].unknown;
	for (size_t i = 0; i < count; i++) {
		if (rules[i].abi == abi && rules[i].nr == nr &&
		    rule_matches(&rules[i], data))
			return rules[i].action;
	}
	return set->abi[abi].known;
}

/* -- random rules -- */

enum { RULES = 600, TESTS_EACH = 3, PROBES = 4000 };

struct fixture {
	struct seccomp_ruleset set;
	struct seccomp_rule rules[RULES]; /* as added: compiling sorts the set */
	struct seccomp_test tests[RULES][TESTS_EACH];
	size_t count;
};

static void random_tests(struct seccomp_test *tests, uint8_t count, bool often_shared)
{
	for (uint8_t t = 0; t < count; t++) {
		tests[t] = (struct seccomp_test){
		    .arg = often_shared ? t : (uint8_t)draw_below(SECCOMP_ARGS),
		    .op = (uint8_t)draw_below(SECCOMP_OP_ANY + 1),
		    .mask = draw_value(),
		    .value = draw_value(),
		};
		if (tests[t].op == SECCOMP_OP_MASKED_EQ)
			tests[t].value &= tests[t].mask;
		else if (tests[t].op == SECCOMP_OP_ANY)
			tests[t].value = 0;
	}
}

/* A number that the ABI has: rules are only ever made for those. */
static uint32_t random_number(unsigned abi, uint32_t spread)
{
	const struct seccomp_abi_info *info = &seccomp_abis[abi];
	const struct seccomp_range *range = &info->reviewed[draw_below(2)];

	return info->base + range->first +
	       draw_below(spread) % (range->last - range->first + 1);
}

static void random_rules(struct fixture *fixture, size_t count, uint32_t spread)
{
	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		fixture->set.abi[abi].known =
		    draw_below(2) ? SECCOMP_RET_ALLOW : FAILS(1);
		fixture->set.abi[abi].unknown = FAILS(ENOSYS);
		fixture->set.abi[abi].known_last =
		    draw_below(3) ? UINT32_MAX : seccomp_abis[abi].base + 440;
	}
	for (size_t i = 0; i < count; i++) {
		struct seccomp_rule *rule = &fixture->rules[i];

		/* Half of them begin with the same tests as the rule before. */
		random_tests(fixture->tests[i], TESTS_EACH, draw_below(2));
		if (i > 0 && draw_below(2))
			memcpy(fixture->tests[i], fixture->tests[i - 1],
			       (1 + draw_below(2)) * sizeof(fixture->tests[i][0]));
		*rule = (struct seccomp_rule){
		    .abi = (uint8_t)draw_below(SECCOMP_ABI_COUNT),
		    .order = (uint32_t)i,
		    .action = draw_below(8) ? FAILS(draw_below(300)) : SECCOMP_RET_ALLOW,
		    .test_count = (uint8_t)draw_below(TESTS_EACH + 1),
		    .tests = fixture->tests[i],
		};
		rule->nr = random_number(rule->abi, spread);
		/* One width for all rules of a number, as it is with names. */
		rule->int_args = (uint8_t)(rule->nr * 37);
		assert_int_equal(seccomp_ruleset_add(&fixture->set, rule), 0);
		fixture->count++;
	}
}

static void probe(const struct fixture *fixture, const struct seccomp_program *program,
		  unsigned abi, uint32_t nr)
{
	struct seccomp_data data = {.arch = seccomp_abis[abi].audit_arch, .nr = (int)nr};
	uint32_t got, want;

	for (int i = 0; i < SECCOMP_ARGS; i++)
		data.args[i] = draw_value();
	got = evaluate(program, &data);
	want = expected(&fixture->set, fixture->rules, fixture->count, abi, &data);
	if (got != want)
		fail_msg("%s, nr 0x%x: 0x%x, not 0x%x", seccomp_abis[abi].name, nr, got,
			 want);
}

static void check_random(uint64_t seed, size_t count, uint32_t spread)
{
	struct seccomp_program program = {0};
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	random_state = seed;
	random_rules(fixture, count, spread);
	assert_int_equal(seccomp_compose(&fixture->set, &program), 0);
	assert_true(program.owned);
	for (int i = 0; i < PROBES && count > 0; i++) {
		const struct seccomp_rule *rule =
		    &fixture->rules[draw_below((uint32_t)count)];

		probe(fixture, &program, rule->abi, rule->nr);
		probe(fixture, &program, rule->abi, rule->nr + draw_below(3) - 1);
	}
	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		for (uint32_t n = 0; n < 600; n++)
			probe(fixture, &program, abi, seccomp_abis[abi].base + n);
	}
	seccomp_program_deinit(&program);
	seccomp_ruleset_deinit(&fixture->set);
	free(fixture);
}

static void random_rules_do_what_they_say(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_random(seed * 0x9e3779b97f4a7c15, 60, 400);
}

/* Many rules for few numbers, and programs too long for a short jump. */
static void crowded_rules_do_what_they_say(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		check_random(seed * 0x2545f4914f6cdd1d, 150, 5);
		check_random(seed * 0x2545f4914f6cdd1d, 400, 300);
	}
}

static void no_rules_leave_the_defaults(void **state)
{
	(void)state;
	check_random(7, 0, 1);
}

/* -- bounds -- */

/* Rules with distinct tests on one number, which answer with so many different errors, on
 * the first argument and the second in turn, so that every test has to load its own. */
static int compose_many(size_t count, uint32_t errors, struct seccomp_program *ret)
{
	struct seccomp_ruleset set = {0};
	struct seccomp_test *tests = calloc(count, sizeof(*tests));
	int rc;

	assert_non_null(tests);
	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++)
		set.abi[abi].known_last = UINT32_MAX;
	for (size_t i = 0; i < count; i++) {
		const struct seccomp_rule rule = {
		    .nr = 100,
		    .order = (uint32_t)i,
		    .action = FAILS(i % errors + 1),
		    .test_count = 1,
		    .int_args = 3,
		    .tests = &tests[i],
		};

		tests[i] =
		    (struct seccomp_test){.arg = i % 2, .op = SECCOMP_OP_EQ, .value = i};
		assert_int_equal(seccomp_ruleset_add(&set, &rule), 0);
	}
	rc = seccomp_compose(&set, ret);
	seccomp_ruleset_deinit(&set);
	free(tests);
	return rc;
}

/* With few errors the returns are shared, and lie out of a short jump's reach. */
static void long_programs_do_what_they_say(void **state)
{
	static const uint32_t errors[] = {1, 2, 7, 100, 4000};

	(void)state;
	for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
		struct seccomp_program program = {0};

		assert_int_equal(compose_many(1200, errors[e], &program), 0);
		assert_in_range(program.count, 2400, BPF_MAXINSNS);
		for (uint32_t i = 0; i < 1200; i++) {
			const uint64_t even = i % 2 ? UINT64_MAX : i;
			const uint64_t odd = i % 2 ? i : UINT64_MAX;

			assert_int_equal(evaluate_call(&program,
						       seccomp_abis[0].audit_arch, 100,
						       even, odd, 0),
					 FAILS(i % errors[e] + 1));
		}
		seccomp_program_deinit(&program);
	}
}

static void longer_programs_than_the_kernel_takes_are_refused(void **state)
{
	struct seccomp_program program = {0};

	(void)state;
	assert_int_equal(compose_many(3000, 4000, &program), -E2BIG);
	assert_null(program.insns);
	assert_int_equal(compose_many(SECCOMP_RULES_MAX, 4000, &program), -E2BIG);
	assert_null(program.insns);
}

static void too_many_rules_are_refused(void **state)
{
	struct seccomp_ruleset set = {0};
	const struct seccomp_rule rule = {.nr = 1};

	(void)state;
	for (int i = 0; i < SECCOMP_RULES_MAX; i++)
		assert_int_equal(seccomp_ruleset_add(&set, &rule), 0);
	assert_int_equal(seccomp_ruleset_add(&set, &rule), -E2BIG);
	seccomp_ruleset_deinit(&set);
	seccomp_ruleset_deinit(&set);
	assert_null(set.rules);
}

/* The library's own table gives the same filter as the generator's. */
static void policies_compile_to_what_was_built_in(void **state)
{
	static const struct seccomp_policy *const policies[] = {&seccomp_policy_default,
								&seccomp_policy_strict};

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		struct seccomp_program made = {0}, built = {0};

		assert_int_equal(
		    seccomp_compose_policy(policies[p], seccomp_number, &made), 0);
		assert_int_equal(seccomp_builtin(policies[p]->name, &built), 0);
		assert_int_equal(made.count, built.count);
		assert_memory_equal(made.insns, built.insns,
				    made.count * sizeof(struct sock_filter));
		seccomp_program_deinit(&made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_rules_do_what_they_say),
	    cmocka_unit_test(crowded_rules_do_what_they_say),
	    cmocka_unit_test(no_rules_leave_the_defaults),
	    cmocka_unit_test(long_programs_do_what_they_say),
	    cmocka_unit_test(longer_programs_than_the_kernel_takes_are_refused),
	    cmocka_unit_test(too_many_rules_are_refused),
	    cmocka_unit_test(policies_compile_to_what_was_built_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
