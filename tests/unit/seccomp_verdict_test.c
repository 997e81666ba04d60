/* SPDX-License-Identifier: Apache-2.0 */
/* What the built-in filters answer, written down by hand and by number, so that a mistake
 * in a table, or in the look-up of names, shows as well. The numbers are those of x86. */
#include "tests/unit/seccomp_evaluate.h"

#include <linux/audit.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

enum { LAST_REVIEWED = 470 };

static const char *const names[] = {"default", "strict"};

enum { POLICY_COUNT = 2 };

static struct seccomp_program builtin(const char *name)
{
	struct seccomp_program program = {0};

	assert_int_equal(seccomp_builtin(name, &program), 0);
	return program;
}

enum { NATIVE = AUDIT_ARCH_X86_64, OTHER = AUDIT_ARCH_I386, X32 = 0x40000000 };

static void mount_is_killed_in_every_abi(void **state)
{
	(void)state;
	for (size_t p = 0; p < POLICY_COUNT; p++) {
		const struct seccomp_program program = builtin(names[p]);

		assert_int_equal(evaluate_call(&program, NATIVE, 165, 0, 0, 0),
				 SECCOMP_RET_USER_NOTIF);
		assert_int_equal(evaluate_call(&program, OTHER, 21, 0, 0, 0),
				 SECCOMP_RET_USER_NOTIF);
		assert_int_equal(evaluate_call(&program, NATIVE, X32 + 165, 0, 0, 0),
				 SECCOMP_RET_USER_NOTIF);
		/* kexec_load, under its own x32 number and its x86-64 one. */
		assert_int_equal(evaluate_call(&program, NATIVE, X32 + 528, 0, 0, 0),
				 SECCOMP_RET_USER_NOTIF);
		assert_int_equal(evaluate_call(&program, NATIVE, X32 + 246, 0, 0, 0),
				 SECCOMP_RET_USER_NOTIF);
	}
}

static void kills_are_these_and_no_other(void **state)
{
	static const uint32_t kills[] = {
	    155, /* pivot_root */ 163,	  /* acct */ 165,	 /* mount */
	    166, /* umount2 */ 167,	  /* swapon */ 168,	 /* swapoff */
	    169, /* reboot */ 175,	  /* init_module */ 176, /* delete_module */
	    246, /* kexec_load */ 272,	  /* unshare */ 308,	 /* setns */
	    313, /* finit_module */ 320,			 /* kexec_file_load */
	    428, /* open_tree */ 429,	  /* move_mount */ 430,	 /* fsopen */
	    431, /* fsconfig */ 432,	  /* fsmount */ 433,	 /* fspick */
	    442, /* mount_setattr */ 467,			 /* open_tree_attr */
	};
	const struct seccomp_program program = builtin("default");
	size_t next = 0;

	(void)state;
	for (uint32_t nr = 0; nr < 1000; nr++) {
		const bool kill = evaluate_call(&program, NATIVE, nr, 0, 0, 0) ==
				  SECCOMP_RET_USER_NOTIF;
		const bool listed =
		    next < sizeof(kills) / sizeof(kills[0]) && kills[next] == nr;

		assert_int_equal(kill, listed);
		next += listed;
	}
	assert_int_equal(next, sizeof(kills) / sizeof(kills[0]));
}

static void x32_is_there_only_to_be_reported(void **state)
{
	(void)state;
	for (size_t p = 0; p < POLICY_COUNT; p++) {
		const struct seccomp_program program = builtin(names[p]);

		for (uint32_t n = 0; n < 1000; n++) {
			const uint32_t got =
			    evaluate_call(&program, NATIVE, X32 + n, 0, 0, 0);

			assert_true(got == FAILS(ENOSYS) ||
				    got == SECCOMP_RET_USER_NOTIF);
		}
		/* read, and the last number below the one that is no number. */
		assert_int_equal(evaluate_call(&program, NATIVE, X32, 0, 0, 0),
				 FAILS(ENOSYS));
		assert_int_equal(evaluate_call(&program, NATIVE, UINT32_MAX - 1, 0, 0, 0),
				 FAILS(ENOSYS));
		/* x32's mark with a further bit: no kernel takes it. */
		assert_int_equal(
		    evaluate_call(&program, NATIVE, 0xc0000000 + 165, 0, 0, 0),
		    FAILS(ENOSYS));
	}
}

