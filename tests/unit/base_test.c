/* SPDX-License-Identifier: Apache-2.0 */
/* The small helpers. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/path.h"
#include "base/utf8.h"

static void test_buffer_bounds(void **state)
{
	struct buffer buffer = BUFFER_INIT(10);

	(void)state;
	assert_int_equal(buffer_add(&buffer, "12345", 5), 0);
	assert_int_equal(buffer_add(&buffer, "123456", 6), -EFBIG);
	assert_int_equal(buffer.size, 5);
	assert_int_equal(buffer_addf(&buffer, "%s", "abcdef"), -EFBIG);
	assert_int_equal(buffer_addf(&buffer, "%s", "67890"), 0);
	assert_string_equal(buffer.data, "1234567890");
	assert_null(buffer_reserve(&buffer, 1));
	buffer_deinit(&buffer);
	assert_int_equal(buffer.size, 0);
}

static void test_utf8(void **state)
{
	/* What Python's bytes.decode("utf-8", "replace") makes of the same bytes. */
	static const struct {
		const char *in;
		size_t size;
		const char *out;
		bool valid;
	} rows[] = {
	    {"plain", 5, "plain", true},
	    {"\xc3\xa9", 2, "\xc3\xa9", true},
	    {"\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80", true},
	    {"\xff", 1, "\xef\xbf\xbd", false},
	    {"a\x80z", 3, "a\xef\xbf\xbdz", false},
	    {"\xc0\xaf", 2, "\xef\xbf\xbd\xef\xbf\xbd", false}, /* overlong */
	    {"\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
	     false},					/* surrogate */
	    {"\xf0\x9f\x98", 3, "\xef\xbf\xbd", false}, /* cut */
	    {"\xf4\x90\x80\x80", 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
	     false},
	    {"\xe2\x82z", 3, "\xef\xbf\xbdz", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buffer out = BUFFER_INIT(100);

		assert_int_equal(utf8_valid(rows[i].in, rows[i].size), rows[i].valid);
		assert_int_equal(utf8_replace(&out, rows[i].in, rows[i].size), 0);
		assert_string_equal(out.data, rows[i].out);
		buffer_deinit(&out);
	}
}

static void test_base64_read(void **state)
{
	static const struct {
		const char *text, *wanted; /* NULL: refused */
	} rows[] = {
	    {"", ""},	     {"Zg==", "f"},	 {"Zm8=", "fo"},   {"Zm9vYmFy", "foobar"},
	    {"Zg", NULL},    {"Zg=", NULL},	 {"Zg===", NULL},  {"====", NULL},
	    {"Z===", NULL},  {"Zg==Zg==", NULL}, {"Zm9v\n", NULL}, {"Zm9-", NULL},
	    {"Zm 9v", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buffer out = BUFFER_INIT(100);
		int rc;

		assert_int_equal(buffer_add_text(&out, "x"), 0);
		rc = base64_read(&out, rows[i].text);
		if (rc != (rows[i].wanted ? 0 : -EINVAL))
			fail_msg("%s: %d", rows[i].text, rc);
		assert_string_equal(out.data + 1, rows[i].wanted ? rows[i].wanted : "");
		buffer_deinit(&out);
	}
}

static void test_base64(void **state)
{
	/* RFC 4648 section 10. */
	static const char *const rows[][2] = {
	    {"", ""},
	    {"f", "Zg=="},
	    {"fo", "Zm8="},
	    {"foo", "Zm9v"},
	    {"foob", "Zm9vYg=="},
	    {"fooba", "Zm9vYmE="},
	    {"foobar", "Zm9vYmFy"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buffer out = BUFFER_INIT(100);

		assert_int_equal(base64_add(&out, rows[i][0], strlen(rows[i][0])), 0);
		assert_string_equal(out.data ? out.data : "", rows[i][1]);
		buffer_deinit(&out);
	}
}

static void make_tree(const char *dir)
{
	static const char *const links[][2] = {
	    {"app", "/real"},	  {"up", "../../../etc"}, {"loop", "loop"},
	    {"rel", "real/deep"}, {"chain", "app/deep"},
	};
	int fd = open(dir, O_PATH | O_DIRECTORY);

	assert_true(fd >= 0);
	assert_int_equal(mkdirat(fd, "real", 0755), 0);
	assert_int_equal(mkdirat(fd, "real/deep", 0755), 0);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		assert_int_equal(symlinkat(links[i][1], fd, links[i][0]), 0);
	(void)close(fd);
}

static void remove_tree(const char *dir)
{
	static const char *const names[] = {"app", "up", "loop", "rel", "chain"};
	int fd = open(dir, O_PATH | O_DIRECTORY);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(unlinkat(fd, names[i], 0), 0);
	assert_int_equal(unlinkat(fd, "real/deep", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(fd, "real", AT_REMOVEDIR), 0);
	(void)close(fd);
	assert_int_equal(rmdir(dir), 0);
}

static void test_resolve_stays_inside(void **state)
{
	static const char *const rows[][2] = {
	    {"real/deep", "real/deep"},
	    {"app/x", "real/x"},
	    {"app", "real"},
	    {"up/passwd", "etc/passwd"},
	    {"rel/y", "real/deep/y"},
	    {"chain/z", "real/deep/z"},
	    {"none/a/b", "none/a/b"},
	};
	char dir[] = "/tmp/husk-path-XXXXXX", out[4096];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	make_tree(dir);
	fd = open(dir, O_PATH | O_DIRECTORY);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(path_resolve_in_root(fd, rows[i][0], out, sizeof(out)),
				 0);
		assert_string_equal(out, rows[i][1]);
	}
	assert_int_equal(path_resolve_in_root(fd, "loop/x", out, sizeof(out)), -ELOOP);
	assert_int_equal(path_resolve_in_root(fd, "real/deep", out, 6), -ENAMETOOLONG);
	(void)close(fd);
	remove_tree(dir);
}

static void test_error_is_cut_not_overrun(void **state)
{
	struct husk_error err;
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	memset(&err, 0x5a, sizeof(err));
	assert_int_equal(error_set(&err, HUSK_E_PATH, text, "%s", text), HUSK_E_PATH);
	assert_int_equal(strlen(err.where), sizeof(err.where) - 1);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	assert_string_equal(err.hint, "");
	error_hint(&err, "%s", text);
	assert_int_equal(strlen(err.hint), sizeof(err.hint) - 1);
	assert_int_equal(error_sys(&err, ENOMEM, "a", "b"), HUSK_E_MEMORY);
	assert_int_equal(error_sys(&err, EPERM, "a", "b"), HUSK_E_SYSTEM);
	assert_int_equal(err.sys_errno, EPERM);
	assert_int_equal(error_set(NULL, HUSK_E_PATH, "a", "b"), HUSK_E_PATH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_buffer_bounds),
	    cmocka_unit_test(test_utf8),
	    cmocka_unit_test(test_base64),
	    cmocka_unit_test(test_base64_read),
	    cmocka_unit_test(test_resolve_stays_inside),
	    cmocka_unit_test(test_error_is_cut_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
