/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library by remote control: reads one JSON object a line, makes the call that its
 * "op" names, and answers with one JSON object a line. A test can so do things of its own
 * between two calls of one session.
 *
 * Bytes (paths, data, streams) go as hex. Every answer holds "code"; a failed one
 * "where", "message", "hint" and "errno".
 */
#include <husk.h>

#include <jansson.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LIST_MAX = 8192, STREAMED_MAX = 32 << 20 };

static husk_session *session;
static husk_cancel *cancel;

/* -- bytes ------------------------------------------------------------------------------
 */

static json_t *hex_of(const void *data, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes = data;
	char *text = malloc(size * 2 + 1);
	json_t *json;

	if (!text)
		abort();
	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	json = json_stringn(text, size * 2);
	free(text);
	return json;
}

/* The bytes of a member that is hex, NUL-ended; NULL where it is not there. */
static char *bytes_of(const json_t *request, const char *name, size_t *ret_size)
{
	const json_t *member = json_object_get(request, name);
	size_t size = json_string_length(member) / 2;
	const char *text = json_string_value(member);
	char *bytes;

	*ret_size = size;
	if (!text)
		return NULL;
	bytes = calloc(1, size + 1);
	for (size_t i = 0; bytes && i < size; i++) {
		char two[3] = {text[2 * i], text[2 * i + 1], '\0'};

		bytes[i] = (char)strtoul(two, NULL, 16);
	}
	return bytes;
}

/* A list of strings, NULL-ended; the strings are the request's. */
static const char **list_of(const json_t *request, const char *name)
{
	const json_t *array = json_object_get(request, name);
	const char **list;

	if (!json_is_array(array))
		return NULL;
	list = calloc(json_array_size(array) + 1, sizeof(*list));
	for (size_t i = 0; list && i < json_array_size(array); i++)
		list[i] = json_string_value(json_array_get(array, i));
	return list;
}

static const char *text_of(const json_t *request, const char *name)
{
	return json_string_value(json_object_get(request, name));
}

/* Beyond what a JSON integer holds: the text "unlimited". */
static uint64_t number_of(const json_t *request, const char *name)
{
	const json_t *member = json_object_get(request, name);

	if (json_is_string(member))
		return HUSK_UNLIMITED;
	return (uint64_t)json_integer_value(member);
}

/* The words of an error are UTF-8: json_string refuses others, and the test sees null. */
static json_t *words(const char *text)
{
	json_t *json = json_string(text);

	return json ? json : json_null();
}

static json_t *answer_of(int code, const struct husk_error *err)
{
	json_t *answer = json_pack("{s:i}", "code", code);

	if (code < 0) {
		json_object_set_new(answer, "where", words(err->where));
		json_object_set_new(answer, "message", words(err->message));
		json_object_set_new(answer, "hint", words(err->hint));
		json_object_set_new(answer, "errno", json_integer(err->sys_errno));
	}
	return answer;
}

/* -- open and close ---------------------------------------------------------------------
 */

static struct husk_mount *mounts_of(const json_t *request, size_t *ret_count)
{
	const json_t *array = json_object_get(request, "mounts"), *mount;
	struct husk_mount *mounts = calloc(json_array_size(array) + 1, sizeof(*mounts));
	size_t i;

	json_array_foreach(array, i, mount)
	{
		mounts[i].source = json_string_value(json_array_get(mount, 0));
		mounts[i].target = json_string_value(json_array_get(mount, 1));
		if (json_is_true(json_array_get(mount, 2)))
			mounts[i].flags = HUSK_MOUNT_ALLOW_WRITE;
	}
	*ret_count = json_array_size(array);
	return mounts;
}

static json_t *do_open(const json_t *request)
{
	HUSK_OPTIONS(options);
	struct husk_error err = {0};
	struct husk_mount *mounts = mounts_of(request, &options.mount_count);
	const char **env = list_of(request, "env");
	json_t *answer;
	int r;

	options.mounts = mounts;
	options.env = env;
	options.image = text_of(request, "image");
	options.workspace = text_of(request, "workspace");
	options.temp_dir = text_of(request, "temp_dir");
	options.home = text_of(request, "home");
	options.workdir = text_of(request, "workdir");
	options.user = text_of(request, "user");
	options.seccomp = text_of(request, "seccomp");
	options.memory_bytes = number_of(request, "memory_bytes");
	options.cpu_milli = number_of(request, "cpu_milli");
	options.pids = number_of(request, "pids");
	options.timeout_ms = number_of(request, "timeout_ms");
	options.max_output_bytes = number_of(request, "max_output_bytes");
	options.tmp_bytes = number_of(request, "tmp_bytes");
	options.limits = (int32_t)number_of(request, "limits");
	options.allow_network = (int32_t)number_of(request, "allow_network");
	options.allow_writable_root = (int32_t)number_of(request, "allow_writable_root");
	r = husk_session_open(&options, &session, &err);
	answer = answer_of(r, &err);
	if (r == 0)
		json_object_set_new(answer, "workspace",
				    json_string(husk_session_workspace(session)));
	free(mounts);
	free(env);
	return answer;
}

