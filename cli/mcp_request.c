/* SPDX-License-Identifier: Apache-2.0 */
/* Answers: each request once, those of a batch together. */
#include "cli/mcp.h"

#include "cli/json_memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mcp_request_deinit(struct mcp_request *request)
{
	json_decref(request->id);
	json_decref(request->params);
	request->id = request->params = NULL;
}

static json_t *error_message(const json_t *id, int code, const char *text, json_t *data)
{
	json_t *error = json_pack("{s:i,s:s}", "code", code, "message", text);

	if (data)
		(void)json_object_set_new(error, "data", data);
	return json_pack("{s:s,s:O,s:o}", "jsonrpc", "2.0", "id",
			 id ? (json_t *)(uintptr_t)id : json_null(), "error", error);
}

/* What was to be said is lost, in whole or in part; that much is said. */
static void send_no_memory(struct mcp *mcp, const json_t *id)
{
	cli_json_forget();
	(void)mcp_wire_send(&mcp->wire,
			    error_message(id, MCP_INTERNAL_ERROR, "out of memory", NULL));
	cli_json_forget();
}

/* The last answer sends the batch. */
static void into_batch(struct mcp *mcp, struct mcp_batch *batch, json_t *message)
{
	json_t *answers = NULL;

	pthread_mutex_lock(&mcp->lock);
	if (message)
		(void)json_array_append_new(batch->answers, message);
	if (--batch->waiting == 0) {
		answers = batch->answers;
		free(batch);
	}
	pthread_mutex_unlock(&mcp->lock);
	if (!answers || json_array_size(answers) == 0)
		json_decref(answers);
	else if (mcp_wire_send(&mcp->wire, answers) == -ENOMEM)
		send_no_memory(mcp, NULL);
}

static void send(struct mcp_request *request, json_t *message)
{
	struct mcp *mcp = request->mcp;
	int r;

	if (!request->id) {
		json_decref(message);
		message = NULL;
	}
	if (request->batch) {
		into_batch(mcp, request->batch, message);
		request->batch = NULL;
		return;
	}
	if (!request->id)
		return;
	r = mcp_wire_send(&mcp->wire, message);
	if (r == -ENOMEM)
		send_no_memory(mcp, request->id);
	if (r == -EFBIG)
		(void)mcp_wire_send(
		    &mcp->wire,
		    error_message(request->id, MCP_INTERNAL_ERROR,
				  "the answer would be 8 MB or more; ask for less",
				  NULL));
}

void mcp_reply(struct mcp_request *request, json_t *result)
{
	if (!result) {
		mcp_reply_error(request, MCP_INTERNAL_ERROR, "out of memory", NULL);
		return;
	}
	if (request->modern) {
		json_t *meta = json_object_get(result, "_meta");

		if (!meta) {
			meta = json_object();
			(void)json_object_set_new(result, "_meta", meta);
		}
		(void)json_object_set_new(
		    meta, "io.modelcontextprotocol/serverInfo",
		    json_pack("{s:s,s:s}", "name", "husk", "version", HUSK_VERSION));
		(void)json_object_set_new(result, "resultType", json_string("complete"));
	}
	send(request,
	     json_pack("{s:s,s:O,s:o}", "jsonrpc", "2.0", "id",
		       request->id ? request->id : json_null(), "result", result));
}

void mcp_reply_error(struct mcp_request *request, int code, const char *message,
		     json_t *data)
{
	send(request, error_message(request->id, code, message, data));
}

void mcp_reply_nothing(struct mcp_request *request)
{
	if (request->batch)
		into_batch(request->mcp, request->batch, NULL);
	request->batch = NULL;
}

void mcp_notify(struct mcp *mcp, const char *method, json_t *params)
{
	/* Nobody waits for it. */
	if (mcp_wire_send(&mcp->wire, json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0",
						"method", method, "params", params)) ==
	    -ENOMEM)
		cli_json_forget();
}

json_t *mcp_path(const char *path)
{
	return cli_json_text(path, strlen(path));
}

json_t *mcp_note(const char *fmt, ...)
{
	char text[4400];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return json_pack("{s:s,s:o}", "type", "text", "text", mcp_path(text));
}
