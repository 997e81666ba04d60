/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/rlimits.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

enum {
	/* Smaller than any core, so no file is written; and where cores go to a program
	 * of the host's, 0 would not keep it from being started, but 1 does, core(5). The
	 * filter lets no program lower it. */
	CORE_NEVER = 1,
	NOFILE_SOFT = 1024,   /* what programs that use select(2) can live with */
	NOFILE_HARD = 524288, /* a table of this size is still bounded memory */
	SIGNALS = 4096,	      /* queued signals and timers; a user often has 10,000s */
	QUEUES = 400 << 10,   /* POSIX message queues; half of the usual limit */
	STACK_SOFT = 8 << 20, /* the usual default; threads take it as theirs */
};

/* Sorted by name. "raise": whatever lower soft limit the caller has does not reach in. */
static const struct {
	unsigned resource;
	bool raise;
	uint64_t soft, hard;
	const char *reason;
	uint64_t
	    part; /* at most this part of the caller's own hard limit; 0: all of it */
} limits[] = {
    {RLIMIT_CORE, false, CORE_NEVER, CORE_NEVER, "cores, and the host's handler of them"},
    {RLIMIT_CPU, true, 0, 0, "the deadline is ours"},
    {RLIMIT_DATA, true, 0, 0, "memory is the cgroup's to bound"},
    {RLIMIT_FSIZE, true, 0, 0, "a caller's quirk would break programs"},
    {RLIMIT_AS, true, 0, 0, "memory is the cgroup's to bound; this breaks programs"},
    {RLIMIT_NICE, false, 0, 0, "a caller that may raise itself; boxes may not"},
    {RLIMIT_RTPRIO, false, 0, 0, "real time would starve the host"},
    {RLIMIT_MSGQUEUE, false, QUEUES, QUEUES, "the caller's own count would run out", 2},
    {RLIMIT_NOFILE, false, NOFILE_SOFT, NOFILE_HARD, "programs size tables by it"},
    {RLIMIT_SIGPENDING, false, SIGNALS, SIGNALS,
     "the caller's own count would run out: no timers", 4},
    {RLIMIT_STACK, false, STACK_SOFT, RLIM_INFINITY, "deep recursion and threads"},
};

void rlimits_set(struct wire_header *header, uint64_t nproc)
{
	size_t n = 0;

	for (; n < sizeof(limits) / sizeof(limits[0]); n++) {
		header->rlimits[n] = (struct wire_rlimit){
		    .resource = limits[n].resource,
		    .raise = limits[n].raise,
		    .soft = limits[n].soft,
		    .hard = limits[n].hard,
		    .part = limits[n].part,
		};
	}
	if (nproc > 0)
		header->rlimits[n++] = (struct wire_rlimit){
		    .resource = RLIMIT_NPROC, .soft = nproc, .hard = nproc};
	header->rlimit_count = (uint32_t)n;
}
