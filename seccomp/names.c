/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/generated.h"
#include "seccomp/seccomp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_name(const void *key, const void *member)
{
	const struct seccomp_number *number = member;

	return strcmp(key, number->name);
}

uint32_t seccomp_number(enum seccomp_abi abi, const char *name)
{
	const struct seccomp_number *found =
	    bsearch(name, seccomp_numbers, seccomp_number_count, sizeof(*seccomp_numbers),
		    compare_name);

	return found ? found->nr[abi] : SECCOMP_NO_NUMBER;
}

static const char *find_name(unsigned abi, uint32_t nr)
{
	for (size_t i = 0; i < seccomp_number_count; i++) {
		if (seccomp_numbers[i].nr[abi] == nr)
			return seccomp_numbers[i].name;
	}
	return NULL;
}

const char *seccomp_syscall_name(uint32_t audit_arch, uint32_t nr, char *buf, size_t size)
{
	const char *name = NULL;

	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT && !name; abi++) {
		const struct seccomp_abi_info *info = &seccomp_abis[abi];

		if (info->audit_arch != audit_arch || nr == SECCOMP_NO_NUMBER)
			continue;
		name = find_name(abi, nr);
		/* x32's mark on a number of the native ABI. */
		if (!name && info->base != 0 && nr >= info->base)
			name = find_name(0, nr - info->base);
	}
	if (name)
		(void)snprintf(buf, size, "%s", name);
	else
		(void)snprintf(buf, size, "syscall %u", nr);
	return buf;
}
