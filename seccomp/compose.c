/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/compose_code.h"

#include "base/memory.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>

/* What a tracer writes over the number of a call that it does not want made, and the
 * kernel answers by itself. It looks like an x32 number and is none. */
#define SKIPPED UINT32_MAX

struct span_list {
	struct seccomp_span *spans;
	size_t count;
	size_t capacity; /* enough by construction: see span_list_init */
};

void seccomp_program_deinit(struct seccomp_program *program)
{
	if (program->owned)
		free((void *)(uintptr_t)program->insns);
	*program = (struct seccomp_program){0};
}

void seccomp_ruleset_deinit(struct seccomp_ruleset *set)
{
	free(set->rules);
	set->rules = NULL;
	set->count = set->capacity = 0;
}

int seccomp_ruleset_add(struct seccomp_ruleset *set, const struct seccomp_rule *rule)
{
	if (set->count == SECCOMP_RULES_MAX)
		return -E2BIG;
	if (set->count == set->capacity) {
		size_t capacity = set->capacity ? set->capacity * 2 : 256;
		struct seccomp_rule *rules =
		    reallocarray(set->rules, capacity, sizeof(*rules));

		if (!rules)
			return -ENOMEM;
		set->rules = rules;
		set->capacity = capacity;
	}
	set->rules[set->count++] = *rule;
	return 0;
}

static int compare_rules(const void *left, const void *right)
{
	const struct seccomp_rule *a = left, *b = right;

	if (a->abi != b->abi)
		return a->abi < b->abi ? -1 : 1;
	if (a->nr != b->nr)
		return a->nr < b->nr ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return 0;
}

/* A rule can end one span and begin two; a reviewed range likewise. */
static int span_list_init(struct span_list *list, const struct seccomp_ruleset *set)
{
	list->capacity =
	    2 * (set->count + SECCOMP_ABI_COUNT * (SECCOMP_REVIEWED_MAX + 1)) + 2;
	list->spans = calloc(list->capacity, sizeof(*list->spans));
	return list->spans ? 0 : -ENOMEM;
}

/* From `start` on, answer like this. A later call for the same start takes its place. */
static void span_from(struct span_list *list, uint32_t start, uint32_t action,
		      const struct seccomp_rule *rules, size_t rule_count)
{
	struct seccomp_span *last;

	if (list->count > 0 && list->spans[list->count - 1].start == start)
		list->count--;
	last = list->count > 0 ? &list->spans[list->count - 1] : NULL;
	if (last && rule_count == 0 && last->rule_count == 0 && last->action == action)
		return;
	list->spans[list->count++] =
	    (struct seccomp_span){start, action, rules, rule_count};
}

/* One number: its rules up to the first without tests. */
static void span_number(struct span_list *list, const struct seccomp_rule *rules,
			size_t count, uint32_t otherwise)
{
	size_t tested = 0;

	while (tested < count && rules[tested].test_count > 0)
		tested++;
	span_from(list, rules->nr, tested < count ? rules[tested].action : otherwise,
		  rules, tested);
	span_from(list, rules->nr + 1, otherwise, NULL, 0);
}

static size_t same_number(const struct seccomp_rule *rules, size_t count)
{
	size_t n = 1;

	while (n < count && rules[n].nr == rules->nr)
		n++;
	return n;
}

/* Lay out one ABI; rules are its own, sorted. Numbers outside the reviewed ranges have no
 * rules: nobody knows a name for them. */
static void span_abi(struct span_list *list, const struct seccomp_ruleset *set,
		     enum seccomp_abi abi, const struct seccomp_rule *rules, size_t count)
{
	const struct seccomp_abi_info *info = &seccomp_abis[abi];
	const uint32_t known = set->abi[abi].known, unknown = set->abi[abi].unknown;
	const uint32_t known_last = set->abi[abi].known_last;

	span_from(list, info->base, unknown, NULL, 0);
	for (size_t r = 0; r < SECCOMP_REVIEWED_MAX; r++) {
		uint32_t first = info->base + info->reviewed[r].first;
		uint32_t last = info->base + info->reviewed[r].last;

		if (info->reviewed[r].last == 0 || first > known_last)
			continue;
		if (last > known_last)
			last = known_last;
		span_from(list, first, known, NULL, 0);
		while (count > 0 && rules->nr <= last) {
			size_t n = same_number(rules, count);

			if (rules->nr >= first)
				span_number(list, rules, n, known);
			rules += n;
			count -= n;
		}
		span_from(list, last + 1, unknown, NULL, 0);
	}
}

/* Emit the search for one audit architecture, the ABIs [first, last). */
static int emit_arch(struct seccomp_code *code, const struct seccomp_ruleset *set,
		     unsigned first, unsigned last, uint32_t *ret_label)
{
	struct span_list list = {0};
	const struct seccomp_rule *rules = set->rules;
	size_t at = 0;
	int rc = span_list_init(&list, set);

	if (rc < 0)
		return rc;
	for (unsigned abi = 0; abi < last; abi++) {
		const struct seccomp_rule *own = at < set->count ? &rules[at] : NULL;
		size_t count = 0;

		while (at + count < set->count && rules[at + count].abi == abi)
			count++;
		at += count;
		if (abi >= first)
			span_abi(&list, set, abi, own, count);
	}
	span_from(&list, SKIPPED, SECCOMP_RET_ALLOW, NULL, 0);
	rc = seccomp_code_search(code, list.spans, list.count, ret_label);
	free(list.spans);
	if (rc == 0)
		*ret_label = seccomp_code_load(code, offsetof(struct seccomp_data, nr),
					       *ret_label);
	return rc;
}

int seccomp_compose(struct seccomp_ruleset *set, struct seccomp_program *ret)
{
	CLEANUP_SECCOMP_CODE struct seccomp_code code = {0};
	uint32_t dispatch, label;
	unsigned first, last;
	int rc = seccomp_code_init(&code);

	if (rc < 0)
		return rc;
	if (set->count > 0)
		qsort(set->rules, set->count, sizeof(*set->rules), compare_rules);
	/* An architecture that is none of this machine's: there is nothing to report. */
	dispatch = seccomp_code_ret(&code, SECCOMP_RET_KILL_PROCESS);
	for (last = SECCOMP_ABI_COUNT; last > 0; last = first) {
		const uint32_t arch = seccomp_abis[last - 1].audit_arch;

		for (first = last - 1; first > 0; first--) {
			if (seccomp_abis[first - 1].audit_arch != arch)
				break;
		}
		rc = emit_arch(&code, set, first, last, &label);
		if (rc < 0)
			return rc;
		dispatch = seccomp_code_jump(&code, BPF_JEQ, arch, label, dispatch);
	}
	dispatch =
	    seccomp_code_load(&code, offsetof(struct seccomp_data, arch), dispatch);
	return seccomp_code_finish(&code, dispatch, ret);
}
