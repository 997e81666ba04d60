/* SPDX-License-Identifier: Apache-2.0 */
/* Reads messages and hands them on. */
#include "cli/mcp.h"

#include "cli/json_memory.h"

#include "cli/mcp_call.h"
#include "cli/signals.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A signal may come between the look for it and the wait: nothing waits longer. */
enum { TICK_MS = 500 };

static bool is_id(const json_t *id)
{
	return json_is_string(id) || json_is_integer(id);
}

/* What is no request at all gets the answer that JSON-RPC has for it. */
static void refuse(struct mcp *mcp, json_t *id, const char *why, struct mcp_batch *batch)
{
	struct mcp_request request = {
	    .mcp = mcp, .id = is_id(id) ? json_incref(id) : json_null(), .batch = batch};

	mcp_reply_error(&request, MCP_INVALID_REQUEST, why, NULL);
	mcp_request_deinit(&request);
}

/* The version that a request of the newer era names; NULL: it is of the older one. */
static const char *named_version(const json_t *params)
{
	const json_t *meta = json_object_get(params, "_meta");

	return json_string_value(
	    json_object_get(meta, "io.modelcontextprotocol/protocolVersion"));
}

static void handle(struct mcp *mcp, json_t *message, struct mcp_batch *batch)
{
	json_t *id = json_object_get(message, "id");
	json_t *params = json_object_get(message, "params");
	const char *method = json_string_value(json_object_get(message, "method"));
	const char *version = json_string_value(json_object_get(message, "jsonrpc"));
	struct mcp_request request = {.mcp = mcp, .batch = batch};

	if (json_is_object(message) && !method &&
	    (json_object_get(message, "result") || json_object_get(message, "error"))) {
		mcp_reply_nothing(&request); /* an answer, and nothing was asked */
		return;
	}
	if (!version || strcmp(version, "2.0") != 0 || !method) {
		refuse(mcp, id,
		       "not a JSON-RPC 2.0 request: jsonrpc or method is missing", batch);
		return;
	}
	if ((id && !is_id(id)) || (params && !json_is_object(params))) {
		refuse(mcp, id,
		       "not an MCP request: id must be a string or an integer, and "
		       "params an object",
		       batch);
		return;
	}
	request.id = json_incref(id);
	request.params = params ? json_incref(params) : json_object();
	request.modern = named_version(params) != NULL;
	mcp_dispatch(&request, method);
	mcp_request_deinit(&request);
}

static void handle_batch(struct mcp *mcp, json_t *messages)
{
	size_t count = json_array_size(messages);
	struct mcp_batch *batch = calloc(1, sizeof(*batch));

	if (batch)
		batch->answers = json_array();
	if (count == 0 || !batch || !batch->answers) {
		refuse(mcp, NULL, count == 0 ? "an empty batch" : "out of memory", NULL);
		if (batch)
			json_decref(batch->answers);
		free(batch);
		return;
	}
	batch->waiting = (unsigned)count;
	for (size_t i = 0; i < count; i++)
		handle(mcp, json_array_get(messages, i), batch);
}

static void handle_lines(struct mcp *mcp)
{
	json_t *message = NULL;
	json_error_t error;
	enum mcp_line line;

	while ((line = mcp_wire_next(&mcp->wire, &message, &error)) != MCP_LINE_NONE) {
		struct mcp_request nobody = {.mcp = mcp, .id = json_null()};

		if (line == MCP_LINE_BAD) {
			char text[200];

			(void)snprintf(text, sizeof(text), "not JSON: %.150s",
				       error.text);
			mcp_reply_error(&nobody, MCP_PARSE_ERROR, text, NULL);
		} else if (line == MCP_LINE_TOO_LONG) {
			mcp_reply_error(&nobody, MCP_INVALID_REQUEST,
					"the message is longer than 32 MiB", NULL);
		} else if (line == MCP_LINE_LOST) {
			cli_json_forget();
			mcp_reply_error(&nobody, MCP_INTERNAL_ERROR, "out of memory",
					NULL);
		} else if (json_is_array(message)) {
			handle_batch(mcp, message);
		} else {
			handle(mcp, message, NULL);
		}
		if (line == MCP_LINE_JSON)
			json_decref(message);
		mcp_request_deinit(&nobody);
		cli_json_forget();
	}
}

int mcp_serve(struct mcp *mcp)
{
	while (!mcp->wire.ended && !cli_signals_caught() &&
	       !mcp_wire_broken(&mcp->wire)) {
		struct pollfd wait[] = {{.fd = mcp->wire.in, .events = POLLIN},
					{.fd = mcp->wire.out}};
		int r = poll(wait, 2, TICK_MS);

		if (r > 0 && wait[0].revents) {
			r = mcp_wire_fill(&mcp->wire);
			if (r < 0)
				return r;
			handle_lines(mcp);
		}
		mcp_calls_tick(mcp);
	}
	return 0;
}
