/* SPDX-License-Identifier: Apache-2.0 */
/* The module's door: the built-in programs, programs without notifications, names. */
#include "tests/unit/seccomp_evaluate.h"

#include <linux/audit.h>

static struct seccomp_program builtin(const char *name)
{
	struct seccomp_program program = {0};

	assert_int_equal(seccomp_builtin(name, &program), 0);
	return program;
}

static void filters_are_small(void **state)
{
	struct seccomp_program program = builtin("default");

	(void)state;
	assert_in_range(program.count, 50, 560);
	program = builtin("strict");
	assert_in_range(program.count, 50, 600);
	assert_false(program.owned);
}

static void other_names_are_not_built_in(void **state)
{
	struct seccomp_program program = {0};

	(void)state;
	assert_int_equal(seccomp_builtin("", &program), -ENOENT);
	assert_int_equal(seccomp_builtin("Default", &program), -ENOENT);
	assert_int_equal(seccomp_builtin("default ", &program), -ENOENT);
	assert_null(program.insns);
}

/* -- without a listener -- */

static void without_notify_only_kills_change(void **state)
{
	struct seccomp_program program = builtin("default");
	const struct seccomp_program before = program;
	size_t changed = 0;

	(void)state;
	assert_int_equal(seccomp_without_notify(&program), 0);
	assert_true(program.owned);
	assert_int_equal(program.count, before.count);
	for (uint16_t i = 0; i < program.count; i++) {
		const struct sock_filter *was = &before.insns[i], *is = &program.insns[i];

		if (was->code == (BPF_RET | BPF_K) && was->k == SECCOMP_RET_USER_NOTIF) {
			assert_int_equal(is->k, SECCOMP_RET_KILL_PROCESS);
			changed++;
		} else {
			assert_memory_equal(was, is, sizeof(*was));
		}
	}
	assert_true(changed > 0);
	/* Again, now on a program that it owns: nothing left to change. */
	assert_int_equal(seccomp_without_notify(&program), 0);
	assert_int_equal(program.count, before.count);
	seccomp_program_deinit(&program);
	seccomp_program_deinit(&program);
	assert_null(program.insns);
}

/* -- names -- */

#if defined(__x86_64__)
enum { X32 = 0x40000000 };

static void check_name(uint32_t arch, uint32_t nr, const char *want)
{
	char buf[32];

	assert_string_equal(seccomp_syscall_name(arch, nr, buf, sizeof(buf)), want);
	assert_ptr_equal(seccomp_syscall_name(arch, nr, buf, sizeof(buf)), buf);
}

static void calls_have_names(void **state)
{
	char small[4];

	(void)state;
	check_name(AUDIT_ARCH_X86_64, 165, "mount");
	check_name(AUDIT_ARCH_X86_64, 0, "read");
	check_name(AUDIT_ARCH_X86_64, 467, "open_tree_attr");
	check_name(AUDIT_ARCH_X86_64, 336, "uprobe");
	check_name(AUDIT_ARCH_I386, 21, "mount");
	check_name(AUDIT_ARCH_I386, 22, "umount");
	check_name(AUDIT_ARCH_I386, 102, "socketcall");
	check_name(AUDIT_ARCH_X86_64, X32 + 165, "mount");
	check_name(AUDIT_ARCH_X86_64, X32 + 528, "kexec_load");
	check_name(AUDIT_ARCH_X86_64, X32 + 246, "kexec_load");
	check_name(AUDIT_ARCH_X86_64, 9999, "syscall 9999");
	check_name(AUDIT_ARCH_X86_64, 528, "syscall 528");
	check_name(AUDIT_ARCH_X86_64, UINT32_MAX, "syscall 4294967295");
	check_name(AUDIT_ARCH_I386, X32 + 165, "syscall 1073741989");
	check_name(AUDIT_ARCH_PPC64LE, 21, "syscall 21");
	assert_string_equal(
	    seccomp_syscall_name(AUDIT_ARCH_X86_64, 165, small, sizeof(small)), "mou");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_are_small),
		cmocka_unit_test(other_names_are_not_built_in),
		cmocka_unit_test(without_notify_only_kills_change),
#if defined(__x86_64__)
		cmocka_unit_test(calls_have_names),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
