/* SPDX-License-Identifier: Apache-2.0 */
/* A result as one JSON object (INTERFACE: the same fields in C, JSON and Python). It is
 * written straight into a buffer: what a box prints may be 128 MiB, and the time and
 * memory that its JSON takes are the caller's, after the deadline. At most six bytes for
 * one of output, and no copy. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "session/result.h"

#define RESULT_JSON_MAX ((size_t)64 << 30)

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
static int add_bytes(struct buffer *to, const char *name, const char *data, size_t size)
{
	char key[32];
	int r = json_text_key(to, name);

	if (r == 0)
		r = json_text_add(to, data, size);
	if (r < 0 || utf8_valid(data, size))
		return r;
	(void)snprintf(key, sizeof(key), "%s_b64", name);
	r = json_text_key(to, key);
	if (r == 0)
		r = buffer_add(to, "\"", 1);
	if (r == 0)
		r = base64_add(to, data, size);
	return r < 0 ? r : buffer_add(to, "\"", 1);
}

static int add_text(struct buffer *to, const char *name, const char *text)
{
	return add_bytes(to, name, text, strlen(text));
}

/* A member whose value needs no escapes. */
static int add_plain(struct buffer *to, const char *name, const char *value)
{
	int r = json_text_key(to, name);

	return r < 0 ? r : buffer_add_text(to, value);
}

static int add_bool(struct buffer *to, const char *name, int value)
{
	return add_plain(to, name, value ? "true" : "false");
}

static int add_count(struct buffer *to, const char *name, uint64_t value)
{
	int r = json_text_key(to, name);

	return r < 0 ? r : buffer_addf(to, "%" PRIu64, value);
}

static int add_count_or_null(struct buffer *to, const char *name, uint64_t value)
{
	return value == HUSK_UNKNOWN ? add_plain(to, name, "null")
				     : add_count(to, name, value);
}

static int add_fault(struct buffer *to, const husk_result *result)
{
	int r;

	if (husk_result_fault(result) == HUSK_FAULT_NONE)
		return add_plain(to, "fault", "null");
	r = add_plain(to, "fault", "{");
	if (r == 0)
		r = add_text(to, "type", husk_result_fault_name(result));
	if (r == 0)
		r = add_text(to, "message", husk_result_fault_message(result));
	if (r == 0)
		r = add_text(to, "detail", husk_result_fault_detail(result));
	return r < 0 ? r : buffer_add(to, "}", 1);
}

static int add_file(struct buffer *to, const husk_result *result, size_t index)
{
	int r = buffer_add_text(to, index > 0 ? ",{" : "{");

	if (r == 0)
		r = add_text(to, "path", husk_result_file_path(result, index));
	if (r == 0)
		r = add_count(to, "size", husk_result_file_size(result, index));
	if (r == 0)
		r = add_text(to, "change",
			     change_names[husk_result_file_change(result, index)]);
	return r < 0 ? r : buffer_add(to, "}", 1);
}

static int add_files(struct buffer *to, const husk_result *result)
{
	size_t count = husk_result_file_count(result);
	int r = add_plain(to, "files", "[");

	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_file(to, result, i);
	return r < 0 ? r : buffer_add(to, "]", 1);
}

static int add_denial(struct buffer *to, const husk_result *result, size_t index)
{
	const char *loosen = husk_result_denial_loosen(result, index);
	int r = buffer_add_text(to, index > 0 ? ",{" : "{");

	if (r == 0)
		r = add_text(to, "layer", husk_result_denial_layer(result, index));
	if (r == 0)
		r = add_text(to, "call", husk_result_denial_call(result, index));
	if (r == 0)
		r = add_text(to, "subject", husk_result_denial_subject(result, index));
	if (r == 0)
		r = add_text(to, "answer", husk_result_denial_answer(result, index));
	if (r == 0)
		r = add_count(to, "times", husk_result_denial_times(result, index));
	if (r == 0)
		r = loosen ? add_text(to, "loosen", loosen)
			   : add_plain(to, "loosen", "null");
	return r < 0 ? r : buffer_add(to, "}", 1);
}

