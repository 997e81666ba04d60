/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a held box did before its call. The facts that a verdict is made of are the box's
 * from its beginning: what the kernel ended while modules were being loaded would be told
 * of a call that did nothing.
 */
#ifndef RUNTIME_PAST_H
#define RUNTIME_PAST_H

#include <stdbool.h>

#include "runtime/run.h"

/* Has a process of it been ended for a denied call? */
bool past_was_denied(const struct run *run);

/* Is it still to be told from a box made for a call? 0, or HUSK_E_SYSTEM with the reason.
 * used: its counters. */
int past_check(const struct run *run, const struct cgroup_counters *used,
	       struct husk_error *err);

#endif
