/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter of init itself: from the moment before the program is executed it makes the
 * few calls of seccomp/policy_init.c and no other. It is put up when the child that will
 * execute the program is there already, so that the program does not inherit it, and
 * before that child goes on, so that where it fails no program runs. A parked box waits
 * under one of its own, which lets pass also what is left to be done for a call.
 */
#include "runtime/init/init.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "init_filter.h"
#include "runtime/init/narrow_filter.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static long install(const struct sock_filter *filter, unsigned short count)
{
	struct sock_fprog program = {
	    .len = count,
	    .filter = (struct sock_filter *)(uintptr_t)filter,
	};

	return raw3(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

long guard_install(struct init *init)
{
	long r = step_injected(init, STEP_GUARD);

	if (r < 0)
		return r;
	return trace_wanted(init) ? install(init_trace_filter, COUNT(init_trace_filter))
				  : install(init_filter, COUNT(init_filter));
}

long guard_install_parked(struct init *init)
{
	long r = step_injected(init, STEP_GUARD);

	return r < 0 ? r : install(init_park_filter, COUNT(init_park_filter));
}

/* The kernel works out ahead which calls a filter always lets pass, of those that the
 * ones before it do: behind a filter that lets few pass, a short one is quick. */
long guard_narrow(struct init *init)
{
	long r = step_injected(init, STEP_GUARD);

	return r < 0 ? r : install(narrow_filter, COUNT(narrow_filter));
}
