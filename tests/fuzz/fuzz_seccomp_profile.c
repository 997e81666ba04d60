/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a seccomp profile. What is accepted must be a program that
 * the kernel takes; what is refused must say why in one printable line. */
#include "tests/fuzz/fuzz.h"

#include <linux/filter.h>

#include "seccomp/seccomp.h"

/* The kernel's own rules for what we emit: known instructions, jumps that stay inside,
 * and a return at the end. */
static void check_program(const struct seccomp_program *program)
{
	require(program->owned && program->count > 0 && program->count <= BPF_MAXINSNS);
	for (uint32_t pc = 0; pc < program->count; pc++) {
		const struct sock_filter *at = &program->insns[pc];
		const uint32_t left = program->count - pc - 1;

		switch (BPF_CLASS(at->code)) {
		case BPF_LD:
			require(at->code == (BPF_LD | BPF_W | BPF_ABS));
			require(at->k % 4 == 0 && at->k < 64);
			break;
		case BPF_ALU:
			require(at->code == (BPF_ALU | BPF_AND | BPF_K));
			break;
		case BPF_JMP:
			if (BPF_OP(at->code) == BPF_JA)
				require(at->k < left);
			else
				require(at->jt < left && at->jf < left);
			break;
		default:
			require(at->code == (BPF_RET | BPF_K));
		}
	}
	require(program->insns[program->count - 1].code == (BPF_RET | BPF_K));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seccomp_program program = {0};
	struct husk_error err = {0};
	const int rc =
	    seccomp_profile_parse((const char *)data, size, "input", &program, &err);

	if (rc == 0) {
		check_program(&program);
		require(seccomp_without_notify(&program) == 0);
		seccomp_program_deinit(&program);
		return 0;
	}
	require(program.insns == NULL);
	require_refusal(rc, &err);
	return 0;
}
