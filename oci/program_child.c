/* SPDX-License-Identifier: Apache-2.0 */
/* Between clone3 and exec: the caller's memory is shared, so nothing but system calls. */
#include "oci/program_child.h"

#include "base/rawsys.h"

#include <signal.h>
#include <stdint.h>

/* Larger than the kernel's struct sigaction on every architecture; all zero: default. */
struct zero_action {
	uint64_t words[8];
};

static void fail(struct program_child *child, long rc)
{
	child->error = (int)-rc;
	for (;;)
		(void)raw1(SYS_exit_group, 127);
}

void program_child_main(void *user, void *unused)
{
	static const struct zero_action action;
	static const uint64_t no_signals;
	struct program_child *child = user;
	const int from[] = {child->in, child->out, child->err};
	long rc;

	(void)unused;
	(void)raw2(SYS_setpgid, 0, 0);
	for (int i = 1; i < _NSIG; i++)
		(void)raw4(SYS_rt_sigaction, i, RAW_PTR(&action), 0, sizeof(no_signals));
	for (int i = 0; i < 3; i++) {
		rc = raw3(SYS_dup3, from[i], i, 0);
		if (rc < 0)
			fail(child, rc);
	}
	(void)raw3(SYS_close_range, 3, UINT32_MAX, 0);
	(void)raw4(SYS_rt_sigprocmask, SIG_SETMASK, RAW_PTR(&no_signals), 0,
		   sizeof(no_signals));
	rc = raw3(SYS_execve, RAW_PTR(child->program), RAW_PTR(child->argv),
		  RAW_PTR(child->envp));
	fail(child, rc);
}