static json_t *do_close(const json_t *request)
{
	(void)request;
	session = husk_session_close(session);
	cancel = husk_cancel_free(cancel);
	return json_pack("{s:i}", "code", 0);
}

/* -- runs -------------------------------------------------------------------------------
 */

/* What the callback was given, stream by stream. */
struct streamed {
	char *data[2];
	size_t size[2];
	size_t stop_after; /* of both together; 0: never */
	size_t total;
	long looks, last_look; /* calls of on_wait; the one that stops, 0: none */
};

static int on_wait(void *user)
{
	struct streamed *streamed = user;

	return ++streamed->looks == streamed->last_look;
}

static int on_output(void *user, int stream, const void *data, size_t size)
{
	struct streamed *streamed = user;
	int i = stream - HUSK_STDOUT;

	if (!streamed->data[i])
		streamed->data[i] = malloc(STREAMED_MAX);
	if (streamed->data[i] && streamed->size[i] + size <= STREAMED_MAX)
		memcpy(streamed->data[i] + streamed->size[i], data, size);
	streamed->size[i] += size;
	streamed->total += size;
	return streamed->stop_after && streamed->total >= streamed->stop_after;
}

static void *fire_later(void *data)
{
	const uint64_t *ms = data;
	struct timespec nap = {(time_t)(*ms / 1000), (long)(*ms % 1000) * 1000000};

	nanosleep(&nap, NULL);
	husk_cancel_fire(cancel);
	return NULL;
}

static void read_call(const json_t *request, struct husk_call *call, char **ret_data)
{
	*ret_data = bytes_of(request, "stdin", &call->stdin_size);
	call->timeout_ms = number_of(request, "timeout_ms");
	call->workdir = text_of(request, "workdir");
	call->discard_output = (int32_t)number_of(request, "discard_output");
	call->skip_files = (int32_t)number_of(request, "skip_files");
	if (*ret_data) {
		call->stdin_kind = HUSK_STDIN_DATA;
		call->stdin_data = *ret_data;
	} else if (json_object_get(request, "stdin_fd")) {
		call->stdin_kind = HUSK_STDIN_FD;
		call->stdin_fd = (int32_t)number_of(request, "stdin_fd");
	}
	call->cancel = json_object_get(request, "cancel_after_ms") ||
			       json_object_get(request, "cancellable")
			   ? cancel
			   : NULL;
}

static void add_streamed(json_t *answer, struct streamed *streamed)
{
	static const char *const names[] = {"streamed_stdout", "streamed_stderr"};

	for (int i = 0; i < 2; i++) {
		size_t kept =
		    streamed->size[i] < STREAMED_MAX ? streamed->size[i] : STREAMED_MAX;

		json_object_set_new(answer, names[i], hex_of(streamed->data[i], kept));
		free(streamed->data[i]);
	}
	json_object_set_new(answer, "streamed_bytes",
			    json_integer((json_int_t)streamed->total));
}

/* The getters beside the JSON form: a test can hold one against the other. */
static json_t *result_of(husk_result *result)
{
	struct husk_error err = {0};
	char *text = NULL;
	json_t *answer, *object;
	size_t out, error;
	const char *data;

	if (husk_result_to_json(result, &text, &err) < 0)
		return answer_of(err.code, &err);
	object = json_loads(text, JSON_ALLOW_NUL, NULL);
	free(text);
	data = husk_result_stdout(result, &out);
	answer = json_pack("{s:i, s:o, s:o}", "code", 0, "result", object, "stdout_bytes",
			   hex_of(data, out));
	data = husk_result_stderr(result, &error);
	json_object_set_new(answer, "stderr_bytes", hex_of(data, error));
	if (husk_result_exec_error(result))
		json_object_set_new(answer, "exec_error",
				    json_string(husk_result_exec_error(result)));
	return answer;
}

