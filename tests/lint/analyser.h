/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included before everything by tests/lint/analyse, never by a build. The analyser sees
 * one file at a time and does not know that the functions which fill in an error return a
 * negative code, so every caller that tests for one would look as if it could go on.
 */
#ifndef LINT_ANALYSER_H
#define LINT_ANALYSER_H

#include "base/rawsys.h"

/* What a system call writes is beyond what the analyser sees of inline assembly. */
long analyser_call(long nr, long a, long b, long c, long d, long e, long f);
#define raw6 analyser_call

#ifndef ANALYSE_INIT
#include <errno.h>

/* What errno may be after a failure: concrete values, since the analyser does not know
 * that the negative of a positive number is negative (`return -errno`). */
int analyser_pick(void);
static const int analyser_errors[] = {EIO, EINTR, ENOENT, EEXIST};

static inline int *analyser_errno(void)
{
	switch (analyser_pick()) {
	case 1:
		return (int *)&analyser_errors[1];
	case 2:
		return (int *)&analyser_errors[2];
	case 3:
		return (int *)&analyser_errors[3];
	default:
		return (int *)&analyser_errors[0];
	}
}
#undef errno
#define errno (*analyser_errno())

#include "base/error.h"
#include "cli/say.h"

#define error_set(err, code, ...) ((void)error_set(err, code, __VA_ARGS__), (code))
#define error_sys(err, ...)	  ((void)error_sys(err, __VA_ARGS__), HUSK_E_SYSTEM)
#define error_oom(err, where)	  ((void)error_oom(err, where), HUSK_E_MEMORY)
#define cli_error(err, ...)	  ((void)cli_error(err, __VA_ARGS__), HUSK_E_INVALID)
#endif

#endif
