/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of the protocol, and which era each belongs to. */
#include "cli/mcp.h"

#include "cli/mcp_call.h"
#include "cli/mcp_tools.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Newest first. Those up to LEGACY open with initialize. */
static const char *const versions[] = {
    "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05",
};
enum { FIRST_LEGACY = 1 };

static const char instructions[] =
    "Runs code in a fresh sandbox for each call: no network unless the server was "
    "started "
    "with it, no state but the files of the workspace (/workspace, the working "
    "directory), which persist from call to call. Files that a step creates are listed "
    "in "
    "its answer; pictures among them are shown.";

static json_t *supported(size_t from)
{
	json_t *list = json_array();

	for (size_t i = from; i < COUNT(versions); i++)
		(void)json_array_append_new(list, json_string(versions[i]));
	return list;
}

static bool is_version(const char *version, size_t from)
{
	for (size_t i = from; version && i < COUNT(versions); i++) {
		if (strcmp(versions[i], version) == 0)
			return true;
	}
	return false;
}

static json_t *capabilities(void)
{
	return json_pack("{s:{},s:{s:b}}", "tools", "resources", "listChanged", 1);
}

void mcp_cacheable(const struct mcp_request *request, json_t *result, int ttl_ms)
{
	if (!request->modern)
		return;
	(void)json_object_set_new(result, "ttlMs", json_integer(ttl_ms));
	(void)json_object_set_new(result, "cacheScope", json_string("private"));
}

/* -- the methods ------------------------------------------------------------------- */

static void initialize(struct mcp_request *request)
{
	const char *asked =
	    json_string_value(json_object_get(request->params, "protocolVersion"));

	if (!asked) {
		mcp_reply_error(request, MCP_INVALID_PARAMS, "protocolVersion is missing",
				NULL);
		return;
	}
	request->mcp->initialized = true;
	mcp_reply(
	    request,
	    json_pack("{s:s,s:o,s:{s:s,s:s,s:s},s:s}", "protocolVersion",
		      is_version(asked, FIRST_LEGACY) ? asked : versions[FIRST_LEGACY],
		      "capabilities", capabilities(), "serverInfo", "name", "husk",
		      "title", "husk sandbox", "version", HUSK_VERSION, "instructions",
		      instructions));
}

static void discover(struct mcp_request *request)
{
	json_t *result =
	    json_pack("{s:o,s:o,s:s}", "supportedVersions", supported(0), "capabilities",
		      capabilities(), "instructions", instructions);

	mcp_cacheable(request, result, 3600 * 1000);
	mcp_reply(request, result);
}

static void ping(struct mcp_request *request)
{
	mcp_reply(request, json_object());
}

static void tools_list(struct mcp_request *request)
{
	json_t *result = json_pack("{s:o}", "tools", mcp_tools_list());

	mcp_cacheable(request, result, 3600 * 1000);
	mcp_reply(request, result);
}

static void cancelled(struct mcp_request *request)
{
	const json_t *id = json_object_get(request->params, "requestId");

	if (id && !mcp_listen_cancel(request->mcp, id))
		mcp_call_cancel(request->mcp, id);
}

static void nothing(struct mcp_request *request)
{
	(void)request;
}

enum era { LEGACY = 1, MODERN = 2, BOTH = 3 };

static const struct {
	const char *name;
	enum era era;
	bool notification;
	bool before; /* also before initialize */
	void (*run)(struct mcp_request *request);
} methods[] = {
    {"initialize", LEGACY, false, true, initialize},
    {"notifications/cancelled", BOTH, true, true, cancelled},
    {"notifications/initialized", LEGACY, true, true, nothing},
    {"notifications/progress", BOTH, true, true, nothing},
    {"notifications/roots/list_changed", LEGACY, true, true, nothing},
    {"ping", LEGACY, false, true, ping},
    {"resources/list", BOTH, false, false, mcp_resources_list},
    {"resources/read", BOTH, false, false, mcp_resources_read},
    {"resources/templates/list", BOTH, false, false, mcp_resources_templates},
    {"server/discover", BOTH, false, true, discover},
    {"subscriptions/listen", MODERN, false, false, mcp_listen},
    {"tools/call", BOTH, false, false, mcp_tools_call},
    {"tools/list", BOTH, false, false, tools_list},
};

static void refuse_version(struct mcp_request *request, const char *version)
{
	mcp_reply_error(
	    request, MCP_UNSUPPORTED_VERSION, "Unsupported protocol version",
	    json_pack("{s:o,s:s}", "supported", supported(0), "requested", version));
}

/* May this request be answered now? If not, it has been. */
static bool is_timely(struct mcp_request *request, size_t row)
{
	const json_t *meta = json_object_get(request->params, "_meta");
	const char *version = json_string_value(
	    json_object_get(meta, "io.modelcontextprotocol/protocolVersion"));

	/* The newer era has but one version by now; an older one is spoken after
	 * initialize. */
	if (request->modern && strcmp(version, versions[0]) != 0) {
		refuse_version(request, version);
		return false;
	}
	if (request->modern || request->mcp->initialized || methods[row].before)
		return true;
	mcp_reply_error(request, MCP_INVALID_REQUEST,
			"the first request must be initialize, or name its protocol "
			"version in _meta",
			NULL);
	return false;
}

void mcp_dispatch(struct mcp_request *request, const char *method)
{
	for (size_t i = 0; i < COUNT(methods); i++) {
		if (strcmp(methods[i].name, method) != 0 ||
		    !(methods[i].era & (request->modern ? MODERN : LEGACY)))
			continue;
		if (methods[i].notification != (request->id == NULL))
			break;
		if (methods[i].notification) {
			methods[i].run(request);
			mcp_reply_nothing(request);
		} else if (is_timely(request, i)) {
			methods[i].run(request);
		}
		return;
	}
	if (!request->id)
		mcp_reply_nothing(request); /* an unknown notification is passed over */
	else
		mcp_reply_error(request, MCP_METHOD_NOT_FOUND, "there is no such method",
				NULL);
}
