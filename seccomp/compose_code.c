/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/compose_code.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

/* A conditional jump skips at most 255 instructions. Two are kept back for what placing
 * its targets may put in between. */
enum { REACH = 255 - 2 };

int seccomp_code_init(struct seccomp_code *code)
{
	*code = (struct seccomp_code){0};
	code->insns = malloc(SECCOMP_CODE_MAX * sizeof(*code->insns));
	return code->insns ? 0 : -ENOMEM;
}

void seccomp_code_deinit(struct seccomp_code *code)
{
	free(code->insns);
	*code = (struct seccomp_code){0};
}

static uint32_t append(struct seccomp_code *code, uint16_t op, uint32_t k, uint32_t yes,
		       uint32_t no)
{
	if (code->count == SECCOMP_CODE_MAX) {
		code->full = true;
		return 0;
	}
	code->insns[code->count] = (struct seccomp_code_insn){op, k, yes, no};
	return code->count++;
}

/* The newest is the nearest, and only a near one can be jumped to directly. */
static bool find(const struct seccomp_code *code, uint16_t op, uint32_t k, uint32_t yes,
		 uint32_t no, uint32_t *ret)
{
	for (uint32_t i = code->count; i-- > 0;) {
		const struct seccomp_code_insn *at = &code->insns[i];

		if (at->code == op && at->k == k && at->yes == yes && at->no == no) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static uint32_t find_or_append(struct seccomp_code *code, uint16_t op, uint32_t k,
			       uint32_t yes, uint32_t no)
{
	uint32_t label;

	if (find(code, op, k, yes, no, &label))
		return label;
	return append(code, op, k, yes, no);
}

uint32_t seccomp_code_ret(struct seccomp_code *code, uint32_t action)
{
	return find_or_append(code, BPF_RET | BPF_K, action, 0, 0);
}

/* A label from which a jump written now can get to `label`: a copy of a return, or a long
 * jump. */
static uint32_t near(struct seccomp_code *code, uint32_t label)
{
	const struct seccomp_code_insn *at = &code->insns[label];
	uint32_t jump;

	if (code->full || code->count - label - 1 <= REACH)
		return label;
	if (at->code == (BPF_RET | BPF_K))
		return append(code, BPF_RET | BPF_K, at->k, 0, 0);
	if (find(code, BPF_JMP | BPF_JA, 0, label, 0, &jump) &&
	    code->count - jump - 1 <= REACH)
		return jump;
	return append(code, BPF_JMP | BPF_JA, 0, label, 0);
}

uint32_t seccomp_code_jump(struct seccomp_code *code, uint16_t condition, uint32_t k,
			   uint32_t yes, uint32_t no)
{
	const uint16_t op = BPF_JMP | condition | BPF_K;
	uint32_t label;

	if (find(code, op, k, yes, no, &label))
		return label;
	yes = near(code, yes);
	no = near(code, no);
	return append(code, op, k, yes, no);
}

/* Loads and AND fall through: what follows must be the instruction written last. */
static uint32_t fall_through(struct seccomp_code *code, uint16_t op, uint32_t k,
			     uint32_t next)
{
	uint32_t label;

	if (find(code, op, k, next, 0, &label))
		return label;
	if (next + 1 != code->count)
		(void)append(code, BPF_JMP | BPF_JA, 0, next, 0);
	return append(code, op, k, next, 0);
}

uint32_t seccomp_code_load(struct seccomp_code *code, uint32_t offset, uint32_t next)
{
	return fall_through(code, BPF_LD | BPF_W | BPF_ABS, offset, next);
}

uint32_t seccomp_code_and(struct seccomp_code *code, uint32_t mask, uint32_t next)
{
	return fall_through(code, BPF_ALU | BPF_AND | BPF_K, mask, next);
}

uint32_t seccomp_code_skip_load(const struct seccomp_code *code, uint32_t label,
				uint32_t offset, uint32_t mask)
{
	const struct seccomp_code_insn *load = &code->insns[label];
	const struct seccomp_code_insn *next;

	if (code->full || load->code != (BPF_LD | BPF_W | BPF_ABS) || load->k != offset)
		return label;
	next = &code->insns[load->yes];
	if (next->code == (BPF_ALU | BPF_AND | BPF_K) && next->k == mask)
		return next->yes;
	return mask == UINT32_MAX ? load->yes : label;
}

/* Drop what no path from the last instruction reaches: loads that every jump skips.
 * Labels in the remaining instructions are renumbered; distances only shrink. */
static void drop_unreached(struct seccomp_code *code, uint32_t *renumber)
{
	struct seccomp_code_insn *insns = code->insns;
	uint32_t kept = 0;

	renumber[code->count - 1] = 1;
	for (uint32_t i = code->count; i-- > 0;) {
		const uint16_t class = BPF_CLASS(insns[i].code);

		if (!renumber[i] || class == BPF_RET)
			continue;
		if (class == BPF_JMP) {
			renumber[insns[i].yes] = 1;
			if (insns[i].code != (BPF_JMP | BPF_JA))
				renumber[insns[i].no] = 1;
		} else {
			renumber[i - 1] = 1; /* falls through */
		}
	}
	for (uint32_t i = 0; i < code->count; i++) {
		if (!renumber[i])
			continue;
		renumber[i] = kept;
		insns[kept] = insns[i];
		insns[kept].yes = renumber[insns[i].yes];
		insns[kept].no = renumber[insns[i].no];
		kept++;
	}
	code->count = kept;
}

int seccomp_code_finish(struct seccomp_code *code, uint32_t entry,
			struct seccomp_program *ret)
{
	CLEANUP_FREE uint32_t *renumber = NULL;
	struct sock_filter *out;

	if (!code->full && entry + 1 != code->count)
		(void)append(code, BPF_JMP | BPF_JA, 0, entry, 0);
	if (code->full)
		return -E2BIG;
	renumber = calloc(code->count, sizeof(*renumber));
	if (!renumber)
		return -ENOMEM;
	drop_unreached(code, renumber);
	if (code->count > BPF_MAXINSNS)
		return -E2BIG;
	out = calloc(code->count, sizeof(*out));
	if (!out)
		return -ENOMEM;
	for (uint32_t i = 0; i < code->count; i++) {
		const struct seccomp_code_insn *at = &code->insns[i];
		struct sock_filter *to = &out[code->count - 1 - i];

		*to = (struct sock_filter){.code = at->code, .k = at->k};
		if (at->code == (BPF_JMP | BPF_JA)) {
			to->k = i - at->yes - 1;
		} else if (BPF_CLASS(at->code) == BPF_JMP) {
			to->jt = (uint8_t)(i - at->yes - 1);
			to->jf = (uint8_t)(i - at->no - 1);
		}
	}
	*ret = (struct seccomp_program){
	    .insns = out, .count = (uint16_t)code->count, .owned = true};
	return 0;
}
