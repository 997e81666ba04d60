/* SPDX-License-Identifier: Apache-2.0 */
/* JSON profiles: what good ones do, by the evaluator, and how bad ones are refused.
 * Single quotes stand for double ones in the profiles below. */
#include "tests/unit/seccomp_evaluate.h"

#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#define ALLOWS SECCOMP_RET_ALLOW
#define KILLS  SECCOMP_RET_USER_NOTIF

static char *quoted(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	for (char *c = copy; *c; c++) {
		if (*c == '\'')
			*c = '"';
	}
	return copy;
}

static struct seccomp_program good(const char *text)
{
	struct seccomp_program program = {0};
	struct husk_error err = {0};
	char *json = quoted(text);
	int rc = seccomp_profile_parse(json, strlen(json), "p.json", &program, &err);

	free(json);
	if (rc != 0)
		fail_msg("%s: %s", err.where, err.message);
	assert_non_null(program.insns);
	return program;
}

/* A profile with one entry, for what can be wrong inside. */
#define ENTRY(inside) "{'defaultAction': 'SCMP_ACT_ALLOW', 'syscalls': [{" inside "}]}"
#define ARG(inside) \
	ENTRY("'names': ['read'], 'action': 'SCMP_ACT_ERRNO', 'args': [{" inside "}]")

#if defined(__x86_64__)
enum { NATIVE = AUDIT_ARCH_X86_64, OTHER = AUDIT_ARCH_I386, X32 = 0x40000000 };

static void expect(const struct seccomp_program *program, uint32_t nr, uint64_t a0,
		   uint64_t a1, uint32_t want)
{
	const uint32_t got = evaluate_call(program, NATIVE, nr, a0, a1, 0);

	if (got != want)
		fail_msg("nr %u: 0x%x, not 0x%x", nr, got, want);
}

static void oci_allowlist(void **state)
{
	struct seccomp_program program =
	    good("{'defaultAction': 'SCMP_ACT_ERRNO', 'defaultErrnoRet': 13,"
		 " 'architectures': ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86'],"
		 " 'syscalls': ["
		 "  {'names': ['read', 'write', 'openat2', 'no_such_call', 'nor_this'],"
		 "   'action': 'SCMP_ACT_ALLOW'},"
		 "  {'names': ['mount'], 'action': 'SCMP_ACT_KILL'},"
		 "  {'names': ['ptrace'], 'action': 'SCMP_ACT_ERRNO'},"
		 "  {'names': ['chroot'], 'action': 'SCMP_ACT_ERRNO', 'errnoRet': 38},"
		 "  {'names': ['swapon'], 'action': 'SCMP_ACT_KILL_PROCESS'},"
		 "  {'names': ['swapoff'], 'action': 'SCMP_ACT_KILL_THREAD'},"
		 "  {'names': ['acct'], 'action': 'SCMP_ACT_TRAP'},"
		 "  {'names': ['sync'], 'action': 'SCMP_ACT_LOG'}]}");

	(void)state;
	assert_int_equal(program.unknown_names, 2);
	expect(&program, 0, 0, 0, ALLOWS);
	expect(&program, 2, 0, 0, FAILS(EACCES));
	expect(&program, 165, 0, 0, KILLS);
	expect(&program, 101, 0, 0, FAILS(EPERM));
	expect(&program, 161, 0, 0, FAILS(ENOSYS));
	expect(&program, 167, 0, 0, KILLS);
	expect(&program, 168, 0, 0, KILLS);
	expect(&program, 163, 0, 0, SECCOMP_RET_TRAP);
	expect(&program, 162, 0, 0, SECCOMP_RET_LOG);
	assert_int_equal(evaluate_call(&program, OTHER, 3, 0, 0, 0), ALLOWS);
	assert_int_equal(evaluate_call(&program, OTHER, 21, 0, 0, 0), KILLS);
	assert_int_equal(evaluate_call(&program, OTHER, 5, 0, 0, 0), FAILS(EACCES));
	seccomp_program_deinit(&program);
}

/* openat2 is 437: what is newer than that, the profile's author did not know. */
static void calls_newer_than_an_allowlist_do_not_exist(void **state)
{
	struct seccomp_program program =
	    good("{'defaultAction': 'SCMP_ACT_KILL', 'syscalls': ["
		 "{'names': ['read', 'openat2'], 'action': 'SCMP_ACT_ALLOW'}]}");

	(void)state;
	expect(&program, 436, 0, 0, KILLS);
	expect(&program, 437, 0, 0, ALLOWS);
	expect(&program, 438, 0, 0, FAILS(ENOSYS));
	expect(&program, 300, 0, 0, KILLS);
	expect(&program, 471, 0, 0, FAILS(ENOSYS));
	expect(&program, UINT32_MAX, 0, 0, ALLOWS);
	seccomp_program_deinit(&program);
	/* One that names none of the numbers that all machines share, 424 and up. */
	program = good("{'defaultAction': 'SCMP_ACT_ERRNO', 'syscalls': ["
		       "{'names': ['read'], 'action': 'SCMP_ACT_ALLOW'}]}");
	expect(&program, 300, 0, 0, FAILS(EPERM));
	expect(&program, 435, 0, 0, FAILS(ENOSYS));
	seccomp_program_deinit(&program);
}

