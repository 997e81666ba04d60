/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/relay.h"

#include "cli/signals.h"

#include <husk/options.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	/* After the deadline: time for what the box has written before it. */
	GRACE_MS = 500,
	/* A signal can come between the look for it and the wait. */
	WAIT_MS = 100,
	/* What a pipe takes without blocking once poll says that it can be written to. */
	SMALL = 4096
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void cli_relay_init(struct cli_relay *relay, uint64_t timeout_ms)
{
	memset(relay, 0, sizeof(*relay));
	relay->out.fd = STDOUT_FILENO;
	relay->err.fd = STDERR_FILENO;
	relay->out.own = relay->err.own = -1;
	relay->give_up_ms = now_ms() + timeout_ms + GRACE_MS;
}

static void close_own(struct cli_relay_stream *stream)
{
	if (stream->own >= 0)
		(void)close(stream->own);
	stream->own = -1;
}

void cli_relay_deinit(struct cli_relay *relay)
{
	close_own(&relay->out);
	close_own(&relay->err);
}

/* O_NONBLOCK is set for everyone who shares the open file, so husk's own stdout is left
 * as it is; a pipe or terminal can be opened once more. Besides these only a socket makes
 * a writer wait for a reader. */
static void settle(struct cli_relay_stream *stream)
{
	char path[32];
	struct stat st;
	bool again;

	if (stream->ready)
		return;
	stream->ready = true;
	if (fstat(stream->fd, &st) < 0)
		return;
	again = S_ISFIFO(st.st_mode) || (S_ISCHR(st.st_mode) && isatty(stream->fd));
	if (again) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", stream->fd);
		stream->own = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	}
	stream->small = stream->own < 0 && (again || S_ISSOCK(st.st_mode));
}

/* Wait until fd takes something: 0, -ETIMEDOUT after the deadline, -EINTR when told to
 * stop. */
static int wait_writable(const struct cli_relay *relay, int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLOUT};

	for (;;) {
		uint64_t now = now_ms();
		uint64_t left = relay->give_up_ms > now ? relay->give_up_ms - now : 0;
		int r = poll(&wait, 1, (int)(left < WAIT_MS ? left : WAIT_MS));

		if (r > 0)
			return 0;
		if (cli_signals_caught())
			return -EINTR;
		if (left == 0)
			return -ETIMEDOUT;
	}
}

/* 0 or -errno. */
static int pass_on(const struct cli_relay *relay, const struct cli_relay_stream *stream,
		   const char *data, size_t size)
{
	int fd = stream->own >= 0 ? stream->own : stream->fd;
	int r = 0;

	while (size > 0 && r == 0) {
		ssize_t n;

		if (stream->small) {
			r = wait_writable(relay, fd);
			if (r < 0)
				return r;
		}
		n = write(fd, data, stream->small && size > SMALL ? SMALL : size);
		if (n >= 0) {
			data += n;
			size -= (size_t)n;
		} else if (errno == EAGAIN) {
			r = wait_writable(relay, fd);
		} else if (errno != EINTR || cli_signals_caught()) {
			r = -errno;
		}
	}
	return r;
}

int cli_relay_output(void *user, int stream_id, const void *data, size_t size)
{
	struct cli_relay *relay = user;
	struct cli_relay_stream *stream =
	    stream_id == HUSK_STDERR ? &relay->err : &relay->out;
	int r;

	if (stream->dropped)
		return 0;
	settle(stream);
	r = pass_on(relay, stream, data, size);
	if (r == 0)
		return 0;
	stream->dropped = true;
	if (r == -ETIMEDOUT || r == -EINTR)
		return 0; /* the library is about to see the same */
	relay->failed = -r;
	relay->failed_stream = stream == &relay->err ? "stderr" : "stdout";
	return 1;
}
