/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of the init program: the calls it may make, by hand and by number, and that
 * every other one, in whatever numbering, ends it. */
#include "tests/unit/seccomp_evaluate.h"

#include "init_filter.h"
#include "runtime/init/narrow_filter.h"

#include <linux/audit.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define NATIVE	AUDIT_ARCH_X86_64
#define FOREIGN AUDIT_ARCH_I386
#else
#define NATIVE	AUDIT_ARCH_AARCH64
#define FOREIGN AUDIT_ARCH_ARM
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { NUMBERS = 1024, X32 = 0x40000000 };

/* arg -1: whatever the arguments are. */
struct call {
	uint32_t nr;
	int arg;
	uint64_t good, bad;
};

static const struct call calls[] = {
    {SYS_clock_gettime, -1, 0, 0},
    {SYS_close, 0, 3, 4},
    {SYS_exit_group, -1, 0, 0},
    {SYS_faccessat, -1, 0, 0},
    {SYS_futex, 1, FUTEX_WAIT, FUTEX_REQUEUE},
    {SYS_futex, 1, FUTEX_WAKE, FUTEX_WAKE_OP},
    {SYS_ioctl, 1, SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND},
    {SYS_kill, 1, SIGCONT, SIGSTOP},
    {SYS_kill, 1, SIGKILL, SIGTERM},
    {SYS_ppoll, -1, 0, 0},
    {SYS_read, -1, 0, 0},
    {SYS_restart_syscall, -1, 0, 0},
    {SYS_sendto, -1, 0, 0},
    {SYS_tgkill, 2, 0, SIGKILL},
    {SYS_wait4, -1, 0, 0},
};

/* What it may do besides where it traces the program. */
static const struct call more[] = {
    {SYS_process_vm_readv, -1, 0, 0},
    {SYS_ptrace, 0, PTRACE_SYSCALL, PTRACE_POKEDATA},
    {SYS_ptrace, 0, PTRACE_LISTEN, PTRACE_ATTACH},
    {SYS_ptrace, 0, PTRACE_GET_SYSCALL_INFO, PTRACE_SETREGSET},
    {SYS_readlinkat, -1, 0, 0},
};

/* And while its box waits for a call. */
static const struct call parking[] = {
    {SYS_close, -1, 0, 0},
    {SYS_dup3, 1, 0, 3},
    {SYS_fchdir, -1, 0, 0},
    {SYS_openat2, -1, 0, 0},
    {SYS_recvmsg, -1, 0, 0},
    {SYS_seccomp, -1, 0, 0},
    {SYS_unshare, 0, CLONE_FS, CLONE_NEWUSER},
};

static const struct seccomp_program plain = {
    .insns = init_filter, .count = sizeof(init_filter) / sizeof(init_filter[0])};
static const struct seccomp_program tracing = {.insns = init_trace_filter,
					       .count = sizeof(init_trace_filter) /
							sizeof(init_trace_filter[0])};
static const struct seccomp_program parked = {.insns = init_park_filter,
					      .count = sizeof(init_park_filter) /
						       sizeof(init_park_filter[0])};

static uint32_t answer(const struct seccomp_program *program, uint32_t arch, uint32_t nr,
		       int arg, uint64_t value)
{
	struct seccomp_data data = {.arch = arch, .nr = (int)nr};

	if (arg >= 0)
		data.args[arg] = value;
	return evaluate(program, &data);
}

static int is_listed(const struct call *list, size_t count, uint32_t nr)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i].nr == nr)
			return 1;
	}
	return 0;
}

static void expect_pass(const struct seccomp_program *program, const struct call *list,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct call *call = &list[i];

		assert_int_equal(answer(program, NATIVE, call->nr, call->arg, call->good),
				 SECCOMP_RET_ALLOW);
		if (call->arg >= 0)
			assert_int_equal(
			    answer(program, NATIVE, call->nr, call->arg, call->bad),
			    SECCOMP_RET_KILL_PROCESS);
	}
}

static void test_the_calls_of_its_watch_pass(void **state)
{
	(void)state;
	expect_pass(&plain, calls, COUNT(calls));
	expect_pass(&tracing, calls, COUNT(calls));
	expect_pass(&tracing, more, COUNT(more));
	expect_pass(&parked, parking, COUNT(parking));
	for (size_t i = 0; i < COUNT(calls); i++) {
		assert_int_equal(
		    answer(&parked, NATIVE, calls[i].nr, calls[i].arg, calls[i].good),
		    SECCOMP_RET_ALLOW);
		if (!is_listed(parking, COUNT(parking), calls[i].nr) && calls[i].arg >= 0)
			assert_int_equal(answer(&parked, NATIVE, calls[i].nr,
						calls[i].arg, calls[i].bad),
					 SECCOMP_RET_KILL_PROCESS);
	}
}

