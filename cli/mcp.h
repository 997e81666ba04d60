/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MCP server. Theory of operation:
 *
 * One thread reads messages and answers what needs no box at once. Calls of tools go
 * through a queue (cli/mcp_call.c): programs run in threads of their own, many at a time;
 * what reads or writes the workspace's files runs between them, never during one, and
 * nothing overtakes what came before it in that respect.
 *
 * Two eras of the protocol are spoken. Up to 2025-11-25 a client opens with `initialize`;
 * from 2026-07-28 on each request carries its version in _meta and stands for itself.
 * Which one is meant is told from each request (specification 2026-07-28, "Versioning").
 *
 * The policy (image, network, mounts, limits) is the command line's. Arguments of tools
 * choose what to run and may shorten the deadline; nothing else.
 */
#ifndef CLI_MCP_H
#define CLI_MCP_H

#include "cli/json_text.h"
#include "cli/mcp_wire.h"
#include "cli/settings.h"

#include <husk/session.h>

#include <stdatomic.h>
#include <stdint.h>

/* JSON-RPC 2.0 section 5.1, and MCP's own. */
enum mcp_error {
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_METHOD_NOT_FOUND = -32601,
	MCP_INVALID_PARAMS = -32602,
	MCP_INTERNAL_ERROR = -32603,
	MCP_RESOURCE_NOT_FOUND = -32002, /* up to 2025-11-25 */
	MCP_UNSUPPORTED_VERSION = -32022
};

/* A workspace and its boxes; calls that run keep the one that they began with. */
struct mcp_place {
	husk_session *session;
	unsigned users; /* under mcp->lock */
};

struct mcp_call;
struct mcp_listener;

struct mcp {
	struct mcp_wire wire;
	struct cli_settings *settings;
	pthread_mutex_t lock;
	pthread_cond_t idle;		/* nothing runs and nothing waits */
	struct mcp_place *place;	/* under lock */
	struct mcp_call *calls;		/* in the order they came; under lock */
	struct mcp_listener *listeners; /* the reader's alone but under lock */
	atomic_bool initialized;	/* an initialize was answered: the older era */
	atomic_bool told;		/* what is wrong with the spares */
	bool stopping;			/* nothing new is begun; under lock */
};

/* The answers of one batch (JSON-RPC 2.0 section 6) are collected. */
struct mcp_batch {
	unsigned waiting;
	json_t *answers;
};

/* One request. id NULL: a notification, which is never answered. */
struct mcp_request {
	struct mcp *mcp;
	json_t *id;
	json_t *params; /* never NULL */
	bool modern;	/* 2026-07-28 or later */
	struct mcp_batch *batch;
};

void mcp_request_deinit(struct mcp_request *request);

/* Answer; the result or data (may be NULL) is taken. Each request is answered once. */
void mcp_reply(struct mcp_request *request, json_t *result);
void mcp_reply_error(struct mcp_request *request, int code, const char *message,
		     json_t *data);
/* The request was cancelled: no answer is wanted. */
void mcp_reply_nothing(struct mcp_request *request);
/* Send a notification; params is taken. */
void mcp_notify(struct mcp *mcp, const char *method, json_t *params);

/* The place that holds now, counted; NULL while none is there. */
struct mcp_place *mcp_place_take(struct mcp *mcp);
void mcp_place_leave(struct mcp *mcp, struct mcp_place *place);
/* Open a workspace by the settings and put it in the place of the other. */
int mcp_place_open(struct mcp *mcp, struct husk_error *err);

/* Answer what comes until the input ends, a signal comes, or nobody reads. 0, or -errno
 * where the input cannot be read. */
int mcp_serve(struct mcp *mcp);

/* The methods: cli/mcp_methods.c. */
void mcp_dispatch(struct mcp_request *request, const char *method);
/* Add what every cacheable result of the newer era has. */
void mcp_cacheable(const struct mcp_request *request, json_t *result, int ttl_ms);

/* Resources: cli/mcp_resources.c */
void mcp_resources_list(struct mcp_request *request);
void mcp_resources_read(struct mcp_request *request);
void mcp_resources_templates(struct mcp_request *request);

/* Who wants to hear that the list of files has changed: cli/mcp_listen.c */
void mcp_listen(struct mcp_request *request);
bool mcp_listen_cancel(struct mcp *mcp, const json_t *id);
void mcp_listen_end(struct mcp *mcp);
void mcp_files_changed(struct mcp *mcp);

/* A path, or any other short text; bytes that are not UTF-8 become U+FFFD. */
json_t *mcp_path(const char *path);
/* A content block of text. */
json_t *mcp_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Media types: cli/mcp_media.c. By name and content, by name alone (NULL: not known), and
 * what a picture really is (NULL: none of those that clients show). */
const char *mcp_media_type(const char *path, const char *data, size_t size);
const char *mcp_media_type_by_name(const char *path);
const char *mcp_picture_type(const char *data, size_t size);
bool mcp_is_picture_name(const char *path);

#endif