static json_t *do_run(const json_t *request)
{
	HUSK_CALL(call);
	struct husk_error err = {0};
	struct streamed streamed = {.stop_after = number_of(request, "stop_after")};
	uint64_t delay = number_of(request, "cancel_after_ms");
	const char **argv = list_of(request, "argv");
	size_t code_size;
	char *code = bytes_of(request, "code", &code_size), *data;
	husk_result *result = NULL;
	pthread_t thread;
	json_t *answer;
	int r;

	if (!cancel && husk_cancel_new(&cancel, &err) < 0)
		return answer_of(err.code, &err);
	read_call(request, &call, &data);
	if (json_is_true(json_object_get(request, "stream"))) {
		call.on_output = on_output;
		call.user = &streamed;
	}
	if (json_is_true(json_object_get(request, "look"))) {
		streamed.last_look = (long)number_of(request, "last_look");
		call.on_wait = on_wait;
		call.user = &streamed;
	}
	if (delay && pthread_create(&thread, NULL, fire_later, &delay) != 0)
		abort();
	if (code)
		r = husk_session_run_code(session, text_of(request, "language"), code,
					  code_size, &call, &result, &err);
	else
		r = husk_session_run(session, argv, &call, &result, &err);
	if (delay)
		pthread_join(thread, NULL);
	answer = r < 0 ? answer_of(r, &err) : result_of(result);
	if (call.on_output)
		add_streamed(answer, &streamed);
	json_object_set_new(answer, "looks", json_integer(streamed.looks));
	husk_result_free(result);
	free(argv);
	free(code);
	free(data);
	return answer;
}

static json_t *do_cancel(const json_t *request)
{
	struct husk_error err = {0};
	int r = 0;

	(void)request;
	if (!cancel)
		r = husk_cancel_new(&cancel, &err);
	if (r == 0)
		husk_cancel_fire(cancel);
	return answer_of(r, &err);
}

static json_t *do_explain(const json_t *request)
{
	const char **argv = list_of(request, "argv");
	struct husk_error err = {0};
	char *text = NULL;
	int r = husk_session_explain(session, argv, NULL, &text, &err);
	json_t *answer = answer_of(r, &err);

	if (r == 0)
		json_object_set_new(answer, "text", json_string(text));
	free(text);
	free(argv);
	return answer;
}

/* -- files ------------------------------------------------------------------------------
 */

static json_t *do_write(const json_t *request)
{
	struct husk_error err = {0};
	size_t size, path_size;
	char *path = bytes_of(request, "path", &path_size);
	char *data = bytes_of(request, "data", &size);
	int r = husk_session_write(session, path, data, size, &err);

	free(path);
	free(data);
	return answer_of(r, &err);
}

static json_t *do_read(const json_t *request)
{
	struct husk_error err = {0};
	size_t size = 0, path_size;
	char *path = bytes_of(request, "path", &path_size);
	void *data = NULL;
	int r = husk_session_read(session, path, number_of(request, "max_bytes"), &data,
				  &size, &err);
	json_t *answer = answer_of(r, &err);

	if (r == 0)
		json_object_set_new(answer, "data", hex_of(data, size));
	free(path);
	free(data);
	return answer;
}

static json_t *do_list(const json_t *request)
{
	struct husk_error err = {0};
	husk_listing *listing = NULL;
	size_t path_size;
	char *path = bytes_of(request, "path", &path_size);
	int r = husk_session_list(session, path, &listing, &err);
	json_t *answer = answer_of(r, &err), *files = json_array();

	for (size_t i = 0; r == 0 && i < husk_listing_count(listing) && i < LIST_MAX;
	     i++) {
		const char *name = husk_listing_path(listing, i);

		json_array_append_new(
		    files, json_pack("[o, I]", hex_of(name, strlen(name)),
				     (json_int_t)husk_listing_size(listing, i)));
	}
	json_object_set_new(answer, "files", files);
	json_object_set_new(answer, "count",
			    json_integer((json_int_t)husk_listing_count(listing)));
	husk_listing_free(listing);
	free(path);
	return answer;
}

/* -- the loop ---------------------------------------------------------------------------
 */

static const struct {
	const char *op;
	json_t *(*function)(const json_t *request);
} ops[] = {
    {"cancel", do_cancel}, {"close", do_close}, {"explain", do_explain},
    {"list", do_list},	   {"open", do_open},	{"read", do_read},
    {"run", do_run},	   {"write", do_write},
};

static json_t *serve(const char *line)
{
	json_t *request = json_loads(line, 0, NULL), *answer = NULL;
	const char *op = text_of(request, "op");

	for (size_t i = 0; op && i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i].op, op) == 0)
			answer = ops[i].function(request);
	}
	if (!answer) {
		fprintf(stderr, "session: %.200s\n", line);
		exit(2);
	}
	json_decref(request);
	return answer;
}

int main(void)
{
	char *line = NULL;
	size_t capacity = 0;

	while (getline(&line, &capacity, stdin) > 0) {
		json_t *answer = serve(line);

		if (json_dumpf(answer, stdout, JSON_COMPACT) < 0)
			return 2;
		putchar('\n');
		fflush(stdout);
		json_decref(answer);
	}
	free(line);
	husk_session_close(session);
	husk_cancel_free(cancel);
	return 0;
}
