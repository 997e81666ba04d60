/* SPDX-License-Identifier: Apache-2.0 */
/* The generator: runs on the machine that builds, and prints C. */
#ifndef SECCOMP_GEN_GEN_H
#define SECCOMP_GEN_GEN_H

#include "seccomp/generated.h"

enum { GEN_NUMBERS_MAX = 1024 };

/* Every name that libseccomp or policy_new_numbers.c has for a reviewed number, sorted.
 * False, with words on stderr, where the two disagree. */
bool gen_collect_numbers(void);

extern struct seccomp_number gen_numbers[GEN_NUMBERS_MAX];
extern size_t gen_number_count;

/* A seccomp_number_fn. */
uint32_t gen_number(enum seccomp_abi abi, const char *name);

/* Is this the name of a system call on any machine? */
bool gen_is_syscall(const char *name);

#endif
