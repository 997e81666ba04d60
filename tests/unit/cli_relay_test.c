/* SPDX-License-Identifier: Apache-2.0 */
/* Passing streams through: exact, to the right place, and never stuck on a reader that
 * stands still. A relay that waited for such a reader would leave a test here waiting for
 * ever. */
#include "cli/relay.h"
#include "cli/signals.h"

#include <husk/options.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BIG = 1 << 20 };
static char big[BIG];

/* stdout and stderr go elsewhere while a test runs; cmocka prints between tests. */
struct redirect {
	int out, err;
};

static void begin(struct redirect *redirect, int out, int err)
{
	redirect->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	redirect->err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_true(redirect->out >= 0 && redirect->err >= 0);
	assert_int_equal(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(dup2(err, STDERR_FILENO), STDERR_FILENO);
}

static void end(struct redirect *redirect)
{
	assert_int_equal(dup2(redirect->out, STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(dup2(redirect->err, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(close(redirect->out) | close(redirect->err), 0);
}

/* Reads fd to its end. */
struct reader {
	int fd;
	size_t size;
	bool exact;
};

static void *read_all(void *user)
{
	struct reader *reader = user;
	static char data[BIG];
	ssize_t n;

	while ((n = read(reader->fd, data + reader->size, sizeof(data) - reader->size)) >
	       0)
		reader->size += (size_t)n;
	reader->exact = reader->size == BIG && memcmp(data, big, BIG) == 0;
	return NULL;
}

static void exact_through(int from, int to)
{
	struct reader reader = {.fd = from};
	struct redirect redirect;
	struct cli_relay relay;
	pthread_t thread;
	int r, flags;

	begin(&redirect, to, to);
	assert_int_equal(close(to), 0);
	assert_int_equal(pthread_create(&thread, NULL, read_all, &reader), 0);
	cli_relay_init(&relay, 60000);
	r = cli_relay_output(&relay, HUSK_STDOUT, big, BIG / 2);
	r |= cli_relay_output(&relay, HUSK_STDOUT, big + BIG / 2, BIG / 2);
	flags = fcntl(STDOUT_FILENO, F_GETFL);
	cli_relay_deinit(&relay);
	end(&redirect);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(close(from), 0);
	assert_int_equal(r, 0);
	assert_int_equal(relay.failed, 0);
	assert_true(reader.exact);
	/* The open file is shared with other processes: its mode is not ours. */
	assert_int_equal(flags & O_NONBLOCK, 0);
}

static void test_exact(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	exact_through(ends[0], ends[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	exact_through(ends[0], ends[1]);
}

static void test_streams_are_not_mixed_up(void **state)
{
	int out[2], err[2];
	struct redirect redirect;
	struct cli_relay relay;
	char text[16] = {0};

	(void)state;
	assert_int_equal(pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
	begin(&redirect, out[1], err[1]);
	cli_relay_init(&relay, 60000);
	(void)cli_relay_output(&relay, HUSK_STDERR, "err", 3);
	(void)cli_relay_output(&relay, HUSK_STDOUT, "out", 3);
	cli_relay_deinit(&relay);
	end(&redirect);
	assert_int_equal(read(out[0], text, sizeof(text)), 3);
	assert_string_equal(text, "out");
	assert_int_equal(read(err[0], text, sizeof(text)), 3);
	assert_string_equal(text, "err");
	assert_int_equal(close(out[0]) | close(out[1]) | close(err[0]) | close(err[1]),
			 0);
}

/* Bytes that are in fd now, taken out of it. */
static size_t drain(int fd)
{
	static char data[BIG];
	size_t size = 0;
	ssize_t n;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while ((n = read(fd, data, sizeof(data))) > 0)
		size += (size_t)n;
	return size;
}

/* After the deadline the rest of the stream is dropped, all of it: what comes later must
 * not follow upon a gap. The call goes on, and the other stream is as it was. */
static void stalled(int from, int to)
{
	struct redirect redirect;
	struct cli_relay relay;
	int err[2], first, second, other;
	size_t before, after;
	char text[8];

	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	begin(&redirect, to, err[1]);
	cli_relay_init(&relay, 1);
	first = cli_relay_output(&relay, HUSK_STDOUT, big, BIG);
	before = drain(from);
	second = cli_relay_output(&relay, HUSK_STDOUT, big, 1);
	after = drain(from);
	other = cli_relay_output(&relay, HUSK_STDERR, "err", 3);
	cli_relay_deinit(&relay);
	end(&redirect);
	assert_int_equal(first | second | other, 0);
	assert_in_range(before, 1, BIG - 1);
	assert_int_equal(after, 0);
	assert_false(relay.err.dropped);
	assert_int_equal(read(err[0], text, sizeof(text)), 3);
	assert_int_equal(close(from) | close(to) | close(err[0]) | close(err[1]), 0);
}

static void test_stalled_reader(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	stalled(ends[0], ends[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	stalled(ends[0], ends[1]);
}

/* A write that fails cancels the box, and is kept for the report. */
static void fails(int to, int stream, int want, const char *name)
{
	struct redirect redirect;
	struct cli_relay relay;
	int r;

	begin(&redirect, to, to);
	cli_relay_init(&relay, 60000);
	r = cli_relay_output(&relay, stream, "x", 1);
	cli_relay_deinit(&relay);
	end(&redirect);
	assert_int_equal(close(to), 0);
	assert_int_not_equal(r, 0);
	assert_int_equal(relay.failed, want);
	assert_string_equal(relay.failed_stream, name);
}

static void test_failed_writes(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(close(ends[0]), 0);
	fails(ends[1], HUSK_STDOUT, EPIPE, "stdout");
	fails(open("/dev/full", O_WRONLY | O_CLOEXEC), HUSK_STDOUT, ENOSPC, "stdout");
	fails(open("/dev/full", O_WRONLY | O_CLOEXEC), HUSK_STDERR, ENOSPC, "stderr");
}

/* Told to stop, a relay does not wait for a reader, however far the deadline is. */
static void test_signal_ends_the_wait(void **state)
{
	struct husk_error err = {0};
	husk_cancel *cancel = NULL;
	struct redirect redirect;
	struct cli_relay relay;
	int ends[2], r;

	(void)state;
	assert_int_equal(husk_cancel_new(&cancel, &err), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	(void)signal(SIGTERM, SIG_DFL);
	cli_signals_watch(cancel);
	assert_int_equal(raise(SIGTERM), 0);
	begin(&redirect, ends[1], ends[1]);
	cli_relay_init(&relay, 3600 * 1000);
	r = cli_relay_output(&relay, HUSK_STDOUT, big, BIG);
	cli_relay_deinit(&relay);
	end(&redirect);
	cli_signals_release();
	(void)husk_cancel_free(cancel);
	assert_int_equal(r, 0);
	assert_int_equal(relay.failed, 0);
	assert_true(relay.out.dropped);
	assert_int_equal(close(ends[0]) | close(ends[1]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_exact),
	    cmocka_unit_test(test_streams_are_not_mixed_up),
	    cmocka_unit_test(test_stalled_reader),
	    cmocka_unit_test(test_failed_writes),
	    cmocka_unit_test(
		test_signal_ends_the_wait), /* last: the signal stays caught */
	};

	(void)signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < BIG; i++)
		big[i] = (char)(i * 7 + i / 251);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
