/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp_call.h"

#include "cli/json_memory.h"
#include "cli/say.h"
#include "cli/signals.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	RUNNING_MAX = 16, /* more wait for their turn */
	CALLS_MAX = 256,  /* running and waiting; more are refused */
	WAIT_MS = 200,
};

static void pump(struct mcp *mcp);

/* -- results ----------------------------------------------------------------------- */

json_t *mcp_result(const char *text, json_t *structured)
{
	return json_pack("{s:[{s:s,s:s}],s:o,s:b}", "content", "type", "text", "text",
			 text, "structuredContent", structured, "isError", 0);
}

json_t *mcp_failed(const char *fmt, ...)
{
	char text[1600];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return json_pack("{s:[{s:s,s:o}],s:b}", "content", "type", "text", "text",
			 mcp_path(text), "isError", 1);
}

json_t *mcp_failed_by(const struct husk_error *err)
{
	return mcp_failed("%s: %s%s%s", err->where, err->message,
			  err->hint[0] ? "\nhint: " : "", err->hint);
}

/* -- the life of a call ------------------------------------------------------------ */

static void call_free(struct mcp_call *call)
{
	mcp_place_leave(call->request.mcp, call->place);
	(void)husk_cancel_free(call->cancel);
	mcp_request_deinit(&call->request);
	free(call);
}

/* Off the list; whoever waited for it may begin. */
static void leave(struct mcp *mcp, struct mcp_call *call)
{
	struct mcp_call **at;

	pthread_mutex_lock(&mcp->lock);
	for (at = &mcp->calls; *at != call; at = &(*at)->next)
		;
	*at = call->next;
	pump(mcp);
	if (!mcp->calls)
		pthread_cond_broadcast(&mcp->idle);
	pthread_mutex_unlock(&mcp->lock);
}

static bool was_cancelled(struct mcp_call *call)
{
	bool cancelled;

	pthread_mutex_lock(&call->request.mcp->lock);
	cancelled = call->cancelled;
	call->token = NULL; /* no progress after the answer */
	pthread_mutex_unlock(&call->request.mcp->lock);
	return cancelled;
}

static void answer(struct mcp_call *call, json_t *result)
{
	if (was_cancelled(call)) {
		json_decref(result);
		mcp_reply_nothing(&call->request);
	} else {
		mcp_reply(&call->request, result);
	}
}

static void *work(void *data)
{
	struct mcp_call *call = data;
	struct mcp *mcp = call->request.mcp;

	call->place = mcp_place_take(mcp);
	answer(call, call->tool->run(call));
	/* The place is left before the call is: who waits for the last call may take all
	 * away. */
	mcp_place_leave(mcp, call->place);
	call->place = NULL;
	leave(mcp, call);
	call_free(call);
	return NULL;
}

static int start(struct mcp_call *call)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, work, call);
	pthread_attr_destroy(&attr);
	return r;
}

/* May this call begin, with what is before it on the list? */
static bool has_its_turn(const struct mcp *mcp, const struct mcp_call *call)
{
	unsigned running = 0;

	for (const struct mcp_call *at = mcp->calls; at != call; at = at->next) {
		if (!call->tool->program || !at->tool->program)
			return false;
		running += at->running;
	}
	for (const struct mcp_call *at = call->next; at; at = at->next)
		running += at->running;
	return running < RUNNING_MAX;
}

/* Begin what may begin; under mcp->lock. A thread that cannot be had now is tried for
 * again when another has ended, or by the next tick. */
static void pump(struct mcp *mcp)
{
	for (struct mcp_call *call = mcp->calls; call; call = call->next) {
		if (call->running || !has_its_turn(mcp, call))
			continue;
		call->running = start(call) == 0;
	}
}

static bool is_known(struct mcp *mcp, const json_t *id, size_t *ret_count)
{
	bool known = false;

	*ret_count = 0;
	for (const struct mcp_call *at = mcp->calls; at; at = at->next) {
		known = known || (id && json_equal(at->request.id, id));
		++*ret_count;
	}
	return known;
}

