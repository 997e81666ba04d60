/* SPDX-License-Identifier: Apache-2.0 */
/* Who wants to hear that the workspace's files have changed: in the older era the client
 * that has initialized, in the newer one whoever listens (specification 2026-07-28,
 * "subscriptions/listen"). */
#include "cli/mcp.h"

#include <stdlib.h>

enum { LISTENERS_MAX = 64 };

struct mcp_listener {
	struct mcp_listener *next;
	json_t *id;
	bool wants;
};

static json_t *subscription_meta(json_t *id)
{
	return json_pack("{s:O}", "io.modelcontextprotocol/subscriptionId", id);
}

static size_t count_listeners(const struct mcp *mcp)
{
	size_t count = 0;

	for (const struct mcp_listener *at = mcp->listeners; at; at = at->next)
		count++;
	return count;
}

void mcp_listen(struct mcp_request *request)
{
	struct mcp *mcp = request->mcp;
	json_t *filter = json_object_get(request->params, "notifications");
	struct mcp_listener *listener;
	json_t *accepted;

	if (!json_is_object(filter)) {
		mcp_reply_error(request, MCP_INVALID_PARAMS, "notifications is missing",
				NULL);
		return;
	}
	listener =
	    count_listeners(mcp) < LISTENERS_MAX ? calloc(1, sizeof(*listener)) : NULL;
	if (!listener) {
		mcp_reply_error(request, MCP_INTERNAL_ERROR,
				"too many subscriptions are open", NULL);
		return;
	}
	listener->id = json_incref(request->id);
	listener->wants = json_is_true(json_object_get(filter, "resourcesListChanged"));
	accepted = json_object();
	if (listener->wants)
		(void)json_object_set_new(accepted, "resourcesListChanged", json_true());
	mcp_notify(mcp, "notifications/subscriptions/acknowledged",
		   json_pack("{s:o,s:o}", "_meta", subscription_meta(request->id),
			     "notifications", accepted));
	pthread_mutex_lock(&mcp->lock);
	listener->next = mcp->listeners;
	mcp->listeners = listener;
	pthread_mutex_unlock(&mcp->lock);
	mcp_reply_nothing(request);
}

static void listener_free(struct mcp_listener *listener)
{
	json_decref(listener->id);
	free(listener);
}

bool mcp_listen_cancel(struct mcp *mcp, const json_t *id)
{
	struct mcp_listener **at, *found = NULL;

	pthread_mutex_lock(&mcp->lock);
	for (at = &mcp->listeners; *at; at = &(*at)->next) {
		if (!json_equal((*at)->id, id))
			continue;
		found = *at;
		*at = found->next;
		break;
	}
	pthread_mutex_unlock(&mcp->lock);
	if (found)
		listener_free(found);
	return found != NULL;
}

void mcp_listen_end(struct mcp *mcp)
{
	while (mcp->listeners) {
		struct mcp_listener *listener = mcp->listeners;
		struct mcp_request request = {
		    .mcp = mcp, .id = json_incref(listener->id), .modern = true};
		json_t *result =
		    json_pack("{s:o}", "_meta", subscription_meta(listener->id));

		mcp->listeners = listener->next;
		mcp_reply(&request, result);
		mcp_request_deinit(&request);
		listener_free(listener);
	}
}

void mcp_files_changed(struct mcp *mcp)
{
	json_t *wanted = json_array();
	size_t i;
	json_t *id;

	pthread_mutex_lock(&mcp->lock);
	for (struct mcp_listener *at = mcp->listeners; at; at = at->next) {
		if (at->wants)
			(void)json_array_append(wanted, at->id);
	}
	pthread_mutex_unlock(&mcp->lock);
	json_array_foreach(wanted, i, id)
	{
		mcp_notify(mcp, "notifications/resources/list_changed",
			   json_pack("{s:o}", "_meta", subscription_meta(id)));
	}
	json_decref(wanted);
	if (mcp->initialized)
		mcp_notify(mcp, "notifications/resources/list_changed", json_object());
}
