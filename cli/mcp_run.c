/* SPDX-License-Identifier: Apache-2.0 */
/* run_code and run_command: one box, and its result for a model to read. */
#include "cli/mcp_call.h"

#include "cli/mcp_answer.h"

#include <string.h>

enum { COMMAND_WORDS = 4096 };

static int saw(void *user, int stream, const void *data, size_t size)
{
	(void)stream;
	mcp_call_saw(user, data, size);
	return 0;
}

/* The settings of the call, or why it cannot be made. */
static json_t *fill(struct mcp_call *call, struct husk_call *box)
{
	const json_t *stdin_text = json_object_get(call->arguments, "stdin");
	const json_t *seconds = json_object_get(call->arguments, "timeout_s");
	uint64_t ceiling_ms = call->request.mcp->settings->box.timeout_ms;
	double asked_ms = json_number_value(seconds) * 1000;

	if (ceiling_ms == 0)
		ceiling_ms = 30000;
	if (seconds && asked_ms > (double)ceiling_ms)
		return mcp_failed("timeout_s: %g is more than this server allows, which "
				  "is %g",
				  asked_ms / 1000, (double)ceiling_ms / 1000);
	if (seconds)
		box->timeout_ms = asked_ms < 1 ? 1 : (uint64_t)asked_ms;
	if (stdin_text) {
		box->stdin_kind = HUSK_STDIN_DATA;
		box->stdin_data = json_string_value(stdin_text);
		box->stdin_size = json_string_length(stdin_text);
	}
	box->cancel = call->cancel;
	box->on_output = saw;
	box->user = call;
	return NULL;
}

static json_t *finish(struct mcp_call *call, int r, husk_result *result,
		      const struct husk_error *err)
{
	json_t *answer = r < 0 ? mcp_failed_by(err) : mcp_answer(call, result);

	if (r == 0 && husk_result_file_count(result) > 0)
		mcp_files_changed(call->request.mcp);
	(void)husk_result_free(result);
	return answer;
}

json_t *mcp_run_code(struct mcp_call *call)
{
	const json_t *code = json_object_get(call->arguments, "code");
	const char *language =
	    json_string_value(json_object_get(call->arguments, "language"));
	husk_result *result = NULL;
	struct husk_error err = {0};
	HUSK_CALL(box);
	json_t *refused = fill(call, &box);
	int r;

	if (refused)
		return refused;
	r = husk_session_run_code(call->place->session, language ? language : "python",
				  json_string_value(code), json_string_length(code), &box,
				  &result, &err);
	return finish(call, r, result, &err);
}

json_t *mcp_run_command(struct mcp_call *call)
{
	json_t *words = json_object_get(call->arguments, "command"), *word;
	const char *argv[COMMAND_WORDS + 1];
	husk_result *result = NULL;
	struct husk_error err = {0};
	size_t i;
	HUSK_CALL(box);
	json_t *refused = fill(call, &box);
	int r;

	if (refused)
		return refused;
	if (json_array_size(words) > COMMAND_WORDS)
		return mcp_failed("command: more than %d words", COMMAND_WORDS);
	json_array_foreach(words, i, word)
	{
		argv[i] = json_string_value(word);
	}
	argv[json_array_size(words)] = NULL;
	r = husk_session_run(call->place->session, argv, &box, &result, &err);
	return finish(call, r, result, &err);
}
