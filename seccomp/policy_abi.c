/* SPDX-License-Identifier: Apache-2.0 */
/* The ABIs of this machine and how far each has been reviewed.
 *
 * The upper ends are Linux 6.19 (470 listns). Raising one means reading what is new,
 * adding rows for what should be closed and, where libseccomp does not know the names
 * yet, lines to policy_new_numbers.c. The gaps are numbers that no kernel has used so
 * far; an architecture may still hand them out (336 uprobe came in 6.18). */
#include "seccomp/policy.h"

#include <linux/audit.h>

enum { LAST = 470 };

const struct seccomp_abi_info seccomp_abis[SECCOMP_ABI_COUNT] = {
#if defined(__x86_64__)
    [SECCOMP_ABI_X86_64] =
	{
	    .name = "x86_64",
	    .oci = "SCMP_ARCH_X86_64",
	    .audit_arch = AUDIT_ARCH_X86_64,
	    .reviewed = {{0, 336}, {424, LAST}},
	},
    [SECCOMP_ABI_X32] =
	{
	    .name = "x32",
	    .oci = "SCMP_ARCH_X32",
	    .audit_arch = AUDIT_ARCH_X86_64,
	    .base = 0x40000000,
	    .reviewed = {{0, 336}, {424, LAST}, {512, 547}},
	},
    [SECCOMP_ABI_I386] =
	{
	    .name = "x86",
	    .oci = "SCMP_ARCH_X86",
	    .audit_arch = AUDIT_ARCH_I386,
	    .reviewed = {{0, 386}, {393, LAST}},
	},
#elif defined(__aarch64__)
    [SECCOMP_ABI_AARCH64] =
	{
	    .name = "aarch64",
	    .oci = "SCMP_ARCH_AARCH64",
	    .audit_arch = AUDIT_ARCH_AARCH64,
	    .reviewed = {{0, 294}, {424, LAST}},
	},
    [SECCOMP_ABI_ARM] =
	{
	    .name = "arm",
	    .oci = "SCMP_ARCH_ARM",
	    .audit_arch = AUDIT_ARCH_ARM,
	    /* The last are ARM's own: breakpoint, cacheflush, set_tls, get_tls. */
	    .reviewed = {{0, 401}, {403, LAST}, {0xf0001, 0xf0006}},
	},
#endif
};

#if defined(__x86_64__)
const char seccomp_docker_arch[] = "amd64";
#elif defined(__aarch64__)
const char seccomp_docker_arch[] = "arm64";
#endif
