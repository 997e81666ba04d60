/* SPDX-License-Identifier: Apache-2.0 */
/* A result as one JSON object (INTERFACE: the same fields in C, JSON and Python). */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/utf8.h"
#include "session/result.h"

enum { TEXT_GROWTH = 3 }; /* U+FFFD takes three bytes for one */

static const char *const limit_names[] = {
    [HUSK_LIMIT_OFF] = "off",
    [HUSK_LIMIT_BEST_EFFORT] = "best-effort",
    [HUSK_LIMIT_ENFORCED] = "enforced",
};

static const char *const change_names[] = {
    [HUSK_FILE_CREATED] = "created",
    [HUSK_FILE_MODIFIED] = "modified",
    [HUSK_FILE_DELETED] = "deleted",
};

/* Bytes as a JSON string; where they are not UTF-8, name_b64 holds them exactly. */
static int set_bytes(json_t *object, const char *name, const char *data, size_t size)
{
	struct buffer text CLEANUP_BUFFER = BUFFER_INIT(size * TEXT_GROWTH + 1);
	struct buffer exact CLEANUP_BUFFER = BUFFER_INIT(size * 2 + 4);
	char key[32];

	if (utf8_valid(data, size))
		return json_object_set_new(object, name, json_stringn(data, size));
	if (utf8_replace(&text, data, size) < 0 || base64_add(&exact, data, size) < 0)
		return -1;
	(void)snprintf(key, sizeof(key), "%s_b64", name);
	if (json_object_set_new(object, name, json_stringn(text.data, text.size)) < 0)
		return -1;
	return json_object_set_new(object, key, json_stringn(exact.data, exact.size));
}

static int set_text(json_t *object, const char *name, const char *text)
{
	return set_bytes(object, name, text, strlen(text));
}

static json_t *count_or_null(uint64_t value)
{
	return value == HUSK_UNKNOWN ? json_null() : json_integer((json_int_t)value);
}

static json_t *make_fault(const husk_result *result)
{
	json_t *fault;

	if (husk_result_fault(result) == HUSK_FAULT_NONE)
		return json_null();
	fault = json_object();
	if (set_text(fault, "type", husk_result_fault_name(result)) < 0 ||
	    set_text(fault, "message", husk_result_fault_message(result)) < 0 ||
	    set_text(fault, "detail", husk_result_fault_detail(result)) < 0) {
		json_decref(fault);
		return NULL;
	}
	return fault;
}

static json_t *make_files(const husk_result *result)
{
	json_t *files = json_array();
	size_t count = husk_result_file_count(result);

	for (size_t i = 0; i < count; i++) {
		json_t *file = json_object();

		if (json_array_append_new(files, file) < 0 ||
		    set_text(file, "path", husk_result_file_path(result, i)) < 0 ||
		    json_object_set_new(
			file, "size",
			json_integer((json_int_t)husk_result_file_size(result, i))) < 0 ||
		    json_object_set_new(
			file, "change",
			json_string(change_names[husk_result_file_change(result, i)])) <
			0) {
			json_decref(files);
			return NULL;
		}
	}
	return files;
}

static json_t *make_usage(const husk_result *result)
{
	struct husk_usage usage = {.size = sizeof(usage)};

	husk_result_usage(result, &usage);
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "wall_us", count_or_null(usage.wall_us),
			 "cpu_us", count_or_null(usage.cpu_us), "memory_peak_bytes",
			 count_or_null(usage.memory_peak_bytes), "pids_peak",
			 count_or_null(usage.pids_peak), "pids_denied",
			 count_or_null(usage.pids_denied));
}

static json_t *make_limits(const husk_result *result)
{
	return json_pack("{s:s,s:s,s:s}", "memory",
			 limit_names[husk_result_limit_memory(result)], "cpus",
			 limit_names[husk_result_limit_cpus(result)], "pids",
			 limit_names[husk_result_limit_pids(result)]);
}

static int fill(json_t *object, const husk_result *result)
{
	size_t size;
	const char *data = husk_result_stdout(result, &size);
	int sig = husk_result_signal(result), r;

	r = set_bytes(object, "stdout", data, size);
	data = husk_result_stderr(result, &size);
	r |= set_bytes(object, "stderr", data, size);
	r |= json_object_set_new(object, "exit_code",
				 json_integer(husk_result_exit_code(result)));
	r |= json_object_set_new(object, "signal", sig ? json_integer(sig) : json_null());
	r |= json_object_set_new(
	    object, "duration_ms",
	    json_integer((json_int_t)husk_result_duration_ms(result)));
	r |= json_object_set_new(object, "fault", make_fault(result));
	r |= json_object_set_new(object, "files", make_files(result));
	r |= json_object_set_new(object, "files_complete",
				 json_boolean(husk_result_files_complete(result)));
	r |= json_object_set_new(object, "truncated",
				 json_boolean(husk_result_truncated(result)));
	r |= json_object_set_new(object, "success",
				 json_boolean(husk_result_success(result)));
	r |= json_object_set_new(object, "usage", make_usage(result));
	r |= json_object_set_new(object, "limits", make_limits(result));
	if (husk_result_hint(result))
		r |= set_text(object, "hint", husk_result_hint(result));
	return r;
}

int husk_result_to_json(const husk_result *result, char **ret_json,
			struct husk_error *err)
{
	json_t *object = json_object();
	char *text = NULL;

	if (object && fill(object, result) == 0)
		text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (!text)
		return error_oom(err, "result as JSON");
	*ret_json = text;
	return 0;
}
