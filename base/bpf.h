/* SPDX-License-Identifier: Apache-2.0 */
/* What a seccomp filter answers, without a kernel: an interpreter of the BPF that such
 * filters are made of, seccomp(2). Inline, for the program that has no library too. */
#ifndef BASE_BPF_H
#define BASE_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

/* The halves of a call's arguments, which are of 64 bits, are read as words: the compiler
 * has to know that these may be what was just stored. */
typedef uint32_t bpf_word __attribute__((may_alias));

/* How many instructions to skip; false where the kernel would not load it. */
static inline bool bpf_jump(const struct sock_filter *at, uint32_t acc, uint32_t *ret)
{
	bool taken;

	switch (at->code) {
	case BPF_JMP | BPF_JA:
		*ret = at->k;
		return true;
	case BPF_JMP | BPF_JEQ | BPF_K:
		taken = acc == at->k;
		break;
	case BPF_JMP | BPF_JGT | BPF_K:
		taken = acc > at->k;
		break;
	case BPF_JMP | BPF_JGE | BPF_K:
		taken = acc >= at->k;
		break;
	case BPF_JMP | BPF_JSET | BPF_K:
		taken = (acc & at->k) != 0;
		break;
	default:
		return false;
	}
	*ret = taken ? at->jt : at->jf;
	return true;
}

/* SECCOMP_RET_* of a call. False where it came upon something that is in no filter of
 * ours; the kernel would not load most of that. */
static inline bool bpf_run(const struct sock_filter *insns, uint32_t count,
			   const struct seccomp_data *data, uint32_t *ret)
{
	uint32_t acc = 0, skip;

	for (uint32_t pc = 0; pc < count; pc++) {
		const struct sock_filter *at = &insns[pc];

		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (at->k > sizeof(*data) - sizeof(acc) || at->k % sizeof(acc))
				return false;
			acc = ((const bpf_word *)(const void *)data)[at->k / sizeof(acc)];
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			acc &= at->k;
			break;
		case BPF_RET | BPF_K:
			*ret = at->k;
			return true;
		default:
			if (!bpf_jump(at, acc, &skip) || skip >= count - pc)
				return false;
			pc += skip;
			break;
		}
	}
	return false;
}

/* The same; a kill for anything that is no filter. */
static inline uint32_t bpf_answer(const struct sock_filter *insns, uint32_t count,
				  const struct seccomp_data *data)
{
	uint32_t answer;

	return bpf_run(insns, count, data, &answer) ? answer : SECCOMP_RET_KILL_PROCESS;
}

#endif
