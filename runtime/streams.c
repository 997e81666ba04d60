/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

enum {
	CHUNK = 256 << 10,
	PIPE_USUAL = 64 << 10, /* a pipe's size, pipe(7) */
	PIPE_LARGE = 1 << 20,
	INPUT_CHUNK = 64 << 10,
	/* Between one end of the input and the next, microseconds. */
	RETYPE_FIRST = 50000,
	RETYPE_LAST = 1000000,
};

/* A pipe ends by being closed; on a terminal the end is typed, termios(3), VEOF. It ends
 * one read there, and is lost where the program changes the terminal's mode before it
 * reads, as shells do when they start: so it is typed again until the program has gone.
 */
static void end_input(struct streams *streams)
{
	static const char typed[] = "\004";
	struct run *run = streams->run;

	if (!run->call->terminal) {
		fd_close(&run->in);
		return;
	}
	streams->ended = true;
	streams->pending = typed;
	streams->pending_size = 1;
}

static void plan_retyping(struct streams *streams)
{
	uint64_t wait = streams->retype_us > 0 ? 2 * streams->retype_us : RETYPE_FIRST;

	streams->retype_us = wait < RETYPE_LAST ? wait : RETYPE_LAST;
	streams->retype_at = clock_us() + streams->retype_us;
}

void streams_shorten(const struct streams *streams, struct timespec *left)
{
	uint64_t now = clock_us(), wait;

	if (!streams->ended || streams->pending_size > 0 || streams->run->in < 0)
		return;
	wait = streams->retype_at > now ? streams->retype_at - now : 0;
	if ((uint64_t)left->tv_sec * 1000000 + (uint64_t)left->tv_nsec / 1000 <= wait)
		return;
	left->tv_sec = (time_t)(wait / 1000000);
	left->tv_nsec = (long)(wait % 1000000) * 1000;
}

/* To a program that reads keys one by one the end is a key like others. It is meant for a
 * shell whose input has ended; where nothing was to be typed from the beginning, what
 * shows a screen of its own goes on. */
static bool is_typed(const struct run *run)
{
	struct termios mode;

	return run->call->stdin_kind != BOX_STDIN_EMPTY ||
	       (tcgetattr(run->in, &mode) == 0 && (mode.c_lflag & ICANON));
}

void streams_retype(struct streams *streams)
{
	if (!streams->ended || streams->pending_size > 0 || streams->run->in < 0 ||
	    clock_us() < streams->retype_at)
		return;
	if (is_typed(streams->run))
		end_input(streams);
	else
		plan_retyping(streams);
}

void streams_init(struct streams *streams, struct run *run)
{
	const struct box_call *call = run->call;

	*streams = (struct streams){.run = run};
	if (call->stdin_kind == BOX_STDIN_EMPTY)
		end_input(streams);
	if (call->stdin_kind == BOX_STDIN_DATA) {
		streams->pending = call->stdin_data;
		streams->pending_size = call->stdin_size;
		if (call->stdin_size == 0)
			end_input(streams);
	} else if (call->stdin_kind == BOX_STDIN_FD) {
		streams->copy_size = INPUT_CHUNK;
		streams->copy = malloc(INPUT_CHUNK);
		if (!streams->copy) {
			streams->copy_size = sizeof(streams->spare_copy);
			streams->copy = streams->spare_copy;
		}
	}
}

void streams_deinit(struct streams *streams)
{
	if (streams->copy != streams->spare_copy)
		free(streams->copy);
	if (streams->discard != streams->spare_discard)
		free(streams->discard);
}

/* Where the next bytes go: the capture while there is room, else a place to lose them. */
static char *destination(struct streams *streams, struct buffer *capture,
			 size_t *ret_size)
{
	size_t room = capture->max - capture->size;
	char *to;

	*ret_size = room < CHUNK ? room : CHUNK;
	if (room > 0) {
		/* Grow for what a pipe holds at once, not for the largest read. */
		if (capture->size<CHUNK && * ret_size> PIPE_USUAL)
			*ret_size = PIPE_USUAL;
		to = buffer_reserve(capture, *ret_size);
		if (to)
			return to;
	}
	if (!streams->discard) {
		streams->discard_size = CHUNK;
		streams->discard = malloc(CHUNK);
	}
	if (!streams->discard) {
		streams->discard_size = sizeof(streams->spare_discard);
		streams->discard = streams->spare_discard;
	}
	*ret_size = streams->discard_size;
	return streams->discard;
}

