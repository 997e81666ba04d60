/* SPDX-License-Identifier: Apache-2.0 */
/* What a seccomp filter answers, without a kernel: an interpreter of the BPF that such
 * filters are made of, seccomp(2). Inline, for the program that has no library too. */
#ifndef BASE_BPF_H
#define BASE_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

static inline uint32_t bpf_jump(const struct sock_filter *at, uint32_t acc)
{
	switch (BPF_OP(at->code)) {
	case BPF_JA:
		return at->k;
	case BPF_JEQ:
		return acc == at->k ? at->jt : at->jf;
	case BPF_JGT:
		return acc > at->k ? at->jt : at->jf;
	case BPF_JGE:
		return acc >= at->k ? at->jt : at->jf;
	default:
		return acc & at->k ? at->jt : at->jf;
	}
}

/* SECCOMP_RET_* of a call; a kill for anything that is no filter. */
static inline uint32_t bpf_answer(const struct sock_filter *insns, uint32_t count,
				  const struct seccomp_data *data)
{
	uint32_t acc = 0;

	for (uint32_t pc = 0; pc < count; pc++) {
		const struct sock_filter *at = &insns[pc];

		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (at->k > sizeof(*data) - sizeof(acc) || at->k % sizeof(acc))
				return SECCOMP_RET_KILL_PROCESS;
			acc = ((const uint32_t *)(const void *)data)[at->k / sizeof(acc)];
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			acc &= at->k;
			break;
		case BPF_RET | BPF_K:
			return at->k;
		default:
			pc += bpf_jump(at, acc);
			break;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

#endif
