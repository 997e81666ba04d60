/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a traced box in words: which layer, and what loosens just that. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/box.h"
#include "runtime/wire.h"

#ifdef __x86_64__
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

static char shown[] = "shown", deep[] = "shown/deep";
static struct box_mount mounts[] = {
    {.target = shown, .writable = false},
    {.target = deep, .writable = true},
};

static struct box_spec standard(void)
{
	return (struct box_spec){
	    .mounts = mounts, .mount_count = 2, .caps = {.pids = 10}};
}

static struct wire_denial by_kernel(uint32_t nr, int error, const char *path)
{
	struct wire_denial row = {
	    .nr = nr, .arch = NATIVE, .by = WIRE_BY_KERNEL, .error = error, .count = 7};

	if (path) {
		row.about = WIRE_ABOUT_PATH;
		row.text_size = (uint32_t)strlen(path);
		memcpy(row.text, path, row.text_size);
	}
	return row;
}

static void expect(const struct box_spec *spec, const struct wire_denial *row,
		   const char *layer, const char *answer, const char *loosen)
{
	struct denial denial;

	assert_true(denial_explain(spec, row, &denial));
	assert_string_equal(denial.layer, layer);
	assert_string_equal(denial.error, answer);
	assert_string_equal(denial.loosen, loosen);
	assert_int_equal(denial.count, row->count);
}

static void test_read_only_by_place(void **state)
{
	static const struct {
		const char *path, *loosen;
	} rows[] = {
	    {"/usr/bin/x", "--writable-root"},
	    {"/", "--writable-root"},
	    {"/shownx", "--writable-root"},
	    {"/shown", "-v SRC:/shown:rw"},
	    {"/shown/a/b", "-v SRC:/shown:rw"},
	    {"/shown/deep/a", ""}, /* it is writable: nothing of ours */
	    {"/workspace/.deps/a", "leave --deps-readonly out"},
	    {"/workspace/a", ""},
	    {"/proc/sys/kernel/x", ""},
	    {"/sys/x", ""},
	    {"/dev/null", ""},
	};
	struct box_spec spec = standard();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wire_denial row = by_kernel(SYS_openat, EROFS, rows[i].path);

		expect(&spec, &row, "read-only", "EROFS", rows[i].loosen);
	}
	spec.writable_root = true;
	struct wire_denial row = by_kernel(SYS_openat, EROFS, "/usr/x");
	expect(&spec, &row, "read-only", "EROFS", "");
}

static void test_caps_and_space(void **state)
{
	struct box_spec spec = standard();
	struct wire_denial row = by_kernel(SYS_write, ENOSPC, "/tmp/x");
	struct denial denial;

	(void)state;
	expect(&spec, &row, "space", "ENOSPC", "--tmp-size SIZE");
	row = by_kernel(SYS_write, ENOSPC, "/dev/shm/x");
	expect(&spec, &row, "space", "ENOSPC", "--tmp-size SIZE");
	row = by_kernel(SYS_write, EDQUOT, "/workspace/x");
	expect(&spec, &row, "space", "EDQUOT", "");
	row = by_kernel(SYS_write, ENOSPC, "/dev/full");
	assert_false(denial_explain(&spec, &row, &denial));
	row = by_kernel(SYS_clone, EAGAIN, NULL);
	expect(&spec, &row, "tasks", "EAGAIN", "--pids N");
	spec.caps.pids = 0;
	assert_false(denial_explain(&spec, &row, &denial));
}

static void test_network(void **state)
{
	struct box_spec spec = standard();
	struct wire_denial row = by_kernel(SYS_connect, ENETUNREACH, NULL);
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
	struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "\0name"};
	struct denial denial;

	(void)state;
	(void)inet_pton(AF_INET, "192.0.2.1", &in.sin_addr);
	row.about = WIRE_ABOUT_ADDRESS;
	row.text_size = sizeof(in);
	memcpy(row.text, &in, sizeof(in));
	expect(&spec, &row, "network", "ENETUNREACH", "--network host");
	assert_true(denial_explain(&spec, &row, &denial));
	assert_string_equal(denial.subject, "192.0.2.1:80");
	spec.host_network = true; /* then the host's network says so */
	assert_false(denial_explain(&spec, &row, &denial));
	row.error = EPERM;
	row.text_size = offsetof(struct sockaddr_un, sun_path) + 5;
	memcpy(row.text, &local, row.text_size);
	expect(&spec, &row, "landlock", "EPERM", "");
	assert_true(denial_explain(&spec, &row, &denial));
	assert_string_equal(denial.subject, "@name");
}

static void test_permissions_ids_capabilities(void **state)
{
	struct box_spec spec = standard();
	struct wire_denial row = by_kernel(SYS_openat, EACCES, "/workspace/x");

	(void)state;
	expect(&spec, &row, "permissions", "EACCES", "");
	row = by_kernel(SYS_fchownat, EPERM, "/workspace/x");
	expect(&spec, &row, "capabilities", "EPERM", "");
	row = by_kernel(SYS_setpriority, EPERM, NULL);
	expect(&spec, &row, "capabilities", "EPERM", "");
	row = by_kernel(SYS_setuid, EINVAL, NULL);
	row.args[0] = 7;
	expect(&spec, &row, "ids", "EINVAL", "--user 7");
	row = by_kernel(SYS_setgid, EINVAL, NULL);
	row.args[0] = 9;
	expect(&spec, &row, "ids", "EINVAL", "--user UID:9");
	row = by_kernel(SYS_fchownat, EINVAL, "/tmp");
	expect(&spec, &row, "ids", "EINVAL", "");
	row = by_kernel(SYS_ptrace, EPERM, NULL);
	expect(&spec, &row, "tracing", "EPERM", "leave --explain-denials out");
}

