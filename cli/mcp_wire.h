/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the Model Context Protocol over stdio: one JSON text a line (MCP
 * specification, "Transports: stdio"). Reading is done by one thread; writing by any. */
#ifndef CLI_MCP_WIRE_H
#define CLI_MCP_WIRE_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* A message that comes in may be so long, in bytes: 256 MiB of code are not wanted here.
 */
#define MCP_MAX_IN ((size_t)32 << 20)
/* A message that goes out stays below 8 MB. */
#define MCP_MAX_OUT ((size_t)7900000)

struct mcp_wire {
	int in, out;
	char *data; /* heap; what has come and is not a whole line yet */
	size_t size, capacity;
	bool skipping; /* the rest of a line that was too long */
	bool ended;    /* end of the input */
	pthread_mutex_t lock;
	bool broken; /* nothing more can be written; under lock */
	int error; /* of the write that failed, but for a reader who left: positive, or 0
		    */
};

/* What a line was. */
enum mcp_line {
	MCP_LINE_NONE, /* no whole line is there */
	MCP_LINE_JSON,
	MCP_LINE_BAD,	   /* not JSON: why is in error */
	MCP_LINE_TOO_LONG, /* it was skipped */
	MCP_LINE_LOST,	   /* no memory to read it */
};

void mcp_wire_init(struct mcp_wire *wire, int in, int out);
void mcp_wire_deinit(struct mcp_wire *wire);

/* Read what is there, once. 0 or -errno; wire->ended at the end. */
int mcp_wire_fill(struct mcp_wire *wire);
/* The next whole line; *ret is the caller's where it is JSON. */
enum mcp_line mcp_wire_next(struct mcp_wire *wire, json_t **ret, json_error_t *error);

/* Write one message (NULL: there was no memory for it) whole and release it. 0, -EFBIG
 * (nothing was written: it is MCP_MAX_OUT or more), -ENOMEM, or -EPIPE and the like. */
int mcp_wire_send(struct mcp_wire *wire, json_t *message);
/* Has writing failed, or would it? */
bool mcp_wire_broken(struct mcp_wire *wire);
/* Why answers got lost, as an errno; 0: none was, or their reader has left. */
int mcp_wire_error(struct mcp_wire *wire);

#endif
