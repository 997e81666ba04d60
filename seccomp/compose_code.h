/* SPDX-License-Identifier: Apache-2.0 */
/* The emitter below seccomp_compose: BPF written from its end to its beginning.
 *
 * BPF only jumps forward, so writing backwards every target is there before the jump to
 * it, and code that is there already is used again instead of being written twice. A
 * label is the index of an instruction in that backward order. */
#ifndef SECCOMP_COMPOSE_CODE_H
#define SECCOMP_COMPOSE_CODE_H

#include "seccomp/compose.h"

#include <linux/filter.h>

struct seccomp_code_insn {
	uint16_t code;
	uint32_t k;
	uint32_t yes; /* label: jump target; of loads and AND, the next instruction */
	uint32_t no;  /* label: the other target of a conditional jump */
};

/* Half of it for what seccomp_code_finish finds that nothing reaches. */
enum { SECCOMP_CODE_MAX = 2 * BPF_MAXINSNS };

struct seccomp_code {
	struct seccomp_code_insn *insns; /* room for SECCOMP_CODE_MAX */
	uint32_t count;
	bool full; /* something did not fit: labels mean nothing any more */
};

int seccomp_code_init(struct seccomp_code *code);
void seccomp_code_deinit(struct seccomp_code *code);
#define CLEANUP_SECCOMP_CODE __attribute__((cleanup(seccomp_code_deinit)))

/* Each of these gives the label of an instruction that does this. */
uint32_t seccomp_code_ret(struct seccomp_code *code, uint32_t action);
uint32_t seccomp_code_jump(struct seccomp_code *code, uint16_t condition, uint32_t k,
			   uint32_t yes, uint32_t no);
uint32_t seccomp_code_load(struct seccomp_code *code, uint32_t offset, uint32_t next);
uint32_t seccomp_code_and(struct seccomp_code *code, uint32_t mask, uint32_t next);

/* Where a jump to `label` may land instead when the word at offset, ANDed with mask, is
 * in the accumulator already. */
uint32_t seccomp_code_skip_load(const struct seccomp_code *code, uint32_t label,
				uint32_t offset, uint32_t mask);

/* The finished program, beginning at entry. 0, -ENOMEM or -E2BIG. */
int seccomp_code_finish(struct seccomp_code *code, uint32_t entry,
			struct seccomp_program *ret);

/* compose_tests.c: rules with tests, count of them, and what to do when none matches. */
int seccomp_code_rules(struct seccomp_code *code, const struct seccomp_rule *rules,
		       size_t count, uint32_t otherwise, uint32_t *ret_label);

/* A run of numbers with one answer: the first rule of `rules` that matches, else action.
 */
struct seccomp_span {
	uint32_t start; /* ends where the next begins; the last at UINT32_MAX */
	uint32_t action;
	const struct seccomp_rule *rules;
	size_t rule_count;
};

/* compose_tree.c: a search over spans, the first of which starts at 0. */
int seccomp_code_search(struct seccomp_code *code, const struct seccomp_span *spans,
			size_t count, uint32_t *ret_label);

#endif
