/* SPDX-License-Identifier: Apache-2.0 */
/* What seccomp/gen writes at build time. */
#ifndef SECCOMP_GENERATED_H
#define SECCOMP_GENERATED_H

#include "seccomp/policy.h"

#include <linux/filter.h>

struct seccomp_generated {
	const char *name; /* of the policy */
	const struct sock_filter *insns;
	uint16_t count;
};

extern const struct seccomp_generated seccomp_generated[];
extern const size_t seccomp_generated_count;

enum { SECCOMP_NAME_MAX = 32 };

/* A system call's numbers, SECCOMP_NO_NUMBER where an ABI lacks it; sorted by name. */
struct seccomp_number {
	char name[SECCOMP_NAME_MAX];
	uint32_t nr[SECCOMP_ABI_COUNT];
};

extern const struct seccomp_number seccomp_numbers[];
extern const size_t seccomp_number_count;

/* names.c: a seccomp_number_fn over that table. */
uint32_t seccomp_number(enum seccomp_abi abi, const char *name);

#endif
