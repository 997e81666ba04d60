/* SPDX-License-Identifier: Apache-2.0 */
/* What a seccomp filter answers, found out without a kernel. Anything that is in no
 * filter of ours fails the test. */
#ifndef TESTS_UNIT_SECCOMP_EVALUATE_H
#define TESTS_UNIT_SECCOMP_EVALUATE_H

#include "base/bpf.h"
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

static inline uint32_t evaluate(const struct seccomp_program *program,
				const struct seccomp_data *data)
{
	uint32_t answer = 0;

	assert_true(bpf_run(program->insns, program->count, data, &answer));
	return answer;
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
