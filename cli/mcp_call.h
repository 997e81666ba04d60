/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of tools, from their arrival to their answer. Programs run in threads of their
 * own; what reads or writes files waits until every call before it has ended, and no
 * program that came after it begins before it has ended.
 */
#ifndef CLI_MCP_CALL_H
#define CLI_MCP_CALL_H

#include "cli/mcp.h"
#include "cli/mcp_tools.h"

#include <time.h>

struct mcp_call {
	struct mcp_call *next; /* under mcp->lock */
	struct mcp_request request;
	const struct mcp_tool *tool;
	json_t *arguments; /* borrowed from request.params */
	husk_cancel *cancel;
	struct mcp_place *place; /* from its beginning on */
	bool running, cancelled; /* under mcp->lock */
	/* Progress; under mcp->lock. */
	json_t *token; /* NULL: nobody asked; borrowed from request.params */
	struct timespec began;
	struct timespec told;
	char line[200]; /* the last whole line that was printed */
};

/* tools/call */
void mcp_tools_call(struct mcp_request *request);
/* The client does not want the answer any more. */
void mcp_call_cancel(struct mcp *mcp, const json_t *id);
/* Now and then: tell who asked how far the calls are. */
void mcp_calls_tick(struct mcp *mcp);
/* Wait for all calls; cancel them first where now is true, or as soon as a signal comes
 * or nobody reads any more. */
void mcp_calls_end(struct mcp *mcp, bool now);

/* Output of the call's program, for its progress. */
void mcp_call_saw(struct mcp_call *call, const char *data, size_t size);
/* Tell who asked how far the call is, if it is time; under mcp->lock, so that nothing is
 * told after the answer. */
void mcp_call_tell(struct mcp_call *call, const struct timespec *now);

/* The result of a call that could not be made. */
json_t *mcp_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
json_t *mcp_failed_by(const struct husk_error *err);
/* A result with one text and its structured content (taken). */
json_t *mcp_result(const char *text, json_t *structured);

#endif
