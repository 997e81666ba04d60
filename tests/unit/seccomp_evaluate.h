/* SPDX-License-Identifier: Apache-2.0 */
/* What a seccomp filter answers, found out without a kernel: an interpreter of the BPF
 * that the filters are made of. Anything the kernel would not load fails the test. */
#ifndef TESTS_UNIT_SECCOMP_EVALUATE_H
#define TESTS_UNIT_SECCOMP_EVALUATE_H

#include "seccomp/policy.h"
#include "seccomp/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

/* cmocka wants these before its own header. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static inline uint32_t evaluate_jump(const struct sock_filter *at, uint32_t acc)
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
	case BPF_JSET:
		return acc & at->k ? at->jt : at->jf;
	}
	fail_msg("jump 0x%x", at->code);
	return 0;
}

static inline uint32_t evaluate(const struct seccomp_program *program,
				const struct seccomp_data *data)
{
	uint32_t acc = 0;

	for (uint32_t pc = 0; pc < program->count; pc++) {
		const struct sock_filter *at = &program->insns[pc];

		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(at->k % 4 == 0 && at->k < sizeof(*data));
			memcpy(&acc, (const char *)data + at->k, sizeof(acc));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			acc &= at->k;
			break;
		case BPF_RET | BPF_K:
			return at->k;
		default:
			assert_int_equal(BPF_CLASS(at->code), BPF_JMP);
			pc += evaluate_jump(at, acc);
		}
	}
	fail_msg("ran off the end");
	return 0;
}

/* A call with up to three arguments; the others are zero. */
static inline uint32_t evaluate_call(const struct seccomp_program *program, uint32_t arch,
				     uint32_t nr, uint64_t a0, uint64_t a1, uint64_t a2)
{
	const struct seccomp_data data = {
	    .arch = arch,
	    .nr = (int)nr,
	    .args = {a0, a1, a2},
	};

	return evaluate(program, &data);
}

#define FAILS(error) ((uint32_t)(SECCOMP_RET_ERRNO | (error)))

#endif
