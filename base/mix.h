/* SPDX-License-Identifier: Apache-2.0 */
/* One number out of many, to tell whether any of them has changed. */
#ifndef BASE_MIX_H
#define BASE_MIX_H

#include <stdint.h>

static inline void mix(uint64_t *hash, uint64_t value)
{
	*hash = (*hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	*hash ^= *hash >> 32;
}

#endif
