/* SPDX-License-Identifier: Apache-2.0 */
/* Policy as data: which system calls a box may make, and why not.
 *
 * A policy is a few tables and a verdict for what no row names. Rows are sorted by name;
 * rows of one name stay together, those with tests first, and the first that matches
 * decides. Where several tables name a call, the first table's rows come first.
 * Every row has a reason, and tests/unit holds each of them to what it says, in every ABI
 * of the machine.
 *
 * No code here: the tables are read by the generator at build time (seccomp/gen) and by
 * the tests. */
#ifndef SECCOMP_POLICY_H
#define SECCOMP_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The system call ABIs that a process on this machine can use. */
enum seccomp_abi {
#if defined(__x86_64__)
	SECCOMP_ABI_X86_64,
	SECCOMP_ABI_X32,
	SECCOMP_ABI_I386,
#elif defined(__aarch64__)
	SECCOMP_ABI_AARCH64,
	SECCOMP_ABI_ARM,
#else
#error "seccomp/policy_abi.c has no table for this machine"
#endif
	SECCOMP_ABI_COUNT
};

/* A number that an ABI does not have. */
#define SECCOMP_NO_NUMBER UINT32_MAX

struct seccomp_range {
	uint32_t first;
	uint32_t last;
};

enum { SECCOMP_REVIEWED_MAX = 3 };

/* ABIs of one audit architecture stand together, by rising base. The first is native. */
struct seccomp_abi_info {
	const char *name;    /* as libseccomp resolves it */
	const char *oci;     /* as profiles call it */
	uint32_t audit_arch; /* AUDIT_ARCH_*, what the kernel puts into seccomp_data */
	uint32_t base;	     /* added to every number of the ABI (x32's mark) */
	/* Numbers that someone has read and decided about. Everything else is answered
	 * ENOSYS, so that the mount call of a later kernel is not open by default. */
	struct seccomp_range reviewed[SECCOMP_REVIEWED_MAX];
};

extern const struct seccomp_abi_info seccomp_abis[SECCOMP_ABI_COUNT];

/* The native architecture as Docker profiles call it. */
extern const char seccomp_docker_arch[];

/* A test of one argument. Without SECCOMP_OP_ANY and with 64 bits these are libseccomp's.
 */
enum seccomp_op {
	SECCOMP_OP_EQ,
	SECCOMP_OP_NE,
	SECCOMP_OP_LT,
	SECCOMP_OP_LE,
	SECCOMP_OP_GT,
	SECCOMP_OP_GE,
	SECCOMP_OP_MASKED_EQ, /* (argument & mask) == value */
	SECCOMP_OP_ANY,	      /* (argument & mask) != 0 */
	SECCOMP_OP_NULL	      /* a pointer that is NULL: all 64 bits, always */
};

enum { SECCOMP_ARGS = 6, SECCOMP_ROW_TESTS = 2 };

struct seccomp_test {
	uint8_t arg; /* 0 to 5 */
	uint8_t op;  /* enum seccomp_op */
	uint64_t mask;
	uint64_t value;
};

enum seccomp_verdict {
	SECCOMP_ALLOW,
	SECCOMP_ERRNO,
	SECCOMP_FEIGN, /* success, and nothing is done */
	SECCOMP_KILL   /* a notification: init records the call and kills the task */
};

struct seccomp_row {
	const char *name;
	uint8_t verdict;    /* enum seccomp_verdict */
	uint8_t test_count; /* all must hold; 0: the row always matches */
	uint16_t error;	    /* for SECCOMP_ERRNO */
	/* On the low 32 bits alone: a row may only test an argument of which the kernel
	 * looks at no more, and then garbage in the upper half must change nothing.
	 * Pointers are for SECCOMP_OP_NULL. */
	struct seccomp_test tests[SECCOMP_ROW_TESTS];
	const char *reason; /* a few words; never empty */
};

struct seccomp_table {
	const struct seccomp_row *rows;
	size_t count;
};

enum { SECCOMP_TABLES = 3 };

struct seccomp_policy {
	const char *name;
	uint8_t verdict; /* for reviewed numbers without a row that matches */
	uint16_t error;
	/* In the order in which they are asked; NULL: none. */
	const struct seccomp_table *tables[SECCOMP_TABLES];
};

/* What no box may do. */
extern const struct seccomp_table seccomp_denylist;
/* What a strict box may not do either. */
extern const struct seccomp_table seccomp_refused;

/* The denylist: everything else is allowed. */
extern const struct seccomp_policy seccomp_policy_default;
/* The allowlist, behind the denylist's rows and those of what it leaves out; a number
 * that none of them names is ENOSYS. */
extern const struct seccomp_policy seccomp_policy_strict;

/* What the init program may do while a program runs under it; native calls alone, and
 * anything else is a kill. All rows are SECCOMP_ALLOW. */
extern const struct seccomp_table seccomp_init_calls;
/* What it may do besides while its box is parked. */
extern const struct seccomp_table seccomp_init_park_calls;
/* What it may do besides while it traces the program. */
extern const struct seccomp_table seccomp_init_trace_calls;

/* Calls that are newer than the libseccomp of stable distributions. */
struct seccomp_new_number {
	const char *name;
	uint16_t nr;
	bool native_only; /* not in the 32-bit ABIs */
};

extern const struct seccomp_new_number seccomp_new_numbers[];
extern const size_t seccomp_new_number_count;

/* Arguments of which the kernel reads only 32 bits, as a bit set; sorted by name.
 * Profiles are compared on those bits, whatever the upper half of the register holds. */
struct seccomp_int_args {
	const char *name;
	uint8_t args;
};

extern const struct seccomp_int_args seccomp_int_args[];
extern const size_t seccomp_int_args_count;

#endif
