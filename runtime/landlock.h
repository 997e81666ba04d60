/* SPDX-License-Identifier: Apache-2.0 */
/* What the Landlock of this kernel can hold a box to. */
#ifndef RUNTIME_LANDLOCK_H
#define RUNTIME_LANDLOCK_H

#include <stdint.h>

struct landlock {
	uint32_t abi;	 /* 0: there is none, or it is off */
	uint64_t fs;	 /* every file system right that it handles */
	uint64_t scoped; /* every scope */
};

/* The rights of an ABI; those of the newest known one where it is newer. */
struct landlock landlock_of_abi(uint32_t abi);

/* Ask the kernel. */
struct landlock landlock_here(void);

#endif
