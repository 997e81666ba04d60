/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/caller_state.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mix.h"

enum { PROCESSORS_MAX = 8192 };

/* Sorted. Those that bind a box whatever it sets itself (runtime/rlimits.c); of the
 * others a caller's are not to be had, or do nothing. A call each, which every call pays.
 */
static const __rlimit_resource_t limits[] = {
    RLIMIT_AS,	     RLIMIT_CPU,    RLIMIT_DATA,  RLIMIT_FSIZE,	     RLIMIT_MEMLOCK,
    RLIMIT_MSGQUEUE, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_SIGPENDING, RLIMIT_STACK,
};

static void mix_limits(uint64_t *hash)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit limit = {0, 0};

		(void)getrlimit(limits[i], &limit);
		mix(hash, limit.rlim_cur);
		mix(hash, limit.rlim_max);
	}
}

static void mix_processors(uint64_t *hash, pid_t thread)
{
	uint64_t words[PROCESSORS_MAX / 64];
	long size = syscall(SYS_sched_getaffinity, thread, sizeof(words), words);

	for (long i = 0; i < size / (long)sizeof(words[0]); i++)
		mix(hash, words[i]);
}

uint64_t caller_state_stamp(pid_t thread)
{
	int saved = errno;
	uint64_t hash = 0;

	mix_limits(&hash);
	mix_processors(&hash, thread);
	mix(&hash, (uint64_t)getpriority(PRIO_PROCESS, (id_t)thread));
	mix(&hash, (uint64_t)sched_getscheduler(thread));
	mix(&hash, (uint64_t)syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, thread));
	errno = saved;
	return hash;
}
