/* SPDX-License-Identifier: Apache-2.0 */
/* Is a plan's block what its header says? Asked by init before it walks the block, and by
 * the tests of everything that writes or reads one. The two sides are built together, so
 * a block that fails is a mistake of ours or memory that somebody else has changed: no
 * program runs then. Built into the library and into init; needs no C library. */
#ifndef RUNTIME_WIRE_CHECK_H
#define RUNTIME_WIRE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/wire.h"

/* header: `size` bytes with the room behind it, aligned as its type wants it. True where
 * every count is within its bound and every offset leads to something that lies in the
 * block whole: strings end in it, arrays are aligned. What the strings and numbers mean
 * is not looked at. */
bool wire_is_sound(const struct wire_header *header, uint64_t size);

#endif
