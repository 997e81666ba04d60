/* SPDX-License-Identifier: Apache-2.0 */
/* An image's User, looked up in files that the image chose. */
#include "oci/oci.h"

#include "base/fd.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[64];
static int root = -1;

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(place, sizeof(place), "/tmp/husk-user-XXXXXX");
	if (!mkdtemp(place))
		return -1;
	root = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -1 : mkdirat(root, "etc", 0755);
}

static int tear_down(void **state)
{
	(void)state;
	(void)unlinkat(root, "etc/passwd", 0);
	(void)unlinkat(root, "etc/group", 0);
	(void)unlinkat(root, "etc/real", 0);
	(void)unlinkat(root, "etc", AT_REMOVEDIR);
	fd_close(&root);
	return rmdir(place);
}

static void write_file(const char *path, const void *data, size_t size)
{
	CLEANUP_FD int fd =
	    openat(root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, data, size), 0);
}

static void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

/* "uid:gid:home", or the code and a part of the message. */
static void expect(const char *user, const char *answer)
{
	struct husk_error err = {0};
	CLEANUP_FREE char *home = NULL;
	uint32_t uid = 77, gid = 77;
	char got[256];
	int r = oci_image_user(root, user, &uid, &gid, &home, &err);

	if (r < 0)
		(void)snprintf(got, sizeof(got), "%d", r);
	else
		(void)snprintf(got, sizeof(got), "%u:%u:%s", uid, gid, home);
	assert_string_equal(got, answer);
	if (r < 0) {
		assert_int_equal(err.code, r);
		assert_null(home);
		assert_int_equal(uid, 77);
	}
}

static void ordinary_rows(void **state)
{
	(void)state;
	write_text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"
				 "app:x:1000:1001::/srv/app:/bin/sh\n"
				 "app:x:0:0::/root:/bin/sh\n"
				 "nohome:x:7:8");
	write_text("etc/group", "root:x:0:\nwheel:x:10:root,app\nwheel:x:0:\nlast:x:11:");
	expect("", "0:0:/root");
	expect("0", "0:0:/root");
	expect("1000", "1000:1001:/srv/app");
	expect("1000:5", "1000:5:/srv/app");
	expect("4242", "4242:0:/");
	expect("4242:43", "4242:43:/");
	expect("app", "1000:1001:/srv/app");
	expect("app:wheel", "1000:10:/srv/app");
	expect("app:last", "1000:11:/srv/app");
	expect("app:0", "1000:0:/srv/app");
	expect("nohome", "7:8:/");
	expect("4294967294", "4294967294:0:/");
}

static void what_is_missing_is_named(void **state)
{
	struct husk_error err = {0};
	char *home = NULL;
	uint32_t uid, gid;

	(void)state;
	write_text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
	expect("nobody", "-4");
	expect("root:nogroup", "-4");
	assert_int_equal(oci_image_user(root, "no\033body", &uid, &gid, &home, &err),
			 HUSK_E_IMAGE);
	assert_non_null(strstr(err.message, "no\\x1bbody"));
	assert_non_null(strstr(err.message, "/etc/passwd"));
	assert_true(err.hint[0] != '\0');
}

static void malformed_users(void **state)
{
	static const char *const bad[] = {":",
					  "a:",
					  ":5",
					  "0:0:0",
					  "4294967295",
					  "99999999999999999999999999",
					  "0:4294967295",
					  "-1",
					  "0x10",
					  "+5",
					  " 0"};
	char longest[2000];

	(void)state;
	write_text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect(bad[i], "-4");
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	expect(longest, "-4");
}

static void hostile_rows(void **state)
{
	static char text[64 * 1024];
	static const char rows[] =
	    "\n:x:0:0::/:\n:::::::\nroot\nevil:x:0x0:0::/e:/e\n"
	    "evil:x:99999999999999999999:0::/e:/e\n"
	    "evil:x:-1:0::/e:/e\nevil:x::0::/e:/e\nevil:x:5:z::/e:/e\n"
	    "nul\0:x:0:0::/n:/n\nrel:x:9:9::etc:/x\n";
	size_t used = sizeof(rows) - 1;

	(void)state;
	memcpy(text, rows, used);
	memset(text + used, 'A', 20000);
	memcpy(text + used, "long:x:0:0:", 11);
	used += 20000;
	used += (size_t)snprintf(text + used, sizeof(text) - used,
				 "\nlast:x:1:2:g:/l:/s:more:and:more:fields");
	write_file("etc/passwd", text, used);
	expect("evil", "-4");
	expect("nul", "-4");
	expect("long", "-4");
	expect("rel", "9:9:/");
	expect("last", "1:2:/l");
}

static void no_files(void **state)
{
	(void)state;
	expect("", "0:0:/");
	expect("5:6", "5:6:/");
	expect("root", "-4");
}

static void links_stay_inside(void **state)
{
	(void)state;
	assert_int_equal(symlinkat("/etc/real", root, "etc/passwd"), 0);
	write_text("etc/real", "inside:x:3:4::/in:/s\n");
	expect("inside", "3:4:/in");
	expect("root", "-4");
	(void)unlinkat(root, "etc/passwd", 0);
	assert_int_equal(symlinkat("../../../../../../etc/passwd", root, "etc/passwd"),
			 0);
	expect("root", "-4");
	(void)unlinkat(root, "etc/passwd", 0);
	assert_int_equal(symlinkat("/proc/self/fd/0", root, "etc/passwd"), 0);
	expect("root", "-4");
}

static void special_files_are_not_opened(void **state)
{
	(void)state;
	assert_int_equal(mkfifoat(root, "etc/passwd", 0644), 0);
	assert_int_equal(mkdirat(root, "etc/group", 0755), 0);
	expect("root", "-4");
	expect("0:wheel", "-4");
	expect("0", "0:0:/");
	(void)unlinkat(root, "etc/group", AT_REMOVEDIR);
}

static void a_file_without_end(void **state)
{
	CLEANUP_FD int fd = -1;

	(void)state;
	write_text("etc/passwd", "first:x:3:4::/f:/s\n");
	fd = openat(root, "etc/passwd", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	expect("first", "3:4:/f");
	expect("other", "-8");
}

static void no_root(void **state)
{
	int saved = root;

	(void)state;
	root = -1;
	expect("5:6", "5:6:/");
	expect("root", "-4");
	root = saved;
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(ordinary_rows),
	    CASE(what_is_missing_is_named),
	    CASE(malformed_users),
	    CASE(hostile_rows),
	    CASE(no_files),
	    CASE(links_stay_inside),
	    CASE(a_file_without_end),
	    CASE(special_files_are_not_opened),
	    CASE(no_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