/* Only where the call asked for it. */
static int add_denials(struct buffer *to, const husk_result *result)
{
	size_t count = husk_result_denial_count(result);
	int r;

	if (!result->outcome.denials.known)
		return 0;
	r = add_plain(to, "denials", "[");
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_denial(to, result, i);
	if (r == 0)
		r = buffer_add(to, "]", 1);
	return r < 0 ? r
		     : add_bool(to, "denials_complete",
				husk_result_denials_complete(result));
}

static int add_usage(struct buffer *to, const husk_result *result)
{
	struct husk_usage usage = {.size = sizeof(usage)};
	int r = add_plain(to, "usage", "{");

	husk_result_usage(result, &usage);
	if (r == 0)
		r = add_count_or_null(to, "wall_us", usage.wall_us);
	if (r == 0)
		r = add_count_or_null(to, "cpu_us", usage.cpu_us);
	if (r == 0)
		r = add_count_or_null(to, "memory_peak_bytes", usage.memory_peak_bytes);
	if (r == 0)
		r = add_count_or_null(to, "pids_peak", usage.pids_peak);
	if (r == 0)
		r = add_count_or_null(to, "pids_denied", usage.pids_denied);
	return r < 0 ? r : buffer_add(to, "}", 1);
}

static int add_limits(struct buffer *to, const husk_result *result)
{
	int r = add_plain(to, "limits", "{");

	if (r == 0)
		r = add_text(to, "memory", limit_names[husk_result_limit_memory(result)]);
	if (r == 0)
		r = add_text(to, "cpus", limit_names[husk_result_limit_cpus(result)]);
	if (r == 0)
		r = add_text(to, "pids", limit_names[husk_result_limit_pids(result)]);
	return r < 0 ? r : buffer_add(to, "}", 1);
}

static int add_streams(struct buffer *to, const husk_result *result)
{
	size_t size;
	const char *data = husk_result_stdout(result, &size);
	int r = add_bytes(to, "stdout", data, size);

	if (r < 0)
		return r;
	data = husk_result_stderr(result, &size);
	return add_bytes(to, "stderr", data, size);
}

static int add_end(struct buffer *to, const husk_result *result)
{
	int sig = husk_result_signal(result);
	int r = add_count(to, "exit_code", (uint64_t)husk_result_exit_code(result));

	if (r == 0)
		r = add_count_or_null(to, "signal", sig ? (uint64_t)sig : HUSK_UNKNOWN);
	if (r == 0)
		r = add_count(to, "duration_ms", husk_result_duration_ms(result));
	return r < 0 ? r : add_fault(to, result);
}

static int add_all(struct buffer *to, const husk_result *result)
{
	const char *hint = husk_result_hint(result);
	int r = buffer_add(to, "{", 1);

	if (r == 0)
		r = add_streams(to, result);
	if (r == 0)
		r = add_end(to, result);
	if (r == 0)
		r = add_files(to, result);
	if (r == 0)
		r = add_bool(to, "files_complete", husk_result_files_complete(result));
	if (r == 0)
		r = add_bool(to, "truncated", husk_result_truncated(result));
	if (r == 0)
		r = add_bool(to, "success", husk_result_success(result));
	if (r == 0)
		r = add_usage(to, result);
	if (r == 0)
		r = add_limits(to, result);
	if (r == 0)
		r = add_denials(to, result);
	if (r == 0 && hint)
		r = add_text(to, "hint", hint);
	return r < 0 ? r : buffer_add(to, "}", 1);
}

int husk_result_to_json(const husk_result *result, char **ret_json,
			struct husk_error *err)
{
	struct buffer text = BUFFER_INIT(RESULT_JSON_MAX);

	if (add_all(&text, result) < 0) {
		buffer_deinit(&text);
		return error_oom(err, "result as JSON");
	}
	*ret_json = text.data;
	return 0;
}
