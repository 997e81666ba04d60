/* SPDX-License-Identifier: Apache-2.0 */
/* The generator: runs on the machine that builds, and prints C. */
#ifndef SECCOMP_GEN_GEN_H
#define SECCOMP_GEN_GEN_H

#include "seccomp/generated.h"
#include "seccomp/seccomp.h"

enum { GEN_NUMBERS_MAX = 1024 };

/* Every name that libseccomp or policy_new_numbers.c has for a reviewed number, sorted.
 * False, with words on stderr, where the two disagree. */
bool gen_collect_numbers(void);

extern struct seccomp_number gen_numbers[GEN_NUMBERS_MAX];
extern size_t gen_number_count;

/* A seccomp_number_fn. */
uint32_t gen_number(enum seccomp_abi abi, const char *name);

/* "static const struct sock_filter NAME[] = {...};" */
void gen_print_program(const char *name, const struct seccomp_program *program);

/* init_filter.c: the filters that let the calls of init pass, native ones, and kill at
 * any other. False, with words on stderr, where a name is unknown. */
bool gen_print_init(void);

/* Is this the name of a system call on any machine? */
bool gen_is_syscall(const char *name);

#endif
