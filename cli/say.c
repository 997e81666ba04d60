/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/say.h"

#include "cli/escape.h"
#include "cli/signals.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_error(struct husk_error *err, const char *where, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return HUSK_E_INVALID;
	err->code = HUSK_E_INVALID;
	err->sys_errno = 0;
	err->hint[0] = '\0';
	(void)snprintf(err->where, sizeof(err->where), "%s", where);
	va_start(ap, fmt);
	(void)vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	return HUSK_E_INVALID;
}

void cli_error_hint(struct husk_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
}

int cli_error_memory(struct husk_error *err, const char *where)
{
	(void)cli_error(err, where, "out of memory");
	if (err)
		err->code = HUSK_E_MEMORY;
	return HUSK_E_MEMORY;
}

/* A message of two lines under construction. Each has half the room, and what does not
 * fit is cut, so that a long reason never costs the hint. */
struct message {
	char text[8192];
	size_t used;
	size_t limit;
};

static void add(struct message *message, const char *text)
{
	/* One byte is kept for the line feed. */
	message->used +=
	    cli_escape(message->text + message->used, message->limit - message->used - 1,
		       text, strlen(text), 0);
}

static void end_line(struct message *message)
{
	message->text[message->used++] = '\n';
	message->limit = sizeof(message->text);
}

void cli_say(const char *what, const char *why, const char *hint)
{
	struct message message;

	message.used = 0;
	message.limit = sizeof(message.text) / 2;
	add(&message, "husk: ");
	if (what && what[0] != '\0') {
		add(&message, what);
		add(&message, ": ");
	}
	add(&message, why);
	end_line(&message);
	if (hint && hint[0] != '\0') {
		add(&message, "hint: ");
		add(&message, hint);
		end_line(&message);
	}
	/* Nobody is left to tell where this fails. */
	(void)cli_write_all(STDERR_FILENO, message.text, message.used);
}

int cli_say_error(const struct husk_error *err)
{
	cli_say(err->where, err->message, err->hint);
	return CLI_EXIT_CANNOT;
}

int cli_say_stopped(const struct husk_error *err)
{
	if (err->code == HUSK_E_CANCELLED && cli_signals_caught())
		return CLI_EXIT_SIGNAL + cli_signals_caught();
	return cli_say_error(err);
}

int cli_say_usage(const struct husk_error *err, const char *verb)
{
	char hint[sizeof(err->hint) + 64];

	bool own = err->hint[0] != '\0';

	(void)snprintf(hint, sizeof(hint), "%s%ssee `husk help%s%s`%s", err->hint,
		       own ? " (" : "", verb ? " " : "", verb ? verb : "",
		       own ? ")" : "");
	cli_say(err->where, err->message, hint);
	return CLI_EXIT_CANNOT;
}

int cli_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = write(fd, at, size);

		if (n >= 0) {
			at += n;
			size -= (size_t)n;
		} else if (errno == EAGAIN) {
			struct pollfd wait = {.fd = fd, .events = POLLOUT};

			(void)poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

int cli_say_write_failed(const char *stream, int sys_errno)
{
	if (sys_errno == EPIPE)
		return CLI_EXIT_NO_READER;
	cli_say(stream, strerror(sys_errno), NULL);
	return CLI_EXIT_CANNOT;
}

int cli_print(const char *text, size_t size)
{
	int r = cli_write_all(STDOUT_FILENO, text, size);

	return r < 0 ? cli_say_write_failed("stdout", -r) : CLI_EXIT_OK;
}

int cli_print_text(const char *text)
{
	size_t size = strlen(text), capacity = 4 * size + 2, used;
	char *printed = malloc(capacity);
	int r;

	if (!printed) {
		cli_say("stdout", "out of memory", NULL);
		return CLI_EXIT_CANNOT;
	}
	used = cli_escape(printed, capacity - 1, text, size, CLI_ESCAPE_LINES);
	if (used > 0 && printed[used - 1] != '\n')
		printed[used++] = '\n';
	r = cli_print(printed, used);
	free(printed);
	return r;
}
