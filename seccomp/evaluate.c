/* SPDX-License-Identifier: Apache-2.0 */
/* What a filter answers to a call, without a kernel: an interpreter of the BPF that
 * filters are made of, seccomp(2). */
#include "seccomp/seccomp.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

static uint32_t jump(const struct sock_filter *at, uint32_t acc)
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

uint32_t seccomp_answer(const struct seccomp_program *program, uint32_t audit_arch,
			uint32_t nr)
{
	const struct seccomp_data data = {.nr = (int)nr, .arch = audit_arch};
	uint32_t acc = 0;

	for (uint32_t pc = 0; pc < program->count; pc++) {
		const struct sock_filter *at = &program->insns[pc];

		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (at->k > sizeof(data) - sizeof(acc))
				return SECCOMP_RET_KILL_PROCESS;
			memcpy(&acc, (const char *)&data + at->k, sizeof(acc));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			acc &= at->k;
			break;
		case BPF_RET | BPF_K:
			return at->k;
		default:
			pc += jump(at, acc);
			break;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}