static void denylist_has_a_ceiling(void **state)
{
	struct seccomp_program program =
	    good("{'defaultAction': 'SCMP_ACT_ALLOW', 'syscalls': ["
		 "{'name': 'unshare', 'action': 'SCMP_ACT_ERRNO'}]}");

	(void)state;
	expect(&program, 272, 0, 0, FAILS(EPERM));
	expect(&program, 435, 0, 0, ALLOWS);
	expect(&program, 470, 0, 0, ALLOWS);
	expect(&program, 471, 0, 0, FAILS(ENOSYS));
	seccomp_program_deinit(&program);
}

/* An ABI that a profile does not list is closed: rules say nothing about its numbers. */
static void unlisted_abis_are_killed(void **state)
{
	struct seccomp_program program = good("{'defaultAction': 'SCMP_ACT_ALLOW'}");

	(void)state;
	expect(&program, 0, 0, 0, ALLOWS);
	assert_int_equal(evaluate_call(&program, OTHER, 3, 0, 0, 0), KILLS);
	assert_int_equal(evaluate_call(&program, NATIVE, X32, 0, 0, 0), KILLS);
	assert_int_equal(evaluate_call(&program, NATIVE, UINT32_MAX, 0, 0, 0), ALLOWS);
	assert_int_equal(evaluate_call(&program, AUDIT_ARCH_ARM, 0, 0, 0, 0),
			 SECCOMP_RET_KILL_PROCESS);
	seccomp_program_deinit(&program);
	program = good("{'defaultAction': 'SCMP_ACT_ALLOW',"
		       " 'architectures': ['SCMP_ARCH_X32', 'SCMP_ARCH_PPC64LE'],"
		       " 'syscalls': [{'name': 'ioctl', 'action': 'SCMP_ACT_ERRNO'}]}");
	expect(&program, 0, 0, 0, ALLOWS);
	expect(&program, X32, 0, 0, ALLOWS);
	expect(&program, X32 + 514, 0, 0, FAILS(EPERM));
	assert_int_equal(evaluate_call(&program, OTHER, 3, 0, 0, 0), KILLS);
	seccomp_program_deinit(&program);
}

static void docker_arch_map(void **state)
{
	struct seccomp_program program =
	    good("{'defaultAction': 'SCMP_ACT_ERRNO', 'archMap': ["
		 " {'architecture': 'SCMP_ARCH_X86_64',"
		 "  'subArchitectures': ['SCMP_ARCH_X86']},"
		 " {'architecture': 'SCMP_ARCH_AARCH64',"
		 "  'subArchitectures': ['SCMP_ARCH_X32']},"
		 " {'architecture': 'SCMP_ARCH_RISCV64', 'subArchitectures': null}],"
		 " 'syscalls': [{'names': ['read'], 'action': 'SCMP_ACT_ALLOW',"
		 "  'args': [], 'comment': 'c', 'includes': {}, 'excludes': {}}]}");

	(void)state;
	expect(&program, 0, 0, 0, ALLOWS);
	assert_int_equal(evaluate_call(&program, OTHER, 3, 0, 0, 0), ALLOWS);
	/* Listed, but for another machine. */
	assert_int_equal(evaluate_call(&program, NATIVE, X32, 0, 0, 0), KILLS);
	seccomp_program_deinit(&program);
}

