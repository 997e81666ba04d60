/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace's files as resources: husk://workspace/PATH, percent-encoded (RFC 3986,
 * section 2.1). */
#include "cli/mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE = 500,
	PATH_MAX_BYTES = 4096,
	READ_MAX = 4 << 20, /* what still fits into a message as base64 */
};

static const char scheme[] = "husk://workspace/";

/* RFC 3986, section 2.3, and the slash. */
static const char plain[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    "-._~/";

/* A path as a URI; heap. */
static char *to_uri(const char *path)
{
	size_t length = strlen(path);
	char *uri = malloc(sizeof(scheme) + length * 3), *to;

	if (!uri)
		return NULL;
	memcpy(uri, scheme, sizeof(scheme));
	to = uri + sizeof(scheme) - 1;
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)path[i];

		if (memchr(plain, byte, sizeof(plain) - 1))
			*to++ = (char)byte;
		else
			to += snprintf(to, 4, "%%%02X", byte);
	}
	*to = '\0';
	return uri;
}

static int hex(char digit)
{
	const char *digits = "0123456789abcdef";
	const char *at = digit ? strchr(digits, digit | 32) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The byte of "%XX"; -1 where these are no two digits. */
static int two_digits(const char *text)
{
	int high = hex(text[0]), low = high < 0 ? -1 : hex(text[1]);

	return low < 0 ? -1 : high * 16 + low;
}

/* The path of a URI of ours; NULL where it is none. Heap. */
static char *from_uri(const char *uri)
{
	char *path, *to;
	int byte;

	if (strncmp(uri, scheme, sizeof(scheme) - 1) != 0 ||
	    strlen(uri) > sizeof(scheme) + (size_t)PATH_MAX_BYTES * 3)
		return NULL;
	path = to = strdup(uri + sizeof(scheme) - 1);
	for (const char *from = path; from && *from; from++) {
		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		byte = two_digits(from + 1);
		if (byte <= 0) {
			free(path);
			return NULL;
		}
		*to++ = (char)byte;
		from += 2;
	}
	if (to)
		*to = '\0';
	return path;
}

static json_t *make_resource(const char *path, uint64_t size)
{
	char *uri = to_uri(path);
	json_t *resource;

	resource = json_pack("{s:s,s:o,s:I}", "uri", uri ? uri : scheme, "name",
			     mcp_path(path), "size", (json_int_t)size);
	if (mcp_media_type_by_name(path))
		(void)json_object_set_new(resource, "mimeType",
					  json_string(mcp_media_type_by_name(path)));
	free(uri);
	return resource;
}

/* Where a page begins: the index as text. */
static bool get_cursor(const struct mcp_request *request, size_t *ret)
{
	const json_t *cursor = json_object_get(request->params, "cursor");
	char *end = NULL;

	*ret = 0;
	if (!cursor)
		return true;
	if (!json_is_string(cursor) || json_string_length(cursor) == 0 ||
	    json_string_length(cursor) > 12)
		return false;
	*ret = strtoul(json_string_value(cursor), &end, 10);
	return *end == '\0';
}

static void reply_listing(struct mcp_request *request, const husk_listing *listing,
			  size_t from)
{
	json_t *resources = json_array(), *result;
	size_t count = husk_listing_count(listing), i;
	char next[24];

	for (i = from; i < count && i - from < PAGE; i++)
		(void)json_array_append_new(resources,
					    make_resource(husk_listing_path(listing, i),
							  husk_listing_size(listing, i)));
	result = json_pack("{s:o}", "resources", resources);
	if (i < count) {
		(void)snprintf(next, sizeof(next), "%zu", i);
		(void)json_object_set_new(result, "nextCursor", json_string(next));
	}
	mcp_cacheable(request, result, 0);
	mcp_reply(request, result);
}

void mcp_resources_list(struct mcp_request *request)
{
	struct mcp_place *place = mcp_place_take(request->mcp);
	husk_listing *listing = NULL;
	struct husk_error err = {0};
	size_t from;

	if (!get_cursor(request, &from))
		mcp_reply_error(request, MCP_INVALID_PARAMS, "not a cursor of ours",
				NULL);
	else if (husk_session_list(place->session, "", &listing, &err) < 0)
		mcp_reply_error(request, MCP_INTERNAL_ERROR, err.message, NULL);
	else
		reply_listing(request, listing, from);
	(void)husk_listing_free(listing);
	mcp_place_leave(request->mcp, place);
}

static void reply_content(struct mcp_request *request, const char *uri, const char *path,
			  const char *data, size_t size)
{
	json_t *text = json_stringn(data, size), *result;
	const char *type = mcp_media_type(path, data, size);

	if (text)
		result = json_pack("{s:[{s:s,s:s,s:o}]}", "contents", "uri", uri,
				   "mimeType", type, "text", text);
	else
		result = json_pack("{s:[{s:s,s:s,s:o}]}", "contents", "uri", uri,
				   "mimeType", type, "blob", cli_json_base64(data, size));
	mcp_cacheable(request, result, 0);
	mcp_reply(request, result);
}

static void refuse(struct mcp_request *request, const char *uri, const char *why,
		   bool missing)
{
	int code = MCP_INVALID_PARAMS;

	if (missing && !request->modern)
		code = MCP_RESOURCE_NOT_FOUND;
	mcp_reply_error(request, code, why, json_pack("{s:s}", "uri", uri));
}

void mcp_resources_read(struct mcp_request *request)
{
	const char *uri = json_string_value(json_object_get(request->params, "uri"));
	char *path = uri ? from_uri(uri) : NULL;
	struct mcp_place *place;
	struct husk_error err = {0};
	void *data = NULL;
	size_t size;

	if (!path) {
		refuse(request, uri ? uri : "", "not a URI of husk://workspace/",
		       uri != NULL);
		return;
	}
	place = mcp_place_take(request->mcp);
	if (husk_session_read(place->session, path, READ_MAX, &data, &size, &err) == 0)
		reply_content(request, uri, path, data, size);
	else
		refuse(request, uri,
		       err.code == HUSK_E_TOO_BIG ? "it is larger than 4 MiB"
						  : err.message,
		       err.code == HUSK_E_PATH);
	free(data);
	free(path);
	mcp_place_leave(request->mcp, place);
}

void mcp_resources_templates(struct mcp_request *request)
{
	json_t *result = json_pack("{s:[{s:s,s:s,s:s,s:s}]}", "resourceTemplates",
				   "uriTemplate", "husk://workspace/{+path}", "name",
				   "workspace", "title", "A file of the workspace",
				   "description", "Any file below /workspace");

	mcp_cacheable(request, result, 3600 * 1000);
	mcp_reply(request, result);
}
