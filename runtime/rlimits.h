/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits that every box gets, whatever its caller has. */
#ifndef RUNTIME_RLIMITS_H
#define RUNTIME_RLIMITS_H

#include "runtime/wire.h"

/* Fill in the limits; nproc 0: the caller's stays. Limits can be lowered but not raised
 * above the caller's hard ones. */
void rlimits_set(struct wire_header *header, uint64_t nproc);

#endif