/* Take the request over and put it at the end of the list. */
static int enqueue(struct mcp_call *call, struct mcp_request *request)
{
	struct mcp *mcp = request->mcp;
	struct mcp_call **at;
	size_t count;
	int r = 0;

	pthread_mutex_lock(&mcp->lock);
	if (is_known(mcp, request->id, &count))
		r = -EEXIST;
	else if (count >= CALLS_MAX)
		r = -EAGAIN;
	if (r == 0) {
		for (at = &mcp->calls; *at; at = &(*at)->next)
			;
		*at = call;
		pump(mcp);
	}
	pthread_mutex_unlock(&mcp->lock);
	return r;
}

/* The call's thread has JSON of its own: nothing of it is touched by two at once. */
static struct mcp_call *call_new(const struct mcp_request *request,
				 const struct mcp_tool *tool)
{
	struct mcp_call *call = calloc(1, sizeof(*call));
	json_t *token;
	struct husk_error err;

	if (!call || husk_cancel_new(&call->cancel, &err) < 0) {
		free(call);
		return NULL;
	}
	call->request = *request;
	call->request.id = json_deep_copy(request->id);
	call->request.params = json_deep_copy(request->params);
	call->tool = tool;
	call->arguments = json_object_get(call->request.params, "arguments");
	token = json_object_get(json_object_get(call->request.params, "_meta"),
				"progressToken");
	if (json_is_string(token) || json_is_integer(token))
		call->token = token;
	(void)clock_gettime(CLOCK_MONOTONIC, &call->began);
	call->told = call->began;
	return call;
}

void mcp_tools_call(struct mcp_request *request)
{
	const char *name = json_string_value(json_object_get(request->params, "name"));
	json_t *arguments = json_object_get(request->params, "arguments");
	const struct mcp_tool *tool = name ? mcp_tool_find(name) : NULL;
	struct mcp_call *call;
	char why[256];
	int r;

	if (!tool || (arguments && !json_is_object(arguments))) {
		mcp_reply_error(
		    request, MCP_INVALID_PARAMS,
		    tool ? "arguments must be an object" : "there is no such tool", NULL);
		return;
	}
	/* The model reads this, and may do better the next time. */
	if (!mcp_tool_check(tool, arguments, why, sizeof(why))) {
		mcp_reply(request, mcp_failed("%s", why));
		return;
	}
	call = call_new(request, tool);
	/* Without its id it would be taken for one that wants no answer. */
	if (!call || !call->request.params || cli_json_lost()) {
		if (call)
			call_free(call);
		mcp_reply_error(request, MCP_INTERNAL_ERROR, "out of memory", NULL);
		return;
	}
	r = enqueue(call, request);
	if (r == 0)
		return;
	call_free(call);
	mcp_reply_error(request, r == -EEXIST ? MCP_INVALID_REQUEST : MCP_INTERNAL_ERROR,
			r == -EEXIST ? "a request with this id is under way"
				     : "too many calls wait",
			NULL);
}

void mcp_call_cancel(struct mcp *mcp, const json_t *id)
{
	pthread_mutex_lock(&mcp->lock);
	for (struct mcp_call *at = mcp->calls; at; at = at->next) {
		if (!json_equal(at->request.id, id))
			continue;
		at->cancelled = true;
		husk_cancel_fire(at->cancel);
	}
	pthread_mutex_unlock(&mcp->lock);
}

void mcp_calls_tick(struct mcp *mcp)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&mcp->lock);
	pump(mcp);
	for (struct mcp_call *at = mcp->calls; at; at = at->next)
		mcp_call_tell(at, &now);
	pthread_mutex_unlock(&mcp->lock);
}

void mcp_calls_end(struct mcp *mcp, bool now)
{
	bool fired = false;

	pthread_mutex_lock(&mcp->lock);
	while (mcp->calls) {
		struct timespec until;

		if (now && !fired) {
			for (struct mcp_call *at = mcp->calls; at; at = at->next)
				husk_cancel_fire(at->cancel);
			fired = true;
		}
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += WAIT_MS * 1000000L;
		if (until.tv_nsec >= 1000000000L) {
			until.tv_nsec -= 1000000000L;
			until.tv_sec++;
		}
		(void)pthread_cond_timedwait(&mcp->idle, &mcp->lock, &until);
		pump(mcp);
		pthread_mutex_unlock(&mcp->lock);
		now = now || cli_signals_caught() || mcp_wire_broken(&mcp->wire);
		if (!now)
			mcp_calls_tick(mcp);
		pthread_mutex_lock(&mcp->lock);
	}
	pthread_mutex_unlock(&mcp->lock);
}
