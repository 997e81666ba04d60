/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/landlock.h"

#include <stddef.h>

#include "base/rawsys.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

enum { ASK_VERSION = 1 /* LANDLOCK_CREATE_RULESET_VERSION */ };

/* Sorted by ABI: what each brought, landlock(7). ABI 4 brought rights on TCP ports, which
 * a box does not need (its network is its own or shared on purpose), and 7 nothing to
 * handle. A right that a later ABI brings stays open until it is reviewed and listed. */
static const struct {
	uint32_t abi;
	uint64_t fs, scoped;
	const char *what;
} brought[] = {
    {1, 0x1fff, 0, "execute, read, write, make and remove of every kind"},
    {2, 1 << 13, 0, "rename and link across directories"},
    {3, 1 << 14, 0, "truncate"},
    {5, 1 << 15, 0, "ioctl of devices"},
    {6, 0, 1 << 0 | 1 << 1, "abstract sockets, signals"},
};

struct landlock landlock_of_abi(uint32_t abi)
{
	struct landlock landlock = {.abi = abi};

	for (size_t i = 0; i < sizeof(brought) / sizeof(brought[0]); i++) {
		if (brought[i].abi > abi)
			break;
		landlock.fs |= brought[i].fs;
		landlock.scoped |= brought[i].scoped;
	}
	return landlock;
}

struct landlock landlock_here(void)
{
	long abi = raw3(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);

	return landlock_of_abi(abi > 0 ? (uint32_t)abi : 0);
}
