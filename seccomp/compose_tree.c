/* SPDX-License-Identifier: Apache-2.0 */
/* The search over system call numbers.
 *
 * Most of a policy is one answer with single numbers that get another. So a leaf is a
 * short chain of "is it this number?", and the leaves hang on a balanced tree of "is it
 * at least this number?". A denied number costs about one instruction and a quarter. */
#include "seccomp/compose_code.h"

#include <linux/filter.h>

/* The longest chain in a leaf. */
enum { CHAIN_MAX = 4 };

struct search {
	struct seccomp_code *code;
	const struct seccomp_span *spans;
	size_t count;
	int error;
};

static bool same_answer(const struct seccomp_span *a, const struct seccomp_span *b)
{
	return a->rule_count == 0 && b->rule_count == 0 && a->action == b->action;
}

static bool single(const struct search *search, size_t i)
{
	return i + 1 < search->count &&
	       search->spans[i + 1].start - search->spans[i].start == 1;
}

static uint32_t answer(struct search *search, size_t i)
{
	const struct seccomp_span *span = &search->spans[i];
	uint32_t label = seccomp_code_ret(search->code, span->action);
	int rc;

	if (span->rule_count == 0)
		return label;
	rc = seccomp_code_rules(search->code, span->rules, span->rule_count, label,
				&label);
	if (rc < 0)
		search->error = rc;
	return label;
}

/* Are all spans in [from, to) that answer differently from span `usual` single numbers,
 * and few? */
static bool is_chain(const struct search *search, size_t from, size_t to, size_t usual)
{
	size_t others = 0;

	for (size_t i = from; i < to; i++) {
		if (i == usual || same_answer(&search->spans[i], &search->spans[usual]))
			continue;
		if (!single(search, i) || ++others > CHAIN_MAX)
			return false;
	}
	return true;
}

static uint32_t emit_chain(struct search *search, size_t from, size_t to, size_t usual)
{
	uint32_t label = answer(search, usual);

	for (size_t i = to; i-- > from;) {
		if (i == usual || same_answer(&search->spans[i], &search->spans[usual]))
			continue;
		label = seccomp_code_jump(search->code, BPF_JEQ, search->spans[i].start,
					  answer(search, i), label);
	}
	return label;
}

/* Code for numbers that are known to lie in spans [from, to). */
static uint32_t emit(struct search *search, size_t from, size_t to)
{
	size_t middle = from + (to - from) / 2;
	uint32_t above, below;

	if (search->code->full || search->error < 0)
		return 0;
	for (size_t usual = from; usual < to && usual < from + 2; usual++) {
		if (is_chain(search, from, to, usual))
			return emit_chain(search, from, to, usual);
	}
	above = emit(search, middle, to);
	below = emit(search, from, middle);
	return seccomp_code_jump(search->code, BPF_JGE, search->spans[middle].start,
				 above, below);
}

int seccomp_code_search(struct seccomp_code *code, const struct seccomp_span *spans,
			size_t count, uint32_t *ret_label)
{
	struct search search = {.code = code, .spans = spans, .count = count};

	*ret_label = emit(&search, 0, count);
	return search.error;
}
