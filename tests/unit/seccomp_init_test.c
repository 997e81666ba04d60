/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of the init program: the calls it may make, by hand and by number, and that
 * every other one, in whatever numbering, ends it. */
#include "tests/unit/seccomp_evaluate.h"

#include "init_filter.h"

#include <linux/audit.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define NATIVE	AUDIT_ARCH_X86_64
#define FOREIGN AUDIT_ARCH_I386
#else
#define NATIVE	AUDIT_ARCH_AARCH64
#define FOREIGN AUDIT_ARCH_ARM
#endif

enum { NUMBERS = 1024, X32 = 0x40000000 };

/* arg -1: whatever the arguments are. */
static const struct {
	uint32_t nr;
	int arg;
	uint64_t good, bad;
} calls[] = {
    {SYS_clock_gettime, -1, 0, 0},
    {SYS_close, 0, 3, 4},
    {SYS_exit_group, -1, 0, 0},
    {SYS_faccessat, -1, 0, 0},
    {SYS_futex, 1, FUTEX_WAIT, FUTEX_REQUEUE},
    {SYS_futex, 1, FUTEX_WAKE, FUTEX_WAKE_OP},
    {SYS_ioctl, 1, SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND},
    {SYS_kill, 1, SIGKILL, SIGTERM},
    {SYS_ppoll, -1, 0, 0},
    {SYS_read, -1, 0, 0},
    {SYS_restart_syscall, -1, 0, 0},
    {SYS_sendto, -1, 0, 0},
    {SYS_tgkill, 2, 0, SIGKILL},
    {SYS_wait4, -1, 0, 0},
};

static const struct seccomp_program program = {
    .insns = init_filter, .count = sizeof(init_filter) / sizeof(init_filter[0])};

static uint32_t answer(uint32_t arch, uint32_t nr, int arg, uint64_t value)
{
	struct seccomp_data data = {.arch = arch, .nr = (int)nr};

	if (arg >= 0)
		data.args[arg] = value;
	return evaluate(&program, &data);
}

static int is_listed(uint32_t nr)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].nr == nr)
			return 1;
	}
	return 0;
}

static void test_the_calls_of_its_watch_pass(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		assert_int_equal(answer(NATIVE, calls[i].nr, calls[i].arg, calls[i].good),
				 SECCOMP_RET_ALLOW);
		if (calls[i].arg >= 0)
			assert_int_equal(
			    answer(NATIVE, calls[i].nr, calls[i].arg, calls[i].bad),
			    SECCOMP_RET_KILL_PROCESS);
	}
}

static void test_every_other_call_ends_it(void **state)
{
	(void)state;
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		if (!is_listed(nr))
			assert_int_equal(answer(NATIVE, nr, -1, 0),
					 SECCOMP_RET_KILL_PROCESS);
	}
}

static void test_every_other_numbering_ends_it(void **state)
{
	(void)state;
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		assert_int_equal(answer(FOREIGN, nr, -1, 0), SECCOMP_RET_KILL_PROCESS);
		assert_int_equal(answer(NATIVE, X32 + nr, -1, 0),
				 SECCOMP_RET_KILL_PROCESS);
		assert_int_equal(answer(0, nr, -1, 0), SECCOMP_RET_KILL_PROCESS);
	}
}

static void test_every_row_says_why(void **state)
{
	const char *before = "";

	(void)state;
	for (size_t i = 0; i < seccomp_init_calls.count; i++) {
		const struct seccomp_row *row = &seccomp_init_calls.rows[i];

		assert_true(strcmp(before, row->name) <= 0);
		assert_true(row->reason[0] != '\0');
		assert_int_equal(row->verdict, SECCOMP_ALLOW);
		before = row->name;
	}
	assert_int_equal(seccomp_init_calls.count, sizeof(calls) / sizeof(calls[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_calls_of_its_watch_pass),
	    cmocka_unit_test(test_every_other_call_ends_it),
	    cmocka_unit_test(test_every_other_numbering_ends_it),
	    cmocka_unit_test(test_every_row_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
