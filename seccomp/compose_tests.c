/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of arguments: the leaves of the search.
 *
 * Rules are tried in order, and of each its tests. What one rule has learned, the next
 * need not ask again: where a test fails, the rules after it that begin with the same
 * tests are entered behind what is known to hold, or passed by. A jump into a load of the
 * word that is loaded already goes behind the load. */
#include "seccomp/compose_code.h"

#include "base/memory.h"

#include <endian.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>

/* One test of one rule. Targets are nodes, or one of these. */
struct node {
	uint32_t pass;
	uint32_t fail;
	uint32_t label;
	bool needed; /* something jumps here */
};

#define OTHERWISE  UINT32_MAX	    /* no rule matched */
#define RETURN	   (UINT32_MAX / 2) /* plus the index of a rule: it matched */
#define IS_NODE(t) ((t) < RETURN)

static bool same_test(const struct seccomp_test *a, const struct seccomp_test *b)
{
	return a->arg == b->arg && a->op == b->op && a->mask == b->mask &&
	       a->value == b->value;
}

/* How many tests two rules have in common at their beginning. */
static uint32_t common(const struct seccomp_rule *a, const struct seccomp_rule *b)
{
	uint32_t n = 0;

	while (n < a->test_count && n < b->test_count &&
	       same_test(&a->tests[n], &b->tests[n]))
		n++;
	return n;
}

/* Fill in the targets of a rule's tests, given those of the next rule. */
static void link_rule(struct node *nodes, const struct seccomp_rule *rules, size_t count,
		      size_t i, uint32_t next_first)
{
	const struct seccomp_rule *rule = &rules[i];
	const bool last = i + 1 == count;
	const uint32_t shared = last ? 0 : common(rule, rule + 1);
	const uint32_t first = next_first - rule->test_count;

	for (uint32_t t = 0; t < rule->test_count; t++) {
		struct node *node = &nodes[first + t];

		node->pass = first + t + 1;
		if (node->pass == next_first)
			node->pass = RETURN + (uint32_t)i;
		if (last)
			node->fail = OTHERWISE;
		else if (shared > t)
			node->fail = nodes[next_first + t].fail;
		else if (shared == rule[1].test_count)
			node->fail = RETURN + (uint32_t)i + 1;
		else
			node->fail = next_first + shared;
	}
}

/* Targets lie ahead, so one pass finds every node that is jumped to. */
static void mark_needed(struct node *nodes, uint32_t count)
{
	nodes[0].needed = true;
	for (uint32_t n = 0; n < count; n++) {
		if (!nodes[n].needed)
			continue;
		if (IS_NODE(nodes[n].pass))
			nodes[nodes[n].pass].needed = true;
		if (IS_NODE(nodes[n].fail))
			nodes[nodes[n].fail].needed = true;
	}
}

/* Compare one 32-bit word of seccomp_data. */
static uint32_t compare(struct seccomp_code *code, uint32_t offset, uint32_t mask,
			uint16_t condition, uint32_t k, uint32_t yes, uint32_t no)
{
	uint32_t label;

	yes = seccomp_code_skip_load(code, yes, offset, mask);
	no = seccomp_code_skip_load(code, no, offset, mask);
	label = seccomp_code_jump(code, condition, k, yes, no);
	if (mask != UINT32_MAX)
		label = seccomp_code_and(code, mask, label);
	return seccomp_code_load(code, offset, label);
}

static uint32_t compare_masked(struct seccomp_code *code, uint32_t offset, uint32_t mask,
			       uint32_t value, uint32_t yes, uint32_t no)
{
	if (mask == 0)
		return value == 0 ? yes : no;
	if (value == 0)
		return compare(code, offset, UINT32_MAX, BPF_JSET, mask, no, yes);
	return compare(code, offset, mask, BPF_JEQ, value, yes, no);
}

static uint32_t test_low(struct seccomp_code *code, const struct seccomp_test *test,
			 uint32_t offset, uint32_t yes, uint32_t no)
{
	const uint32_t value = (uint32_t)test->value, mask = (uint32_t)test->mask;

	switch (test->op) {
	case SECCOMP_OP_EQ:
		return compare(code, offset, UINT32_MAX, BPF_JEQ, value, yes, no);
	case SECCOMP_OP_NE:
		return compare(code, offset, UINT32_MAX, BPF_JEQ, value, no, yes);
	case SECCOMP_OP_LT:
		return compare(code, offset, UINT32_MAX, BPF_JGE, value, no, yes);
	case SECCOMP_OP_LE:
		return compare(code, offset, UINT32_MAX, BPF_JGT, value, no, yes);
	case SECCOMP_OP_GT:
		return compare(code, offset, UINT32_MAX, BPF_JGT, value, yes, no);
	case SECCOMP_OP_GE:
		return compare(code, offset, UINT32_MAX, BPF_JGE, value, yes, no);
	case SECCOMP_OP_MASKED_EQ:
		return compare_masked(code, offset, mask, value, yes, no);
	case SECCOMP_OP_ANY:
		return compare_masked(code, offset, mask, 0, no, yes);
	}
	return no;
}

