/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes as what an MCP client says, from its first message to the end of
 * the input, and all answers. Everything is the server's own but for the two functions
 * that start a box, which the linker puts those below in the place of (tests/tests.mk).
 *
 * Whatever is said: each line that comes out is one JSON-RPC message of less than 8 MB,
 * no request has two answers, no call has a longer deadline than the server's, and
 * nothing waits when the input has ended.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/mcp.h"
#include "cli/mcp_call.h"
#include "session/listing.h"
#include "session/result.h"

enum { CEILING_MS = 5000 };

int __wrap_husk_session_run(husk_session *session, const char *const *argv,
			    const struct husk_call *call, husk_result **ret,
			    struct husk_error *err);
int __wrap_husk_session_run_code(husk_session *session, const char *language,
				 const char *code, size_t size,
				 const struct husk_call *call, husk_result **ret,
				 struct husk_error *err);

/* What a box would have printed comes back twice, the files of the workspace are those
 * that it made, and what happened to it is chosen by the first byte. */
static int pretend(husk_session *session, const void *data, size_t size,
		   const struct husk_call *call, husk_result **ret)
{
	unsigned how = size > 0 ? *(const unsigned char *)data : 0;
	husk_result *result = calloc(1, sizeof(*result));

	require(result != NULL);
	require(call->timeout_ms <= CEILING_MS);
	require(call->cancel != NULL);
	result->outcome.out = result->outcome.err = BUFFER_INIT(1 << 24);
	require(buffer_add(&result->outcome.out, data, size) == 0);
	if (call->stdin_kind == HUSK_STDIN_DATA)
		require(buffer_add(&result->outcome.err, call->stdin_data,
				   call->stdin_size) == 0);
	if (call->on_output)
		(void)call->on_output(call->user, 1, data, size);
	result->verdict.exit_code = (int)how;
	result->verdict.fault = (enum fault)(how < 128 ? 0 : how % (FAULT_CANCELLED + 1));
	require(husk_session_list(session, "", &result->changes, NULL) == 0);
	for (size_t i = 0; i < husk_listing_count(result->changes); i++)
		((struct listing_entry *)(void *)result->changes->entries.data)[i]
		    .change = HUSK_FILE_CREATED;
	*ret = result;
	return 0;
}

int __wrap_husk_session_run(husk_session *session, const char *const *argv,
			    const struct husk_call *call, husk_result **ret,
			    struct husk_error *err)
{
	(void)err;
	return pretend(session, argv[0], strlen(argv[0]), call, ret);
}

int __wrap_husk_session_run_code(husk_session *session, const char *language,
				 const char *code, size_t size,
				 const struct husk_call *call, husk_result **ret,
				 struct husk_error *err)
{
	(void)err;
	require(language != NULL);
	return pretend(session, code, size, call, ret);
}

static int memory_file(const void *data, size_t size)
{
	int fd = memfd_create("husk-fuzz", MFD_CLOEXEC);

	require(fd >= 0 && fd_write_all(fd, data, size) == 0);
	require(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

/* -- the answers -------------------------------------------------------------------- */

/* A client that uses an id twice gets as many answers. */
static size_t times_asked(const uint8_t *data, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += data[i] == '{' || data[i] == '\n';
	return count + 1;
}

static size_t check_message(const json_t *message)
{
	const json_t *id = json_object_get(message, "id");

	require(json_is_object(message));
	require(strcmp(json_string_value(json_object_get(message, "jsonrpc")), "2.0") ==
		0);
	if (json_object_get(message, "method")) {
		require(id == NULL);
		return 0;
	}
	require(id != NULL);
	require((json_object_get(message, "result") != NULL) !=
		(json_object_get(message, "error") != NULL));
	return 1;
}

static size_t check_line(const char *line, size_t size)
{
	json_t *all =
	    json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	size_t answers = 0;

	require(size < MCP_MAX_OUT && all != NULL);
	if (json_is_array(all)) {
		size_t i;
		json_t *one;

		require(json_array_size(all) > 0);
		json_array_foreach(all, i, one)
		{
			answers += check_message(one);
		}
	} else {
		answers = check_message(all);
	}
	json_decref(all);
	return answers;
}

static void check_output(int fd, size_t most)
{
	struct stat st;
	size_t answers = 0;
	char *text, *at;

	require(fstat(fd, &st) == 0);
	if (st.st_size == 0)
		return;
	text = malloc((size_t)st.st_size);
	require(text != NULL);
	require(pread(fd, text, (size_t)st.st_size, 0) == st.st_size);
	require(text[st.st_size - 1] == '\n');
	for (at = text; at < text + st.st_size;) {
		char *end = memchr(at, '\n', (size_t)(text + st.st_size - at));

		answers += check_line(at, (size_t)(end - at));
		at = end + 1;
	}
	require(answers <= most);
	free(text);
}

/* -- the server --------------------------------------------------------------------- */

static void serve(struct mcp *mcp)
{
	struct husk_error err = {0};

	require(mcp_place_open(mcp, &err) == 0);
	require(mcp_serve(mcp) == 0);
	mcp_calls_end(mcp, false);
	require(mcp->calls == NULL);
	mcp_listen_end(mcp);
	mcp_place_leave(mcp, mcp->place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FD int in = memory_file(data, size);
	CLEANUP_FD int out = memory_file(NULL, 0);
	struct cli_settings settings;
	struct mcp mcp = {.settings = &settings};

	cli_settings_init(&settings);
	settings.box.timeout_ms = CEILING_MS;
	settings.box.limits = HUSK_LIMITS_BEST_EFFORT;
	mcp_wire_init(&mcp.wire, in, out);
	pthread_mutex_init(&mcp.lock, NULL);
	pthread_cond_init(&mcp.idle, NULL);
	serve(&mcp);
	pthread_cond_destroy(&mcp.idle);
	pthread_mutex_destroy(&mcp.lock);
	mcp_wire_deinit(&mcp.wire);
	cli_settings_deinit(&settings);
	check_output(out, times_asked(data, size));
	return 0;
}
