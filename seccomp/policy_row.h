/* SPDX-License-Identifier: Apache-2.0 */
/* Shorthand for the rows of the policy tables; included by them alone. */
#ifndef SECCOMP_POLICY_ROW_H
#define SECCOMP_POLICY_ROW_H

#include "seccomp/policy.h"

#define KILL(call, why)                                                   \
	{                                                                 \
		.name = (call), .verdict = SECCOMP_KILL, .reason = (why), \
	}

#define FAIL(call, with, why)                                              \
	{                                                                  \
		.name = (call), .verdict = SECCOMP_ERRNO, .error = (with), \
		.reason = (why),                                           \
	}

#define PASS(call, why)                                                    \
	{                                                                  \
		.name = (call), .verdict = SECCOMP_ALLOW, .reason = (why), \
	}

/* One test of one argument, for the *_IF rows below. */
#define IS(a, v)                                              \
	{                                                     \
		.arg = (a), .op = SECCOMP_OP_EQ, .value = (v) \
	}
#define HAS(a, m)                                             \
	{                                                     \
		.arg = (a), .op = SECCOMP_OP_ANY, .mask = (m) \
	}
#define FIELD(a, m, v)                                                            \
	{                                                                         \
		.arg = (a), .op = SECCOMP_OP_MASKED_EQ, .mask = (m), .value = (v) \
	}

#define NONE(a)                                   \
	{                                         \
		.arg = (a), .op = SECCOMP_OP_NULL \
	}

#define ROW_IF(call, what, with, why, n, ...)                                          \
	{                                                                              \
		.name = (call), .verdict = (what), .error = (with), .test_count = (n), \
		.tests = {__VA_ARGS__}, .reason = (why),                               \
	}

#define KILL_IF(call, why, test)       ROW_IF(call, SECCOMP_KILL, 0, why, 1, test)
#define FAIL_IF(call, with, why, test) ROW_IF(call, SECCOMP_ERRNO, with, why, 1, test)
#define FAIL_IF2(call, with, why, t1, t2) \
	ROW_IF(call, SECCOMP_ERRNO, with, why, 2, t1, t2)
#define FEIGN_IF(call, why, test)    ROW_IF(call, SECCOMP_FEIGN, 0, why, 1, test)
#define FEIGN_IF2(call, why, t1, t2) ROW_IF(call, SECCOMP_FEIGN, 0, why, 2, t1, t2)
#define PASS_IF(call, why, test)     ROW_IF(call, SECCOMP_ALLOW, 0, why, 1, test)
#define PASS_IF2(call, why, t1, t2)  ROW_IF(call, SECCOMP_ALLOW, 0, why, 2, t1, t2)

#endif