static void taken(struct streams *streams, int stream, struct buffer *capture,
		  const char *data, size_t size)
{
	const struct box_call *call = streams->run->call;

	if (data == streams->discard) {
		if (!call->discard)
			streams->run->outcome->truncated = true;
	} else {
		capture->size += size;
		capture->data[capture->size] = '\0';
	}
	if (call->on_output && !streams->refused)
		streams->refused = call->on_output(call->user, stream, data, size) != 0;
}

/* A busy stream gets a larger pipe, where the user's share of pipe pages allows it. */
static void grow_pipe(struct streams *streams, int stream, int fd, size_t got)
{
	if (got < PIPE_USUAL || streams->grown[stream - 1])
		return;
	streams->grown[stream - 1] = true;
	(void)fcntl(fd, F_SETPIPE_SZ, PIPE_LARGE);
}

/* A terminal whose other side is closed gives EIO where a pipe has an end. */
static bool is_end(const struct run *run, int error)
{
	return run->call->terminal && error == EIO;
}

void streams_take(struct streams *streams, int stream, int rounds)
{
	struct run *run = streams->run;
	struct buffer *capture = stream == 1 ? &run->outcome->out : &run->outcome->err;
	int *fd = stream == 1 ? &run->out : &run->err;

	while (*fd >= 0 && rounds-- > 0) {
		size_t size;
		char *to = destination(streams, capture, &size);
		ssize_t n;

		n = read(*fd, to, size);
		if (n > 0) {
			taken(streams, stream, capture, to, (size_t)n);
			grow_pipe(streams, stream, *fd, (size_t)n);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && !is_end(run, errno))
			run->outcome->truncated = true; /* the rest cannot be had */
		fd_close(fd);
	}
}

bool streams_want_write(const struct streams *streams)
{
	return streams->run->in >= 0 && streams->pending_size > 0;
}

bool streams_want_read(const struct streams *streams)
{
	return streams->run->in >= 0 && streams->copy && streams->pending_size == 0 &&
	       !streams->ended;
}

/* write(2) to a pipe that nobody reads raises SIGPIPE, whose disposition is the caller's
 * business: it is kept off this thread, and taken away if it came. */
static ssize_t write_quietly(int fd, const void *data, size_t size)
{
	static const struct timespec now;
	sigset_t pipe_set, before, pending;
	bool was_pending;
	int saved;
	ssize_t n;

	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe_set, &before);
	n = write(fd, data, size);
	saved = errno;
	if (n < 0 && saved == EPIPE && !was_pending)
		(void)sigtimedwait(&pipe_set, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return n;
}

void streams_feed(struct streams *streams)
{
	struct run *run = streams->run;
	ssize_t n;

	if (!streams_want_write(streams))
		return;
	n = write_quietly(run->in, streams->pending, streams->pending_size);
	if (n >= 0) {
		streams->pending += n;
		streams->pending_size -= (size_t)n;
		if (streams->pending_size > 0)
			return;
		if (streams->ended)
			plan_retyping(streams);
		else if (!streams->copy)
			end_input(streams); /* all of the data was given */
	} else if (errno != EAGAIN && errno != EINTR) {
		fd_close(&run->in); /* nobody reads it any more */
		streams->pending_size = 0;
	}
}

void streams_refill(struct streams *streams)
{
	struct run *run = streams->run;
	ssize_t n = read(run->call->stdin_fd, streams->copy, streams->copy_size);

	if (n > 0) {
		streams->pending = streams->copy;
		streams->pending_size = (size_t)n;
		return;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	end_input(streams);
}
