/* SPDX-License-Identifier: Apache-2.0 */
/* What decompressors may take of the process's memory at one time, however many layers
 * are unpacked side by side: OCI_MAX_WINDOWS. */
#ifndef OCI_INFLATE_MEMORY_H
#define OCI_INFLATE_MEMORY_H

#include <stdint.h>

/* Take so many bytes; whoever has none is let wait until there are as many, or until all
 * others have given theirs back. Who has some gives them back first, so that nobody waits
 * for whom they hold up. waiting (may be NULL) is called now and then meanwhile: not 0
 * ends it. 0 or -ECANCELED. */
int inflate_memory_take(uint64_t bytes, int (*waiting)(void *user, uint64_t done),
			void *user, uint64_t done);
void inflate_memory_give(uint64_t bytes);

#endif
