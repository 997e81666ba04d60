/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/seccomp.h"

#include "base/bpf.h"

#include <string.h>

uint32_t seccomp_answer(const struct seccomp_program *program, uint32_t audit_arch,
			uint32_t nr)
{
	static const uint64_t zero[6];

	return seccomp_answer_args(program, audit_arch, nr, zero);
}

uint32_t seccomp_answer_args(const struct seccomp_program *program, uint32_t audit_arch,
			     uint32_t nr, const uint64_t args[6])
{
	struct seccomp_data data = {.nr = (int)nr, .arch = audit_arch};

	memcpy(data.args, args, sizeof(data.args));
	return bpf_answer(program->insns, program->count, &data);
}