static void minus_one_reaches_the_kernel(void **state)
{
	(void)state;
	for (size_t p = 0; p < POLICY_COUNT; p++) {
		const struct seccomp_program program = builtin(names[p]);

		assert_int_equal(evaluate_call(&program, NATIVE, UINT32_MAX, 0, 0, 0),
				 SECCOMP_RET_ALLOW);
		assert_int_equal(evaluate_call(&program, OTHER, UINT32_MAX, 0, 0, 0),
				 SECCOMP_RET_ALLOW);
	}
}

static void numbers_past_the_review_do_not_exist(void **state)
{
	static const uint32_t unknown[] = {LAST_REVIEWED + 1, 500, 548, 1000, 65536,
					   0x3fffffff};

	(void)state;
	for (size_t p = 0; p < POLICY_COUNT; p++) {
		const struct seccomp_program program = builtin(names[p]);

		for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
			assert_int_equal(
			    evaluate_call(&program, NATIVE, unknown[i], 0, 0, 0),
			    FAILS(ENOSYS));
			assert_int_equal(
			    evaluate_call(&program, OTHER, unknown[i], 0, 0, 0),
			    FAILS(ENOSYS));
		}
		/* Unassigned so far, below the end. */
		for (uint32_t nr = 337; nr < 424; nr++)
			assert_int_equal(evaluate_call(&program, NATIVE, nr, 0, 0, 0),
					 FAILS(ENOSYS));
		for (uint32_t nr = 387; nr < 393; nr++)
			assert_int_equal(evaluate_call(&program, OTHER, nr, 0, 0, 0),
					 FAILS(ENOSYS));
	}
	/* file_setattr, one of the last that were let in. */
	const struct seccomp_program program = builtin("default");

	assert_int_equal(evaluate_call(&program, NATIVE, 469, 0, 0, 0),
			 SECCOMP_RET_ALLOW);
}

static void other_architectures_are_killed(void **state)
{
	static const uint32_t foreign[] = {0, AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM,
					   AUDIT_ARCH_PPC64LE, UINT32_MAX};

	(void)state;
	for (size_t p = 0; p < POLICY_COUNT; p++) {
		const struct seccomp_program program = builtin(names[p]);

		for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
			assert_int_equal(evaluate_call(&program, foreign[i], 1, 0, 0, 0),
					 SECCOMP_RET_KILL_PROCESS);
			assert_int_equal(
			    evaluate_call(&program, foreign[i], UINT32_MAX, 0, 0, 0),
			    SECCOMP_RET_KILL_PROCESS);
		}
	}
}

static void clone_is_killed_for_each_namespace_flag(void **state)
{
	static const uint32_t namespaces[] = {CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
					      CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
					      CLONE_NEWNET};
	/* What glibc asks for to make a thread, and a fork. */
	static const uint32_t honest[] = {0x3d0f00, 0x01200011, 0x4111, 17, 0};

	(void)state;
	for (size_t p = 0; p < POLICY_COUNT; p++) {
		const struct seccomp_program program = builtin(names[p]);

		for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++) {
			const uint64_t flags = namespaces[i] | 17;

			assert_int_equal(evaluate_call(&program, NATIVE, 56, flags, 0, 0),
					 SECCOMP_RET_USER_NOTIF);
			assert_int_equal(evaluate_call(&program, OTHER, 120, flags, 0, 0),
					 SECCOMP_RET_USER_NOTIF);
			assert_int_equal(
			    evaluate_call(&program, NATIVE, X32 + 56, flags, 0, 0),
			    SECCOMP_RET_USER_NOTIF);
			assert_int_equal(evaluate_call(&program, NATIVE, 56,
						       flags | 0xffffffff00000000, 0, 0),
					 SECCOMP_RET_USER_NOTIF);
		}
		for (size_t i = 0; i < sizeof(honest) / sizeof(honest[0]); i++) {
			assert_int_equal(
			    evaluate_call(&program, NATIVE, 56, honest[i], 0, 0),
			    SECCOMP_RET_ALLOW);
			assert_int_equal(
			    evaluate_call(&program, OTHER, 120, honest[i], 0, 0),
			    SECCOMP_RET_ALLOW);
		}
		assert_int_equal(evaluate_call(&program, NATIVE, 435, 0, 0, 0),
				 FAILS(ENOSYS));
	}
}