/* The box has no capability, runs on this machine's architecture and on this kernel. */
static void docker_conditions(void **state)
{
	static const struct {
		const char *conditions;
		bool applies;
	} rows[] = {
	    {"'includes': {'caps': ['CAP_SYS_ADMIN']}", false},
	    {"'includes': {'caps': []}", true},
	    {"'excludes': {'caps': ['CAP_SYS_ADMIN']}", true},
	    {"'includes': {'arches': ['amd64', 'x32']}", true},
	    {"'includes': {'arches': ['arm64', 's390x']}", false},
	    {"'excludes': {'arches': ['amd64']}", false},
	    {"'excludes': {'arches': ['s390']}", true},
	    {"'includes': {'minKernel': '4.8'}", true},
	    {"'includes': {'minKernel': '999.0'}", false},
	    {"'excludes': {'minKernel': '4.8'}", false},
	    {"'excludes': {'minKernel': '999.0'}", true},
	    {"'includes': {'arches': ['amd64'], 'caps': ['CAP_BPF']}", false},
	    {"'includes': {'arches': ['amd64'], 'minKernel': '3.0'}", true},
	    {"'includes': {'arches': ['amd64']}, 'excludes': {'caps': ['CAP_BPF']}",
	     true},
	    {"'includes': {'arches': ['amd64']}, 'excludes': {'arches': ['amd64']}",
	     false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seccomp_program program;
		char text[512];

		(void)snprintf(
		    text, sizeof(text),
		    ENTRY("'names': ['mount'], 'action': 'SCMP_ACT_ERRNO', %s"),
		    rows[i].conditions);
		program = good(text);
		expect(&program, 165, 0, 0, rows[i].applies ? FAILS(EPERM) : ALLOWS);
		seccomp_program_deinit(&program);
	}
}

static void minimum_kernel_is_compared_by_parts(void **state)
{
	struct seccomp_program program;
	struct utsname name;
	unsigned major, minor;
	char text[512];

	(void)state;
	assert_int_equal(uname(&name), 0);
	assert_int_equal(sscanf(name.release, "%u.%u", &major, &minor), 2);
	for (int offset = -1; offset <= 1; offset++) {
		if (offset < 0 && minor == 0)
			continue;
		(void)snprintf(text, sizeof(text),
			       ENTRY("'names': ['mount'], 'action': 'SCMP_ACT_ERRNO',"
				     "'includes': {'minKernel': '%u.%u'}"),
			       major, minor + (unsigned)offset);
		program = good(text);
		expect(&program, 165, 0, 0, offset <= 0 ? FAILS(EPERM) : ALLOWS);
		seccomp_program_deinit(&program);
	}
}

static void every_operator(void **state)
{
	static const struct {
		const char *test;
		bool below, equal, above, far; /* 99, 100, 101, 2^32 + 99 */
	} rows[] = {
	    {"'value': 100, 'op': 'SCMP_CMP_EQ'", false, true, false, false},
	    {"'value': 100, 'op': 'SCMP_CMP_NE'", true, false, true, true},
	    {"'value': 100, 'op': 'SCMP_CMP_LT'", true, false, false, false},
	    {"'value': 100, 'op': 'SCMP_CMP_LE'", true, true, false, false},
	    {"'value': 100, 'op': 'SCMP_CMP_GT'", false, false, true, true},
	    {"'value': 100, 'op': 'SCMP_CMP_GE'", false, true, true, true},
	    {"'value': 4294967295, 'valueTwo': 99, 'op': 'SCMP_CMP_MASKED_EQ'", true,
	     false, false, true},
	    {"'value': 4294967296, 'valueTwo': 4294967296, 'op': 'SCMP_CMP_MASKED_EQ'",
	     false, false, false, true},
	    {"'value': 4, 'valueTwo': 0, 'op': 'SCMP_CMP_MASKED_EQ'", true, false, false,
	     true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seccomp_program program;
		char text[512];

		/* read's third argument is 64 bits wide; its second stands for it here.
		 */
		(void)snprintf(text, sizeof(text), ARG("'index': 1, %s"), rows[i].test);
		program = good(text);
		expect(&program, 0, 0, 99, rows[i].below ? FAILS(EPERM) : ALLOWS);
		expect(&program, 0, 0, 100, rows[i].equal ? FAILS(EPERM) : ALLOWS);
		expect(&program, 0, 0, 101, rows[i].above ? FAILS(EPERM) : ALLOWS);
		expect(&program, 0, 0, (1ULL << 32) + 99,
		       rows[i].far ? FAILS(EPERM) : ALLOWS);
		seccomp_program_deinit(&program);
	}
}

/* Docker's way to close vsock, which a 64-bit comparison would let 2^32 + 40 through. */
static void int_arguments_are_compared_as_the_kernel_reads_them(void **state)
{
	struct seccomp_program program =
	    good("{'defaultAction': 'SCMP_ACT_ERRNO', 'syscalls': [{'names': ['socket'],"
		 "'action': 'SCMP_ACT_ALLOW', 'args': [{'index': 0, 'value': 40, "
		 "'op': 'SCMP_CMP_NE'}]}]}");

	(void)state;
	expect(&program, 41, AF_INET, 0, ALLOWS);
	expect(&program, 41, 40, 0, FAILS(EPERM));
	expect(&program, 41, (1ULL << 32) | 40, 0, FAILS(EPERM));
	seccomp_program_deinit(&program);
}

static void conditions_of_one_entry_all_hold_and_entries_add_up(void **state)
{
	struct seccomp_program program =
	    good("{'defaultAction': 'SCMP_ACT_ERRNO', 'syscalls': ["
		 "{'names': ['read'], 'action': 'SCMP_ACT_ALLOW', 'args': ["
		 " {'index': 0, 'value': 1, 'op': 'SCMP_CMP_EQ'},"
		 " {'index': 1, 'value': 2, 'op': 'SCMP_CMP_EQ'}]},"
		 "{'names': ['read'], 'action': 'SCMP_ACT_KILL', 'args': ["
		 " {'index': 0, 'value': 9, 'op': 'SCMP_CMP_EQ'}]},"
		 "{'names': ['write'], 'action': 'SCMP_ACT_KILL', 'args': ["
		 " {'index': 0, 'value': 9, 'op': 'SCMP_CMP_EQ'}]},"
		 "{'names': ['write'], 'action': 'SCMP_ACT_ALLOW'},"
		 "{'names': ['write'], 'action': 'SCMP_ACT_KILL'}]}");

	(void)state;
	expect(&program, 0, 1, 2, ALLOWS);
	expect(&program, 0, 1, 3, FAILS(EPERM));
	expect(&program, 0, 2, 2, FAILS(EPERM));
	expect(&program, 0, 9, 2, KILLS);
	/* The first without conditions decides, wherever it stands. */
	expect(&program, 1, 9, 0, ALLOWS);
	seccomp_program_deinit(&program);
}

static void multiplexers_do_not_lead_around_a_denial(void **state)
{
#define DENIES(name, more)                                                        \
	"{'defaultAction': 'SCMP_ACT_ALLOW', 'architectures': ['SCMP_ARCH_X86']," \
	"'syscalls': [{'name': '" name "', 'action': 'SCMP_ACT_ERRNO'}" more "]}"
	struct seccomp_program program = good(DENIES("connect", ""));

	(void)state;
	assert_int_equal(evaluate_call(&program, OTHER, 102, 3, 0, 0), FAILS(ENOSYS));
	assert_int_equal(evaluate_call(&program, OTHER, 117, 0, 0, 0), ALLOWS);
	seccomp_program_deinit(&program);
	program = good(DENIES("shmget", ""));
	assert_int_equal(evaluate_call(&program, OTHER, 102, 3, 0, 0), ALLOWS);
	assert_int_equal(evaluate_call(&program, OTHER, 117, 0, 0, 0), FAILS(ENOSYS));
	seccomp_program_deinit(&program);
	program = good(DENIES("connect", ", {'name': 'socketcall', 'action': "
					 "'SCMP_ACT_ALLOW'}"));
	assert_int_equal(evaluate_call(&program, OTHER, 102, 3, 0, 0), ALLOWS);
	seccomp_program_deinit(&program);
	program = good(DENIES("mount", ""));
	assert_int_equal(evaluate_call(&program, OTHER, 102, 3, 0, 0), ALLOWS);
	seccomp_program_deinit(&program);
}

static void errno_by_name(void **state)
{
	struct seccomp_program program =
	    good("{'defaultAction': 'SCMP_ACT_ERRNO', 'defaultErrno': 'ENOSYS',"
		 "'defaultErrnoRet': 38, 'syscalls': [{'names': ['socket'],"
		 "'action': 'SCMP_ACT_ERRNO', 'errno': 'EINVAL'},"
		 "{'names': ['write'], 'action': 'SCMP_ACT_ERRNO', 'errnoRet': 0}]}");

	(void)state;
	expect(&program, 0, 0, 0, FAILS(ENOSYS));
	expect(&program, 41, 0, 0, FAILS(EINVAL));
	expect(&program, 1, 0, 0, FAILS(0));
	seccomp_program_deinit(&program);
}
#endif

static void flags_are_looked_at(void **state)
{
	struct seccomp_program program =
	    good("{'defaultAction': 'SCMP_ACT_ALLOW', 'comment': 'x', 'flags': "
		 "['SECCOMP_FILTER_FLAG_TSYNC', 'SECCOMP_FILTER_FLAG_SPEC_ALLOW'],"
		 "'listenerPath': '', 'listenerMetadata': ''}");

	(void)state;
	assert_int_equal(evaluate_call(&program, seccomp_abis[0].audit_arch, 0, 0, 0, 0),
			 ALLOWS);
	seccomp_program_deinit(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(oci_allowlist),
		cmocka_unit_test(calls_newer_than_an_allowlist_do_not_exist),
		cmocka_unit_test(denylist_has_a_ceiling),
		cmocka_unit_test(unlisted_abis_are_killed),
		cmocka_unit_test(docker_arch_map),
		cmocka_unit_test(docker_conditions),
		cmocka_unit_test(minimum_kernel_is_compared_by_parts),
		cmocka_unit_test(every_operator),
		cmocka_unit_test(int_arguments_are_compared_as_the_kernel_reads_them),
		cmocka_unit_test(conditions_of_one_entry_all_hold_and_entries_add_up),
		cmocka_unit_test(multiplexers_do_not_lead_around_a_denial),
		cmocka_unit_test(errno_by_name),
#endif
		cmocka_unit_test(flags_are_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
