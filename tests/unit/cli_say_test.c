/* SPDX-License-Identifier: Apache-2.0 */
/* What errors look like on stderr, and texts on stdout. */
#include "cli/say.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* fd (1 or 2) goes to a pipe while a test speaks. */
struct capture {
	int fd, saved, from;
	char text[16384];
};

static void begin(struct capture *capture, int fd)
{
	int ends[2];

	memset(capture, 0, sizeof(*capture));
	capture->fd = fd;
	capture->saved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	assert_true(capture->saved >= 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(dup2(ends[1], fd), fd);
	assert_int_equal(close(ends[1]), 0);
	capture->from = ends[0];
}

static void end(struct capture *capture)
{
	size_t used = 0;
	ssize_t n;

	assert_int_equal(dup2(capture->saved, capture->fd), capture->fd);
	assert_int_equal(close(capture->saved), 0);
	while ((n = read(capture->from, capture->text + used,
			 sizeof(capture->text) - 1 - used)) > 0)
		used += (size_t)n;
	assert_int_equal(close(capture->from), 0);
}

static void test_two_lines(void **state)
{
	struct capture capture;

	(void)state;
	begin(&capture, STDERR_FILENO);
	cli_say("what", "why", "do this");
	cli_say("what", "why", NULL);
	cli_say("what", "why", "");
	cli_say(NULL, "why", NULL);
	end(&capture);
	assert_string_equal(capture.text,
			    "husk: what: why\nhint: do this\n"
			    "husk: what: why\nhusk: what: why\nhusk: why\n");
}

static void test_errors(void **state)
{
	struct husk_error err = {0};
	struct capture capture;

	(void)state;
	assert_int_equal(cli_error(&err, "--x", "%d is odd", 3), HUSK_E_INVALID);
	assert_int_equal(err.code, HUSK_E_INVALID);
	begin(&capture, STDERR_FILENO);
	assert_int_equal(cli_say_error(&err), 125);
	assert_int_equal(cli_say_usage(&err, NULL), 125);
	cli_error_hint(&err, "try %d", 4);
	assert_int_equal(cli_say_error(&err), 125);
	assert_int_equal(cli_say_usage(&err, "run"), 125);
	end(&capture);
	assert_string_equal(capture.text,
			    "husk: --x: 3 is odd\n"
			    "husk: --x: 3 is odd\nhint: see `husk help`\n"
			    "husk: --x: 3 is odd\nhint: try 4\n"
			    "husk: --x: 3 is odd\nhint: try 4 (see `husk help run`)\n");
	assert_int_equal(cli_error_memory(&err, "x"), HUSK_E_MEMORY);
	assert_int_equal(err.code, HUSK_E_MEMORY);
	assert_int_equal(cli_error(NULL, "x", "y"), HUSK_E_INVALID);
	assert_int_equal(cli_error_memory(NULL, "x"), HUSK_E_MEMORY);
	cli_error_hint(NULL, "x");
}

/* A name with escapes or line feeds in it makes neither colours nor lines of its own. */
static void test_untrusted_names(void **state)
{
	struct capture capture;

	(void)state;
	begin(&capture, STDERR_FILENO);
	cli_say("a\x1b[31m\nhusk: b", "\x9b\r", "\x1b]0;t\x07");
	end(&capture);
	assert_string_equal(capture.text, "husk: a\\x1b[31m\\x0ahusk: b: \\x9b\\x0d\n"
					  "hint: \\x1b]0;t\\x07\n");
}

/* The longest error there is is printed whole lines long, and the hint is never lost. */
static void test_long_errors(void **state)
{
	struct husk_error err = {0};
	struct capture capture;
	static char why[20000];
	char *hint;

	(void)state;
	memset(err.where, 1, sizeof(err.where) - 1);
	memset(err.message, 2, sizeof(err.message) - 1);
	memset(err.hint, 3, sizeof(err.hint) - 1);
	begin(&capture, STDERR_FILENO);
	assert_int_equal(cli_say_usage(&err, "run"), 125);
	end(&capture);
	hint = strchr(capture.text, '\n');
	assert_non_null(hint);
	assert_int_equal(strncmp(hint, "\nhint: \\x03", 11), 0);
	assert_int_equal(capture.text[strlen(capture.text) - 1], '\n');
	memset(why, 'y', sizeof(why) - 1);
	begin(&capture, STDERR_FILENO);
	cli_say("what", why, "the hint");
	end(&capture);
	assert_non_null(strstr(capture.text, "y\nhint: the hint\n"));
}

static void test_texts(void **state)
{
	struct capture capture;

	(void)state;
	begin(&capture, STDOUT_FILENO);
	assert_int_equal(cli_print("a\0b\n", 4), 0);
	end(&capture);
	assert_memory_equal(capture.text, "a\0b\n", 4);
	begin(&capture, STDOUT_FILENO);
	assert_int_equal(cli_print_text("a\n\tb\x1b"), 0);
	assert_int_equal(cli_print_text("c\n"), 0);
	assert_int_equal(cli_print_text(""), 0);
	end(&capture);
	assert_string_equal(capture.text, "a\n\tb\\x1b\nc\n");
}

/* A full disk is an error; a reader that has gone is none worth a word. */
static void test_failed_writes(void **state)
{
	struct capture capture;
	int saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), ends[2];

	(void)state;
	assert_true(saved >= 0 && full >= 0);
	begin(&capture, STDERR_FILENO);
	assert_int_equal(dup2(full, STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(cli_print("x", 1), 125);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(close(ends[0]), 0);
	assert_int_equal(cli_print("x", 1), 141);
	assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
	end(&capture);
	assert_string_equal(capture.text, "husk: stdout: No space left on device\n");
	assert_int_equal(close(ends[1]) | close(saved) | close(full), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_two_lines),	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_untrusted_names), cmocka_unit_test(test_long_errors),
	    cmocka_unit_test(test_texts),	    cmocka_unit_test(test_failed_writes),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