static const struct {
	uint64_t family, type, protocol;
	uint32_t want;
} socket_rows[] = {
    {AF_UNIX, SOCK_STREAM, 0, SECCOMP_RET_ALLOW},
    {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 6, SECCOMP_RET_ALLOW},
    {AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 17, SECCOMP_RET_ALLOW},
    {AF_INET, SOCK_DGRAM, 1, SECCOMP_RET_ALLOW},
    {AF_INET6, SOCK_DGRAM, 58, SECCOMP_RET_ALLOW},
    {AF_INET, SOCK_STREAM, 262, SECCOMP_RET_ALLOW}, /* MPTCP, asked for by Go */
    {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0, SECCOMP_RET_ALLOW},
    {AF_INET, SOCK_RAW, 1, FAILS(EPERM)},
    {AF_INET6, SOCK_RAW | SOCK_CLOEXEC, 255, FAILS(EPERM)},
    {AF_INET, SOCK_PACKET, 0x300, FAILS(EPERM)},
    {AF_INET, SOCK_STREAM, 132, FAILS(EPROTONOSUPPORT)}, /* SCTP */
    {AF_INET, 6 /* DCCP */, 33, FAILS(ESOCKTNOSUPPORT)},
    {AF_INET6, SOCK_STREAM, 256, FAILS(EPROTONOSUPPORT)}, /* SMC */
    {AF_NETLINK, SOCK_RAW, 9, FAILS(EPROTONOSUPPORT)},	  /* audit */
    {AF_NETLINK, SOCK_RAW, 12, FAILS(EPROTONOSUPPORT)},	  /* netfilter */
    {AF_NETLINK, SOCK_RAW, 16, FAILS(EPROTONOSUPPORT)},	  /* generic */
    {AF_VSOCK, SOCK_STREAM, 0, FAILS(EAFNOSUPPORT)},
    {AF_VSOCK | 0x100000000, SOCK_STREAM, 0, FAILS(EAFNOSUPPORT)},
    {AF_ALG, SOCK_SEQPACKET, 0, FAILS(EAFNOSUPPORT)},
    {AF_PACKET, SOCK_RAW, 0x300, FAILS(EAFNOSUPPORT)},
    {44 /* XDP */, SOCK_RAW, 0, FAILS(EAFNOSUPPORT)},
    {AF_RDS, SOCK_SEQPACKET, 0, FAILS(EAFNOSUPPORT)},
    {AF_TIPC, SOCK_RDM, 0, FAILS(EAFNOSUPPORT)},
    {AF_CAN, SOCK_RAW, 1, FAILS(EAFNOSUPPORT)},
    {AF_BLUETOOTH, SOCK_STREAM, 0, FAILS(EAFNOSUPPORT)},
    {AF_KEY, SOCK_RAW, 2, FAILS(EAFNOSUPPORT)},
    {43 /* SMC */, SOCK_STREAM, 0, FAILS(EAFNOSUPPORT)},
    {42 /* QIPCRTR */, SOCK_DGRAM, 0, FAILS(EAFNOSUPPORT)},
    {0, 0, 0, FAILS(EAFNOSUPPORT)},
    {255, 0, 0, FAILS(EAFNOSUPPORT)},
};

static void sockets_are_of_few_kinds(void **state)
{
	(void)state;
	for (size_t p = 0; p < POLICY_COUNT; p++) {
		const struct seccomp_program program = builtin(names[p]);

		for (size_t i = 0; i < sizeof(socket_rows) / sizeof(socket_rows[0]);
		     i++) {
			assert_int_equal(
			    evaluate_call(&program, NATIVE, 41, socket_rows[i].family,
					  socket_rows[i].type, socket_rows[i].protocol),
			    socket_rows[i].want);
			assert_int_equal(evaluate_call(&program, OTHER, 359,
						       (uint32_t)socket_rows[i].family,
						       socket_rows[i].type,
						       socket_rows[i].protocol),
					 socket_rows[i].want);
		}
		assert_int_equal(evaluate_call(&program, NATIVE, 53, AF_VSOCK, 1, 0),
				 FAILS(EAFNOSUPPORT));
		assert_int_equal(evaluate_call(&program, NATIVE, 53, AF_UNIX, 1, 0),
				 SECCOMP_RET_ALLOW);
		/* The way around, for 32-bit programs. */
		assert_int_equal(evaluate_call(&program, OTHER, 102, 1, 0, 0),
				 FAILS(ENOSYS));
	}
}

