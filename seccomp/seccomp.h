/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp/seccomp.h: the module's only door.
 *
 * A program is a finished seccomp filter, ready for seccomp(2). What a box must not do is
 * answered in one of two ways: with an errno, or with SECCOMP_RET_USER_NOTIF, which means
 * "kill": the box's init holds the listener, records the call and kills the task, so that
 * the kill can be reported by name. A kernel without listeners gets the same filter
 * through seccomp_without_notify. Policy and rules of thumb: docs/SECCOMP.md. */
#ifndef SECCOMP_SECCOMP_H
#define SECCOMP_SECCOMP_H

#include <husk/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sock_filter;

struct seccomp_program {
	const struct sock_filter
	    *insns; /* count of them; heap where owned, else static */
	uint16_t count;
	uint16_t unknown_names; /* syscall names of a profile that this build does not
				 * know and left out */
	bool owned;
};

/* Release; the program is empty and may be released again. */
void seccomp_program_deinit(struct seccomp_program *program);
#define CLEANUP_SECCOMP_PROGRAM __attribute__((cleanup(seccomp_program_deinit)))

/* A filter that was compiled with the library: "default" (denylist) or "strict"
 * (allowlist). 0, or -ENOENT for any other name. */
int seccomp_builtin(const char *name, struct seccomp_program *ret);

/* Compile an OCI or Docker seccomp profile (JSON). The file is opened safely: whatever
 * path names, the call does not block. Returns 0, HUSK_E_INVALID (what the profile says
 * cannot be done; the message names the key), HUSK_E_TOO_BIG, HUSK_E_SYSTEM or
 * HUSK_E_MEMORY. */
int seccomp_profile_load(const char *path, struct seccomp_program *ret,
			 struct husk_error *err);

/* The same for bytes in memory, of which nothing is trusted; where: how errors name them.
 */
int seccomp_profile_parse(const char *text, size_t size, const char *where,
			  struct seccomp_program *ret, struct husk_error *err);

/* Turn every notification into SECCOMP_RET_KILL_PROCESS. A static program is copied
 * first, which can fail with -ENOMEM and then leaves it as it was; for an owned one the
 * answer is always 0. */
int seccomp_without_notify(struct seccomp_program *program);

/* What a program answers (SECCOMP_RET_*) to a call whose arguments are all zero. */
uint32_t seccomp_answer(const struct seccomp_program *program, uint32_t audit_arch,
			uint32_t nr);

/* The same for a call with these arguments. */
uint32_t seccomp_answer_args(const struct seccomp_program *program, uint32_t audit_arch,
			     uint32_t nr, const uint64_t args[6]);

/* The name of a system call as a notification gives it (AUDIT_ARCH_*, number), such as
 * "mount"; 32-bit and x32 calls go by the same names. "syscall 9999" where it is not
 * known. Returns buf, which 32 bytes always suffice for. */
const char *seccomp_syscall_name(uint32_t audit_arch, uint32_t nr, char *buf,
				 size_t size);

#endif
