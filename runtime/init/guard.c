/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter of init itself: from the moment before the program is executed it makes the
 * few calls of seccomp/policy_init.c and no other. It is put up when the child that will
 * execute the program is there already, so that the program does not inherit it, and
 * before that child goes on, so that where it fails no program runs.
 */
#include "runtime/init/init.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "init_filter.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

long guard_install(struct init *init)
{
	struct sock_fprog program = {
	    .len = COUNT(init_filter),
	    .filter = (struct sock_filter *)(uintptr_t)init_filter,
	};
	long r = step_injected(init, STEP_GUARD);

	if (trace_wanted(init)) {
		program.len = COUNT(init_trace_filter);
		program.filter = (struct sock_filter *)(uintptr_t)init_trace_filter;
	}
	return r < 0 ? r : raw3(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