static void arguments_decide_on_the_bits_the_kernel_reads(void **state)
{
	const struct seccomp_program program = builtin("default");
	const uint64_t high = 0xabcd000000000000;

	(void)state;
	assert_int_equal(evaluate_call(&program, NATIVE, 16, 0, TIOCSTI, 0),
			 FAILS(EPERM));
	assert_int_equal(evaluate_call(&program, NATIVE, 16, 0, TIOCSTI | high, 0),
			 FAILS(EPERM));
	assert_int_equal(evaluate_call(&program, NATIVE, 16, 0, TIOCLINUX | high, 0),
			 FAILS(EPERM));
	assert_int_equal(evaluate_call(&program, OTHER, 54, 0, TIOCSTI, 0), FAILS(EPERM));
	assert_int_equal(evaluate_call(&program, NATIVE, 16, 0, TIOCGWINSZ, 0),
			 SECCOMP_RET_ALLOW);
	assert_int_equal(evaluate_call(&program, NATIVE, 16, TIOCSTI, 0, TIOCSTI),
			 SECCOMP_RET_ALLOW);
	/* mknod: the type lies in the mode's upper bits, the permissions below. */
	assert_int_equal(evaluate_call(&program, NATIVE, 133, 0, S_IFCHR | 0666, 0x103),
			 FAILS(EPERM));
	assert_int_equal(evaluate_call(&program, NATIVE, 133, 0, S_IFBLK | high, 0),
			 FAILS(EPERM));
	assert_int_equal(evaluate_call(&program, NATIVE, 133, 0, S_IFIFO | 0600, 0),
			 SECCOMP_RET_ALLOW);
	assert_int_equal(evaluate_call(&program, NATIVE, 259, 0, 0, S_IFCHR),
			 FAILS(EPERM));
	assert_int_equal(evaluate_call(&program, NATIVE, 259, 0, 0, S_IFSOCK),
			 SECCOMP_RET_ALLOW);
	/* personality: asking, and what setarch -R asks for. */
	assert_int_equal(evaluate_call(&program, NATIVE, 135, 0xffffffff, 0, 0),
			 SECCOMP_RET_ALLOW);
	assert_int_equal(evaluate_call(&program, NATIVE, 135, 0x40000, 0, 0),
			 SECCOMP_RET_ALLOW);
	assert_int_equal(evaluate_call(&program, NATIVE, 135, 0x400000 | high, 0, 0),
			 FAILS(EPERM));
}

/* Read as ever; set without effect; both at once refused, wherever the pointers lie. */
static void the_core_limit_stays(void **state)
{
	static const uint64_t pointers[] = {1, 0x7fff00001000, 0x100000000};
	const uint32_t arch = NATIVE;
	struct seccomp_data data = {.arch = arch, .nr = SYS_prlimit64};

	(void)state;
	for (size_t p = 0; p < sizeof(names) / sizeof(names[0]); p++) {
		const struct seccomp_program program = builtin(names[p]);

		for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
			data.args[1] = RLIMIT_CORE | 0xabcd00000000;
			data.args[2] = 0;
			data.args[3] = pointers[i];
			assert_int_equal(evaluate(&program, &data), SECCOMP_RET_ALLOW);
			data.args[2] = pointers[i];
			data.args[3] = 0;
			assert_int_equal(evaluate(&program, &data), SECCOMP_RET_ERRNO);
			data.args[3] = pointers[i];
			assert_int_equal(evaluate(&program, &data), FAILS(EPERM));
			data.args[1] = RLIMIT_NOFILE;
			assert_int_equal(evaluate(&program, &data), SECCOMP_RET_ALLOW);
		}
		assert_int_equal(
		    evaluate_call(&program, arch, SYS_setrlimit, RLIMIT_CORE, 1, 0),
		    SECCOMP_RET_ERRNO);
		assert_int_equal(
		    evaluate_call(&program, arch, SYS_setrlimit, RLIMIT_CPU, 1, 0),
		    SECCOMP_RET_ALLOW);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(mount_is_killed_in_every_abi),
	    cmocka_unit_test(kills_are_these_and_no_other),
	    cmocka_unit_test(x32_is_there_only_to_be_reported),
	    cmocka_unit_test(minus_one_reaches_the_kernel),
	    cmocka_unit_test(numbers_past_the_review_do_not_exist),
	    cmocka_unit_test(other_architectures_are_killed),
	    cmocka_unit_test(clone_is_killed_for_each_namespace_flag),
	    cmocka_unit_test(sockets_are_of_few_kinds),
	    cmocka_unit_test(the_core_limit_stays),
	    cmocka_unit_test(arguments_decide_on_the_bits_the_kernel_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	print_message("skipped: the numbers in this test are those of x86\n");
	return 0;
}
#endif
