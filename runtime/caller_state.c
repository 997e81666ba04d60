/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/caller_state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mix.h"

enum { PROCESSORS_MAX = 8192 };

static void mix_limits(uint64_t *hash)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit = {0, 0};

		(void)getrlimit((__rlimit_resource_t)i, &limit);
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

static void mix_oom_score(uint64_t *hash)
{
	char text[32] = "";

	if (fd_read_text(AT_FDCWD, "/proc/self/oom_score_adj", text, sizeof(text)) <= 0)
		return;
	for (const char *at = text; *at; at++)
		mix(hash, (unsigned char)*at);
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
	mix_oom_score(&hash);
	errno = saved;
	return hash;
}
