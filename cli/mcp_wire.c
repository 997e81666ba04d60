/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp_wire.h"

#include "cli/json_memory.h"

#include "cli/say.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 << 10 };

void mcp_wire_init(struct mcp_wire *wire, int in, int out)
{
	*wire = (struct mcp_wire){.in = in, .out = out};
	pthread_mutex_init(&wire->lock, NULL);
}

void mcp_wire_deinit(struct mcp_wire *wire)
{
	free(wire->data);
	pthread_mutex_destroy(&wire->lock);
}

static int make_room(struct mcp_wire *wire)
{
	size_t capacity = wire->capacity > 0 ? wire->capacity : CHUNK;
	char *data;

	while (capacity - wire->size < CHUNK)
		capacity *= 2;
	if (capacity == wire->capacity)
		return 0;
	data = realloc(wire->data, capacity);
	if (!data)
		return -ENOMEM;
	wire->data = data;
	wire->capacity = capacity;
	return 0;
}

/* A line without an end may not grow for ever: its beginning is dropped, and the rest as
 * it comes. */
static void bound(struct mcp_wire *wire)
{
	const char *end;

	if (wire->skipping) {
		end = memchr(wire->data, '\n', wire->size);
		if (!end)
			wire->size = 0;
		return;
	}
	if (wire->size <= MCP_MAX_IN || memchr(wire->data, '\n', wire->size))
		return;
	wire->skipping = true;
	wire->size = 0;
}

int mcp_wire_fill(struct mcp_wire *wire)
{
	ssize_t n;
	int r = make_room(wire);

	if (r < 0)
		return r;
	n = read(wire->in, wire->data + wire->size, CHUNK);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	wire->ended = n == 0;
	wire->size += (size_t)n;
	bound(wire);
	return 0;
}

/* The size of the first line with its end; without one, what is left once the input has
 * ended. 0: none is there. */
static size_t line_size(const struct mcp_wire *wire)
{
	const char *end = wire->size > 0 ? memchr(wire->data, '\n', wire->size) : NULL;

	if (end)
		return (size_t)(end - wire->data) + 1;
	return wire->ended ? wire->size : 0;
}

static void drop(struct mcp_wire *wire, size_t size)
{
	wire->size -= size;
	memmove(wire->data, wire->data + size, wire->size);
}

static bool is_blank(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!strchr(" \t\r\n", text[i]) || text[i] == '\0')
			return false;
	}
	return true;
}

enum mcp_line mcp_wire_next(struct mcp_wire *wire, json_t **ret, json_error_t *error)
{
	size_t size = line_size(wire);
	int r;

	if (wire->skipping && size > 0) {
		wire->skipping = false;
		drop(wire, size);
		return MCP_LINE_TOO_LONG;
	}
	while (size > 0 && is_blank(wire->data, size)) {
		drop(wire, size);
		size = line_size(wire);
	}
	if (size == 0)
		return MCP_LINE_NONE;
	r = cli_json_read(wire->data, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, ret,
			  error);
	drop(wire, size);
	if (r == -ENOMEM)
		return MCP_LINE_LOST;
	return r < 0 ? MCP_LINE_BAD : MCP_LINE_JSON;
}

int mcp_wire_send(struct mcp_wire *wire, json_t *message)
{
	char *text = cli_json_dump(message, JSON_COMPACT);
	size_t size;
	int r = -EPIPE;

	json_decref(message);
	if (!text)
		return -ENOMEM;
	size = strlen(text);
	if (size >= MCP_MAX_OUT) {
		free(text);
		return -EFBIG;
	}
	text[size++] = '\n'; /* in the place of the NUL: one write, one message */
	pthread_mutex_lock(&wire->lock);
	if (!wire->broken) {
		r = cli_write_all(wire->out, text, size);
		wire->broken = r < 0;
		wire->error = r < 0 && r != -EPIPE ? -r : 0;
	}
	pthread_mutex_unlock(&wire->lock);
	free(text);
	return r;
}

bool mcp_wire_broken(struct mcp_wire *wire)
{
	struct pollfd look = {.fd = wire->out};
	bool broken;

	pthread_mutex_lock(&wire->lock);
	if (poll(&look, 1, 0) > 0 && look.revents & (POLLERR | POLLNVAL))
		wire->broken = true;
	broken = wire->broken;
	pthread_mutex_unlock(&wire->lock);
	return broken;
}

int mcp_wire_error(struct mcp_wire *wire)
{
	int error;

	pthread_mutex_lock(&wire->lock);
	error = wire->error;
	pthread_mutex_unlock(&wire->lock);
	return error;
}