/* The upper halves, when `low` decides where they are equal. */
static uint32_t test_high(struct seccomp_code *code, const struct seccomp_test *test,
			  uint32_t offset, uint32_t low, uint32_t yes, uint32_t no)
{
	const uint32_t value = (uint32_t)(test->value >> 32);
	const uint32_t mask = (uint32_t)(test->mask >> 32);
	uint32_t equal;

	switch (test->op) {
	case SECCOMP_OP_EQ:
		return compare(code, offset, UINT32_MAX, BPF_JEQ, value, low, no);
	case SECCOMP_OP_NE:
		return compare(code, offset, UINT32_MAX, BPF_JEQ, value, low, yes);
	case SECCOMP_OP_LT:
	case SECCOMP_OP_LE:
		equal = compare(code, offset, UINT32_MAX, BPF_JEQ, value, low, yes);
		return compare(code, offset, UINT32_MAX, BPF_JGT, value, no, equal);
	case SECCOMP_OP_GT:
	case SECCOMP_OP_GE:
		equal = compare(code, offset, UINT32_MAX, BPF_JEQ, value, low, no);
		return compare(code, offset, UINT32_MAX, BPF_JGT, value, yes, equal);
	case SECCOMP_OP_MASKED_EQ:
		return compare_masked(code, offset, mask, value, low, no);
	case SECCOMP_OP_ANY:
		return compare_masked(code, offset, mask, 0, low, yes);
	}
	return no;
}

/* The answer where the upper half is known to be zero and the value's is not. */
static bool holds_below(uint8_t op)
{
	return op == SECCOMP_OP_NE || op == SECCOMP_OP_LT || op == SECCOMP_OP_LE;
}

static uint32_t emit_test(struct seccomp_code *code, const struct seccomp_rule *rule,
			  const struct seccomp_test *test, uint32_t yes, uint32_t no)
{
	const uint32_t base = (uint32_t)offsetof(struct seccomp_data, args) +
			      (uint32_t)sizeof(uint64_t) * test->arg;
	const bool little = BYTE_ORDER == LITTLE_ENDIAN;
	const uint32_t low = base + (little ? 0 : 4), high = base + (little ? 4 : 0);
	uint32_t label;

	if (test->op == SECCOMP_OP_NULL) {
		label = compare(code, high, UINT32_MAX, BPF_JEQ, 0, yes, no);
		return compare(code, low, UINT32_MAX, BPF_JEQ, 0, label, no);
	}
	if (rule->int_args & (1u << test->arg)) {
		if (test->value >> 32)
			return holds_below(test->op) ? yes : no;
		return test_low(code, test, low, yes, no);
	}
	label = test_low(code, test, low, yes, no);
	return test_high(code, test, high, label, yes, no);
}

static uint32_t resolve(struct seccomp_code *code, const struct node *nodes,
			const struct seccomp_rule *rules, uint32_t target,
			uint32_t otherwise)
{
	if (target == OTHERWISE)
		return otherwise;
	if (IS_NODE(target))
		return nodes[target].label;
	return seccomp_code_ret(code, rules[target - RETURN].action);
}

int seccomp_code_rules(struct seccomp_code *code, const struct seccomp_rule *rules,
		       size_t count, uint32_t otherwise, uint32_t *ret_label)
{
	CLEANUP_FREE struct node *nodes = NULL;
	uint32_t total = 0, n;

	for (size_t i = 0; i < count; i++)
		total += rules[i].test_count;
	if (total == 0) {
		*ret_label = otherwise;
		return 0;
	}
	nodes = calloc(total, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	n = total;
	for (size_t i = count; i-- > 0;) {
		link_rule(nodes, rules, count, i, n);
		n -= rules[i].test_count;
	}
	mark_needed(nodes, total);
	n = total;
	for (size_t i = count; i-- > 0;) {
		for (uint32_t t = rules[i].test_count; t-- > 0 && !code->full;) {
			struct node *node = &nodes[--n];
			uint32_t yes, no;

			if (!node->needed)
				continue;
			yes = resolve(code, nodes, rules, node->pass, otherwise);
			no = resolve(code, nodes, rules, node->fail, otherwise);
			node->label =
			    emit_test(code, &rules[i], &rules[i].tests[t], yes, no);
		}
	}
	*ret_label = nodes[0].label;
	return 0;
}