static void test_the_filter(void **state)
{
	const char *own = "--seccomp FILE, a profile that lets it pass";
	struct box_spec spec = standard();
	struct wire_denial row = {.nr = SYS_socket,
				  .arch = NATIVE,
				  .by = WIRE_BY_FILTER,
				  .answer = SECCOMP_RET_ERRNO | EAFNOSUPPORT,
				  .args = {AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 3}};
	struct denial denial;

	(void)state;
	expect(&spec, &row, "seccomp", "EAFNOSUPPORT", own);
	assert_true(denial_explain(&spec, &row, &denial));
	assert_string_equal(denial.call, "socket");
	assert_string_equal(denial.subject, "family 40, type 1, protocol 3");
	row.args[0] =
	    AF_UNIX; /* a profile of the user's refuses it, the default would not */
	expect(&spec, &row, "seccomp", "EAFNOSUPPORT", "--seccomp default");
	row.nr = SYS_mount; /* whoever lets it pass: it needs a capability */
	row.answer = SECCOMP_RET_USER_NOTIF;
	expect(&spec, &row, "seccomp", "killed", "");
	row.nr = SYS_unshare;
	row.args[0] = 0x10000000;
	expect(&spec, &row, "seccomp", "killed", own);
	assert_true(denial_explain(&spec, &row, &denial));
	assert_string_equal(denial.subject, "0x10000000");
	row.answer = SECCOMP_RET_ERRNO;
	expect(&spec, &row, "seccomp", "no effect", own);
	row.answer = SECCOMP_RET_TRAP;
	expect(&spec, &row, "seccomp", "SIGSYS", own);
}

/* Addresses and texts of every size: whatever a box says ends inside the subject. */
static void test_texts_of_every_size(void **state)
{
	struct box_spec spec = standard();
	struct wire_denial row = by_kernel(SYS_connect, EPERM, NULL);
	struct denial denial;

	(void)state;
	memset(row.text, 'x', sizeof(row.text));
	for (uint32_t size = 0; size <= WIRE_DENIAL_TEXT; size++) {
		static const sa_family_t families[] = {AF_UNIX, AF_INET, AF_INET6, 77};

		row.text_size = size;
		row.about = WIRE_ABOUT_PATH;
		(void)denial_explain(&spec, &row, &denial);
		assert_int_equal(strlen(denial.subject), size);
		for (size_t i = 0; size >= sizeof(families[0]) && i < 4; i++) {
			row.about = WIRE_ABOUT_ADDRESS;
			memcpy(row.text, &families[i], sizeof(families[0]));
			(void)denial_explain(&spec, &row, &denial);
			assert_true(strlen(denial.subject) < DENIAL_SUBJECT - 1);
		}
		memset(row.text, 'x', sizeof(row.text));
	}
}

static void test_a_list_is_read_and_sorted(void **state)
{
	static struct {
		struct wire_denials head;
		struct wire_denial rows[WIRE_DENIALS];
	} block;
	struct box_spec spec = standard();
	struct box_outcome outcome = {
	    .has_cgroup = true,
	    .counters = {.oom_kills = 2, .pids_denied = UINT64_MAX},
	};
	struct denial_list list = {0};
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	block.rows[0] = by_kernel(SYS_openat, EROFS, "/usr/a");
	block.rows[1] = (struct wire_denial){.nr = SYS_clone3,
					     .arch = NATIVE,
					     .by = WIRE_BY_FILTER,
					     .answer = SECCOMP_RET_ERRNO | ENOSYS};
	block.rows[2] = by_kernel(SYS_write, ENOSPC, "/dev/full");
	block.rows[3] = by_kernel(SYS_openat, EROFS, "/usr/b");
	block.head =
	    (struct wire_denials){.count = 4, .capacity = WIRE_DENIALS, .lost = 1};
	assert_int_equal(write(fileno(file), &block, sizeof(block)), sizeof(block));
	assert_int_equal(denial_list_read(&list, fileno(file), 0, &spec, &outcome), 0);
	assert_int_equal(list.count, 4);
	assert_string_equal(list.rows[0].layer, "memory");
	assert_string_equal(list.rows[1].subject, "/usr/a");
	assert_string_equal(list.rows[2].subject, "/usr/b");
	assert_string_equal(list.rows[3].error, "ENOSYS");
	assert_true(list.known && list.lost);
	denial_list_deinit(&list);
	/* A block that is not there is an error, and nothing is leaked. */
	assert_true(denial_list_read(&list, fileno(file), 100, &spec, &outcome) < 0);
	denial_list_deinit(&list);
	(void)fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_read_only_by_place),
	    cmocka_unit_test(test_caps_and_space),
	    cmocka_unit_test(test_network),
	    cmocka_unit_test(test_permissions_ids_capabilities),
	    cmocka_unit_test(test_the_filter),
	    cmocka_unit_test(test_texts_of_every_size),
	    cmocka_unit_test(test_a_list_is_read_and_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
