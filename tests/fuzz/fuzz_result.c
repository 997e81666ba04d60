/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: what a box says, in the answers that husk makes of it. The input, cut in
 * parts by newlines, is what a box printed, the name of a file and the words of a fault;
 * it is also what a credential helper printed, base64, a text for a terminal, and a user
 * that is looked up in a password file of the same bytes.
 *
 * The JSON of a result is one that another reader takes, with the same bytes in it.
 */
#include "tests/fuzz/cursor.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "oci/credential_program.h"
#include "session/result.h"

/* The bytes of a stream, from its text where that is exact, else from its base64. */
static void check_stream(const json_t *root, const char *name, const struct buffer *want)
{
	struct buffer got = BUFFER_INIT(1 << 24);
	char key[16];
	const json_t *text = json_object_get(root, name), *coded;

	(void)snprintf(key, sizeof(key), "%s_b64", name);
	coded = json_object_get(root, key);
	require(json_is_string(text));
	require((coded == NULL) == utf8_valid(want->data, want->size));
	if (coded)
		require(base64_read(&got, json_string_value(coded)) == 0);
	else
		require(buffer_add(&got, json_string_value(text),
				   json_string_length(text)) == 0);
	require(got.size == want->size);
	require(got.size == 0 || memcmp(got.data, want->data, got.size) == 0);
	buffer_deinit(&got);
}

static void use_result(const uint8_t *data, size_t size)
{
	struct cursor c = {data, size};
	husk_result *result = calloc(1, sizeof(*result));
	char *json = NULL, *line;
	json_t *root;

	require(result != NULL);
	result->outcome.out = result->outcome.err = BUFFER_INIT(1 << 24);
	result->verdict.fault = (enum fault)(cursor_byte(&c) % (FAULT_CANCELLED + 1));
	result->verdict.exit_code = (int)cursor_byte(&c);
	line = cursor_line(&c);
	(void)snprintf(result->verdict.message, sizeof(result->verdict.message), "%s",
		       line);
	free(line);
	line = cursor_line(&c);
	(void)snprintf(result->verdict.detail, sizeof(result->verdict.detail), "%s",
		       line);
	(void)snprintf(result->hint, sizeof(result->hint), "%s", line);
	free(line);
	require(buffer_add(&result->outcome.out, c.data, c.size) == 0);
	require(buffer_add(&result->outcome.err, data, size) == 0);
	require(husk_result_to_json(result, &json, NULL) == 0);
	root = json_loads(json, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	require(root != NULL);
	check_stream(root, "stdout", &result->outcome.out);
	check_stream(root, "stderr", &result->outcome.err);
	json_decref(root);
	free(json);
	(void)husk_result_free(result);
}

static void use_helper(const uint8_t *data, size_t size)
{
	for (int status = -1; status <= 1; status++) {
		struct credentials found = {0};
		struct husk_error err = {0};
		int r = helper_parse("docker-credential-x", (const char *)data, size,
				     status, &found, &err);

		if (r < 0)
			require_refusal(r, &err);
		else
			require(!found.user == !found.password);
		credentials_deinit(&found);
	}
}

static void use_text(const uint8_t *data, size_t size)
{
	struct cursor c = {data, size};
	struct buffer bytes = BUFFER_INIT(1 << 24), again = BUFFER_INIT(1 << 24);
	char *text = cursor_rest(&c);

	/* The bits that the last character has too many may be anything: they are lost.
	 */
	if (base64_read(&bytes, text) == 0) {
		require(base64_add(&again, bytes.data, bytes.size) == 0);
		require(again.size == strlen(text));
		bytes.size = 0;
		require(again.size == 0 || base64_read(&bytes, again.data) == 0);
	}
	buffer_deinit(&bytes);
	buffer_deinit(&again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	use_result(data, size);
	use_helper(data, size);
	use_text(data, size);
	return 0;
}
