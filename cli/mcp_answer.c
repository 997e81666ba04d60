/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp_answer.h"

#include "cli/json_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FILES_MAX = 500,	   /* of them an answer lists */
	NAMED_MAX = 20,		   /* of them the text names */
	PICTURE_MAX = 3 << 20,	   /* bytes of one picture */
	PICTURES_MAX = 4500 << 10, /* of all; base64 makes a third more of it */
};

/* -- the text ----------------------------------------------------------------------- */

static void show_files(FILE *file, const husk_result *result)
{
	size_t count = husk_result_file_count(result);
	static const char *const names[] = {
	    [HUSK_FILE_CREATED] = "created",
	    [HUSK_FILE_MODIFIED] = "modified",
	    [HUSK_FILE_DELETED] = "deleted",
	};

	for (size_t i = 0; i < count && i < NAMED_MAX; i++)
		(void)fprintf(file, "[%s %s, %llu bytes]\n",
			      names[husk_result_file_change(result, i)],
			      husk_result_file_path(result, i),
			      (unsigned long long)husk_result_file_size(result, i));
	if (count > NAMED_MAX)
		(void)fprintf(file, "[and %zu more files]\n", count - NAMED_MAX);
	if (!husk_result_files_complete(result))
		(void)fputs("[there may be more changed files]\n", file);
}

/* A stream, and an end to its last line. */
static void show_stream(FILE *file, const char *title, const char *data, size_t size)
{
	if (size == 0)
		return;
	if (title)
		(void)fprintf(file, "[%s]\n", title);
	(void)fwrite(data, 1, size, file);
	if (data[size - 1] != '\n')
		(void)fputc('\n', file);
}

/* The detail is often part of the message. */
static void show_fault(FILE *file, const husk_result *result)
{
	const char *message = husk_result_fault_message(result);
	const char *detail = husk_result_fault_detail(result);
	bool more = !strstr(message, detail);

	(void)fprintf(file, "[%s: %s%s%s]\n", husk_result_fault_name(result), message,
		      more ? ": " : "", more ? detail : "");
}

static void show(FILE *file, const husk_result *result)
{
	size_t out_size, err_size;
	const char *out = husk_result_stdout(result, &out_size);
	const char *err = husk_result_stderr(result, &err_size);
	const char *missing = husk_result_exec_error(result);

	show_stream(file, NULL, out, out_size);
	show_stream(file, "stderr", err, err_size);
	if (husk_result_truncated(result))
		(void)fputs("[more was printed than is kept]\n", file);
	if (missing)
		(void)fprintf(file, "[%s]\n", missing);
	if (husk_result_fault(result) != HUSK_FAULT_NONE)
		show_fault(file, result);
	if (husk_result_hint(result))
		(void)fprintf(file, "[hint: %s]\n", husk_result_hint(result));
	if (husk_result_exit_code(result) != 0)
		(void)fprintf(file, "[exit code %d]\n", husk_result_exit_code(result));
	else if (out_size + err_size == 0)
		(void)fputs("[it printed nothing]\n", file);
	show_files(file, result);
}

static json_t *make_text(const husk_result *result)
{
	char *text = NULL;
	size_t size;
	json_t *shown = NULL;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	show(file, result);
	if (fclose(file) == 0)
		shown = cli_json_text(text, size);
	free(text);
	return shown;
}

/* -- the structured part ------------------------------------------------------------ */

static json_t *make_fields(const husk_result *result)
{
	struct husk_error err;
	json_t *fields = NULL, *files;
	int r;
	char *text = NULL;

	if (husk_result_to_json(result, &text, &err) < 0)
		return NULL;
	r = cli_json_read(text, strlen(text), JSON_ALLOW_NUL, &fields, NULL);
	free(text);
	if (r < 0)
		return NULL;
	files = json_object_get(fields, "files");
	if (json_array_size(files) > FILES_MAX) {
		while (json_array_size(files) > FILES_MAX)
			(void)json_array_remove(files, json_array_size(files) - 1);
		(void)json_object_set_new(fields, "files_complete", json_false());
	}
	return fields;
}

/* -- pictures ---------------------------------------------------------------------- */

/* The picture, and how large it is. NULL where the file is none after all. */
static json_t *load_picture(struct mcp_call *call, const char *path, size_t *ret_size)
{
	struct husk_error err;
	json_t *picture = NULL;
	const char *type;
	void *data = NULL;

	if (husk_session_read(call->place->session, path, PICTURE_MAX, &data, ret_size,
			      &err) < 0)
		return NULL;
	type = mcp_picture_type(data, *ret_size);
	if (type)
		picture = json_pack("{s:s,s:o,s:s}", "type", "image", "data",
				    cli_json_base64(data, *ret_size), "mimeType", type);
	free(data);
	return picture;
}

/* Pictures that this step has made or changed, as long as they fit. */
static void add_pictures(struct mcp_call *call, const husk_result *result,
			 json_t *content)
{
	size_t count = husk_result_file_count(result), total = 0;

	for (size_t i = 0; i < count; i++) {
		const char *path = husk_result_file_path(result, i);
		size_t size = husk_result_file_size(result, i);
		json_t *picture;

		if (husk_result_file_change(result, i) == HUSK_FILE_DELETED ||
		    !mcp_is_picture_name(path))
			continue;
		if (size > PICTURE_MAX || size > PICTURES_MAX - total) {
			(void)json_array_append_new(
			    content,
			    mcp_note("[%s is too large to be shown here]", path));
			continue;
		}
		picture = load_picture(call, path, &size);
		if (picture && size <= PICTURES_MAX - total) {
			total += size;
			(void)json_array_append_new(content, picture);
		} else {
			json_decref(picture);
		}
	}
}

json_t *mcp_answer(struct mcp_call *call, const husk_result *result)
{
	json_t *text = make_text(result), *fields = make_fields(result);
	json_t *content = json_array();

	if (!text || !fields) {
		json_decref(text);
		json_decref(fields);
		json_decref(content);
		return NULL;
	}
	(void)json_array_append_new(content,
				    json_pack("{s:s,s:o}", "type", "text", "text", text));
	add_pictures(call, result, content);
	return json_pack("{s:o,s:o,s:b}", "content", content, "structuredContent", fields,
			 "isError",
			 husk_result_fault(result) == HUSK_FAULT_STARTUP_FAILED);
}
