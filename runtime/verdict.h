/* SPDX-License-Identifier: Apache-2.0 */
/* What a run means: a pure function of the facts. No text, exit code or file that the box
 * can make is among its arguments. */
#ifndef RUNTIME_VERDICT_H
#define RUNTIME_VERDICT_H

#include "runtime/box.h"

enum fault {
	FAULT_NONE,
	FAULT_TIMEOUT,
	FAULT_ESCAPE_BLOCKED,
	FAULT_OOM,
	FAULT_KILLED,
	FAULT_STARTUP_FAILED,
	FAULT_CANCELLED,
};

struct verdict {
	enum fault fault;
	int exit_code;
	int signal;	   /* that ended the main process, or 0 */
	char message[512]; /* "" without a fault */
	char detail[512];
};

/* The first matching row wins: timeout, cancelled, startup_failed, escape_blocked, oom,
 * killed. timeout_us is for the words only. */
void verdict_reach(const struct box_outcome *outcome, uint64_t timeout_us,
		   struct verdict *ret);

/* "timeout", "escape_blocked", ...; NULL for FAULT_NONE. */
const char *fault_name(enum fault fault);

#endif
