/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a box takes from the process and the thread that make it: resource limits, and
 * what it may have of processors and disks beside others.
 */
#ifndef RUNTIME_CALLER_STATE_H
#define RUNTIME_CALLER_STATE_H

#include <stdint.h>
#include <sys/types.h>

/* A number for all of it, as it is now: another one where anything has changed. thread:
 * one of this process. */
uint64_t caller_state_stamp(pid_t thread);

#endif
