/* SPDX-License-Identifier: Apache-2.0 */
/* A seccomp profile under which nothing could start is refused when the session is
 * opened, not met as a deadline later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <husk.h>

static int open_with(const char *profile, struct husk_error *err)
{
	char path[] = "/tmp/husk-profile-XXXXXX";
	int fd = mkstemp(path), r;
	husk_session *session = NULL;
	HUSK_OPTIONS(options);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, profile, strlen(profile)), (ssize_t)strlen(profile));
	(void)close(fd);
	options.seccomp = path;
	r = husk_session_open(&options, &session, err);
	husk_session_close(session);
	assert_int_equal(unlink(path), 0);
	return r;
}

static void test_profiles_that_let_nothing_start(void **state)
{
	static const char *const rows[][2] = {
	    {"{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"execve\"]"
	     ","
	     "\"action\":\"SCMP_ACT_KILL\"}]}",
	     "execve"},
	    {"{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"exit_"
	     "group\"],"
	     "\"action\":\"SCMP_ACT_ERRNO\"}]}",
	     "exit_group"},
	    {"{\"defaultAction\":\"SCMP_ACT_KILL\"}", "execve"},
	};
	struct husk_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(open_with(rows[i][0], &err), HUSK_E_INVALID);
		assert_non_null(strstr(err.message, rows[i][1]));
		assert_true(err.hint[0] != '\0');
	}
	assert_int_equal(open_with("{\"defaultAction\":\"SCMP_ACT_ALLOW\"}", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_profiles_that_let_nothing_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
