/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/past.h"

#include "base/error.h"
#include "seccomp/seccomp.h"

bool past_was_denied(const struct run *run)
{
	return run_progress(run).denied > 0;
}

int past_check(const struct run *run, const struct cgroup_counters *used,
	       struct husk_error *err)
{
	struct wire_progress progress = run_progress(run);
	char call[64] = "";

	if (progress.denied > 0) {
		(void)seccomp_syscall_name(progress.denied_arch, progress.denied_nr, call,
					   sizeof(call));
		return error_set(err, HUSK_E_SYSTEM, "spare box",
				 "a denied system call ended a process while modules "
				 "were loaded: %s",
				 call);
	}
	if (run->cgroup && used->oom_kills != CGROUP_UNKNOWN && used->oom_kills > 0)
		return error_set(err, HUSK_E_SYSTEM, "spare box",
				 "it went over its memory cap while modules were loaded");
	return 0;
}
