/* SPDX-License-Identifier: Apache-2.0 */
/* write_file, read_file, list_files, reset. */
#include "cli/mcp_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	READ_MAX = 4 << 20,  /* what still fits into a message as base64 */
	LIST_MAX = 10000,    /* files in one answer */
	LIST_BYTES = 900000, /* bytes of their names */
};

static const char *text_of(const struct mcp_call *call, const char *name,
			   size_t *ret_size)
{
	const json_t *value = json_object_get(call->arguments, name);

	if (ret_size)
		*ret_size = json_string_length(value);
	return json_string_value(value);
}

/* A path is a C string to the library: what follows a NUL would be lost. */
static const char *path_of(const struct mcp_call *call, const char *name)
{
	size_t size;
	const char *path = text_of(call, name, &size);

	return path && strlen(path) == size ? path : NULL;
}

static json_t *write_data(struct mcp_call *call, const char *path, const char *data,
			  size_t size)
{
	struct husk_error err = {0};
	char text[128];

	if (husk_session_write(call->place->session, path, data, size, &err) < 0)
		return mcp_failed_by(&err);
	mcp_files_changed(call->request.mcp);
	(void)snprintf(text, sizeof(text), "%zu bytes written", size);
	return mcp_result(text,
			  json_pack("{s:s,s:I}", "path", path, "size", (json_int_t)size));
}

json_t *mcp_write_file(struct mcp_call *call)
{
	const char *path = path_of(call, "path");
	size_t size, coded_size, decoded_size;
	const char *content = text_of(call, "content", &size);
	const char *coded = text_of(call, "content_base64", &coded_size);
	char *decoded = NULL;
	json_t *result;

	if (!path)
		return mcp_failed("path holds a NUL byte");
	if (!content == !coded)
		return mcp_failed("give either content or content_base64");
	if (content)
		return write_data(call, path, content, size);
	if (!cli_json_base64_decode(coded, coded_size, &decoded, &decoded_size))
		return mcp_failed("content_base64 is not base64");
	result = write_data(call, path, decoded, decoded_size);
	free(decoded);
	return result;
}

static json_t *show_file(const char *path, const char *data, size_t size)
{
	const char *type = mcp_media_type(path, data, size);
	json_t *text = json_stringn(data, size), *content, *fields;

	fields = json_pack("{s:s,s:I,s:s}", "path", path, "size", (json_int_t)size,
			   "media_type", type);
	if (mcp_is_picture_name(path) && mcp_picture_type(data, size)) {
		content = json_pack("[{s:s,s:o,s:s}]", "type", "image", "data",
				    cli_json_base64(data, size), "mimeType", type);
		json_decref(text);
	} else if (text) {
		content = json_pack("[{s:s,s:O}]", "type", "text", "text", text);
		(void)json_object_set_new(fields, "content", text);
	} else {
		content = json_array();
		(void)json_array_append_new(
		    content, mcp_note("[%zu bytes that are no text]", size));
		(void)json_object_set_new(fields, "content_base64",
					  cli_json_base64(data, size));
	}
	return json_pack("{s:o,s:o,s:b}", "content", content, "structuredContent", fields,
			 "isError", 0);
}

json_t *mcp_read_file(struct mcp_call *call)
{
	const char *path = path_of(call, "path");
	struct husk_error err = {0};
	void *data = NULL;
	json_t *result;
	size_t size;

	if (!path)
		return mcp_failed("path holds a NUL byte");
	if (husk_session_read(call->place->session, path, READ_MAX, &data, &size, &err) <
	    0) {
		if (err.code == HUSK_E_TOO_BIG)
			return mcp_failed("%s: it is larger than 4 MiB, which is what an "
					  "answer can hold\nhint: take a part of it with "
					  "run_command, such as [\"head\", \"-c\", "
					  "\"100000\", \"%s\"]",
					  path, path);
		return mcp_failed_by(&err);
	}
	result = show_file(path, data, size);
	free(data);
	return result;
}

/* The same for a model to read: one line for each file. */
static json_t *list_text(const json_t *files, size_t left_out)
{
	char *text = NULL;
	size_t size, i;
	json_t *file, *shown = NULL;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	json_array_foreach(files, i, file)
	{
		(void)fprintf(
		    to, "%s (%lld bytes)\n",
		    json_string_value(json_object_get(file, "path")),
		    (long long)json_integer_value(json_object_get(file, "size")));
	}
	if (json_array_size(files) == 0)
		(void)fputs("[there are no files]\n", to);
	if (left_out > 0)
		(void)fprintf(to, "[and %zu more]\n", left_out);
	if (fclose(to) == 0)
		shown = cli_json_text(text, size);
	free(text);
	return shown;
}

json_t *mcp_list_files(struct mcp_call *call)
{
	const char *subdir =
	    json_object_get(call->arguments, "subdir") ? path_of(call, "subdir") : "";
	husk_listing *listing = NULL;
	struct husk_error err = {0};
	json_t *files, *text, *result;
	size_t count, bytes = 0, i;

	if (!subdir)
		return mcp_failed("subdir holds a NUL byte");
	if (husk_session_list(call->place->session, subdir, &listing, &err) < 0)
		return mcp_failed_by(&err);
	files = json_array();
	count = husk_listing_count(listing);
	for (i = 0; i < count && i < LIST_MAX && bytes < LIST_BYTES; i++) {
		const char *path = husk_listing_path(listing, i);

		bytes += strlen(path);
		(void)json_array_append_new(
		    files, json_pack("{s:o,s:I}", "path", mcp_path(path), "size",
				     (json_int_t)husk_listing_size(listing, i)));
	}
	text = list_text(files, count - i);
	result = json_pack("{s:[{s:s,s:o}],s:{s:o,s:b},s:b}", "content", "type", "text",
			   "text", text, "structuredContent", "files", files, "complete",
			   i == count && husk_listing_complete(listing), "isError", 0);
	(void)husk_listing_free(listing);
	return result;
}

json_t *mcp_reset(struct mcp_call *call)
{
	struct mcp *mcp = call->request.mcp;
	struct husk_error err = {0};

	if (mcp->settings->box.workspace)
		return mcp_failed(
		    "reset: this server works on a directory that was given "
		    "to it, and keeps what is there\nhint: remove files "
		    "with run_command, such as [\"rm\", \"-r\", \"NAME\"]");
	if (mcp_place_open(mcp, &err) < 0)
		return mcp_failed_by(&err);
	mcp_files_changed(mcp);
	return mcp_result("The workspace is empty now.", json_pack("{s:b}", "reset", 1));
}
