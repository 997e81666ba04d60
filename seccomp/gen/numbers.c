/* SPDX-License-Identifier: Apache-2.0 */
/* The table of names and numbers, read out of libseccomp so that nothing needs it later.
 */
#include "seccomp/gen/gen.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seccomp_number gen_numbers[GEN_NUMBERS_MAX];
size_t gen_number_count;

static struct seccomp_number *find(const char *name)
{
	for (size_t i = 0; i < gen_number_count; i++) {
		if (strcmp(gen_numbers[i].name, name) == 0)
			return &gen_numbers[i];
	}
	return NULL;
}

static bool set(const char *name, unsigned abi, uint32_t nr)
{
	struct seccomp_number *number = find(name);

	if (!number) {
		if (gen_number_count == GEN_NUMBERS_MAX ||
		    strlen(name) >= SECCOMP_NAME_MAX) {
			(void)fprintf(stderr, "no room for %s\n", name);
			return false;
		}
		number = &gen_numbers[gen_number_count++];
		(void)snprintf(number->name, sizeof(number->name), "%s", name);
		for (unsigned i = 0; i < SECCOMP_ABI_COUNT; i++)
			number->nr[i] = SECCOMP_NO_NUMBER;
	}
	if (number->nr[abi] != SECCOMP_NO_NUMBER && number->nr[abi] != nr) {
		(void)fprintf(stderr, "%s is both %u and %u\n", name, number->nr[abi],
			      nr);
		return false;
	}
	number->nr[abi] = nr;
	return true;
}

static bool collect_abi(unsigned abi)
{
	const struct seccomp_abi_info *info = &seccomp_abis[abi];
	const uint32_t arch = seccomp_arch_resolve_name(info->name);
	bool good = arch != 0;

	for (size_t r = 0; r < SECCOMP_REVIEWED_MAX && good; r++) {
		const struct seccomp_range *range = &info->reviewed[r];

		if (range->last == 0)
			break;
		for (uint32_t n = range->first; n <= range->last && good; n++) {
			const uint32_t nr = info->base + n;
			char *name = seccomp_syscall_resolve_num_arch(arch, (int)nr);

			if (name)
				good = set(name, abi, nr);
			free(name);
		}
	}
	return good;
}

static bool add_new(const struct seccomp_new_number *added)
{
	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		const uint32_t nr = seccomp_abis[abi].base + added->nr;

		if (added->native_only && abi != 0)
			continue;
		for (size_t i = 0; i < gen_number_count; i++) {
			if (gen_numbers[i].nr[abi] != nr ||
			    strcmp(gen_numbers[i].name, added->name) == 0)
				continue;
			(void)fprintf(stderr, "%u is %s, not %s\n", nr,
				      gen_numbers[i].name, added->name);
			return false;
		}
		if (!set(added->name, abi, nr))
			return false;
	}
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct seccomp_number *a = left, *b = right;

	return strcmp(a->name, b->name);
}

bool gen_collect_numbers(void)
{
	for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++) {
		if (!collect_abi(abi))
			return false;
	}
	for (size_t i = 0; i < seccomp_new_number_count; i++) {
		if (!add_new(&seccomp_new_numbers[i]))
			return false;
	}
	qsort(gen_numbers, gen_number_count, sizeof(gen_numbers[0]), compare);
	return true;
}

uint32_t gen_number(enum seccomp_abi abi, const char *name)
{
	const struct seccomp_number *number = find(name);

	return number ? number->nr[abi] : SECCOMP_NO_NUMBER;
}

bool gen_is_syscall(const char *name)
{
	return find(name) || seccomp_syscall_resolve_name(name) != __NR_SCMP_ERROR;
}