static void test_every_other_call_ends_it(void **state)
{
	(void)state;
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		if (is_listed(calls, COUNT(calls), nr))
			continue;
		assert_int_equal(answer(&plain, NATIVE, nr, -1, 0),
				 SECCOMP_RET_KILL_PROCESS);
		if (!is_listed(more, COUNT(more), nr))
			assert_int_equal(answer(&tracing, NATIVE, nr, -1, 0),
					 SECCOMP_RET_KILL_PROCESS);
		if (!is_listed(parking, COUNT(parking), nr))
			assert_int_equal(answer(&parked, NATIVE, nr, -1, 0),
					 SECCOMP_RET_KILL_PROCESS);
	}
}

static void test_every_other_numbering_ends_it(void **state)
{
	static const struct seccomp_program *const all[] = {&plain, &tracing, &parked};

	(void)state;
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		for (size_t i = 0; i < COUNT(all); i++) {
			assert_int_equal(answer(all[i], FOREIGN, nr, -1, 0),
					 SECCOMP_RET_KILL_PROCESS);
			assert_int_equal(answer(all[i], NATIVE, X32 + nr, -1, 0),
					 SECCOMP_RET_KILL_PROCESS);
			assert_int_equal(answer(all[i], 0, nr, -1, 0),
					 SECCOMP_RET_KILL_PROCESS);
		}
	}
}

/* The stricter of two answers, as the kernel takes it; there are two. */
static uint32_t narrowed(const struct seccomp_data *data)
{
	static const struct seccomp_program narrow = {.insns = narrow_filter,
						      .count = sizeof(narrow_filter) /
							       sizeof(narrow_filter[0])};

	return evaluate(&parked, data) == SECCOMP_RET_ALLOW ? evaluate(&narrow, data)
							    : SECCOMP_RET_KILL_PROCESS;
}

static void test_with_its_call_a_parked_box_has_the_usual_filter(void **state)
{
	static const uint64_t values[] = {0,
					  1,
					  2,
					  3,
					  4,
					  9,
					  15,
					  18,
					  19,
					  SIGCONT,
					  0x200,
					  1ULL << 32,
					  (1ULL << 32) + 2,
					  SECCOMP_IOCTL_NOTIF_RECV,
					  UINT32_MAX,
					  UINT64_MAX};

	(void)state;
	for (uint32_t nr = 0; nr < NUMBERS; nr++) {
		for (size_t i = 0; i < 3 * COUNT(values); i++) {
			struct seccomp_data data = {.arch = NATIVE, .nr = (int)nr};

			data.args[i % 3] = values[i / 3];
			assert_int_equal(narrowed(&data), evaluate(&plain, &data));
			data.args[(i + 1) % 3] = values[i / 3];
			assert_int_equal(narrowed(&data), evaluate(&plain, &data));
			data.nr |= X32;
			assert_int_equal(narrowed(&data), SECCOMP_RET_KILL_PROCESS);
			data.nr = (int)nr;
			data.arch = FOREIGN;
			assert_int_equal(narrowed(&data), SECCOMP_RET_KILL_PROCESS);
		}
	}
}

static void check_table(const struct seccomp_table *table, size_t count)
{
	const char *before = "";

	for (size_t i = 0; i < table->count; i++) {
		const struct seccomp_row *row = &table->rows[i];

		assert_true(strcmp(before, row->name) <= 0);
		assert_true(row->reason[0] != '\0');
		assert_int_equal(row->verdict, SECCOMP_ALLOW);
		before = row->name;
	}
	assert_int_equal(table->count, count);
}

static void test_every_row_says_why(void **state)
{
	(void)state;
	check_table(&seccomp_init_calls, COUNT(calls));
	check_table(&seccomp_init_trace_calls, COUNT(more));
	check_table(&seccomp_init_park_calls, COUNT(parking));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_calls_of_its_watch_pass),
	    cmocka_unit_test(test_every_other_call_ends_it),
	    cmocka_unit_test(test_every_other_numbering_ends_it),
	    cmocka_unit_test(test_with_its_call_a_parked_box_has_the_usual_filter),
	    cmocka_unit_test(test_every_row_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
