/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/events.h"

#include "cli/json_memory.h"

#include "cli/json_text.h"

#include <husk/options.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* So much of a stream comes in one line at most. */
enum { PIECE = 64 << 10 };

static int put(struct cli_events *events, json_t *event)
{
	char *text = cli_json_dump(event, JSON_COMPACT);
	size_t size;
	int r;

	json_decref(event);
	if (!text)
		return 1;
	size = strlen(text);
	text[size] = '\n'; /* in the place of the NUL */
	r = cli_relay_output(events->relay, HUSK_STDOUT, text, size + 1);
	free(text);
	return r;
}

int cli_events_start(struct cli_events *events, struct cli_relay *relay, const char *verb,
		     const char *name)
{
	json_t *event = json_pack("{s:s,s:s}", "event", "start", "verb", verb);

	*events = (struct cli_events){.relay = relay};
	if (name)
		(void)json_object_set_new(event, "name", json_string(name));
	return put(events, event);
}

static const char *name_of(int stream)
{
	return stream == HUSK_STDERR ? "stderr" : "stdout";
}

static int put_piece(struct cli_events *events, int stream, const char *data, size_t size)
{
	json_t *text = json_stringn(data, size), *event;
	bool exact = text != NULL;

	if (!text)
		text = cli_json_text(data, size);
	event = json_pack("{s:s,s:o}", "event", name_of(stream), "data", text);
	if (!exact)
		(void)json_object_set_new(event, "data_b64", cli_json_base64(data, size));
	return put(events, event);
}

/* How many bytes at the end are the beginning of a character whose rest is still to come:
 * 0 to 3 (Unicode 15, table 3-6). */
static size_t torn(const char *data, size_t size)
{
	for (size_t back = 1; back <= 3 && back <= size; back++) {
		unsigned char byte = (unsigned char)data[size - back];
		size_t needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;

		if (byte >= 0x80 && byte < 0xc0)
			continue; /* in the midst of one */
		return byte < 0xf5 && needs > back ? back : 0;
	}
	return 0;
}

static int put_all(struct cli_events *events, int stream, const char *data, size_t size)
{
	size_t keep = torn(data, size);
	int r = 0;

	size -= keep;
	memcpy(events->waiting[stream - 1].bytes, data + size, keep);
	events->waiting[stream - 1].size = keep;
	while (size > 0 && r == 0) {
		size_t piece = size < PIECE ? size : PIECE;

		if (piece < size)
			piece -= torn(data, piece);
		r = put_piece(events, stream, data, piece);
		data += piece;
		size -= piece;
	}
	return r;
}

int cli_events_output(void *user, int stream, const void *data, size_t size)
{
	struct cli_events *events = user;
	size_t before = events->waiting[stream - 1].size;
	char *joined;
	int r;

	if (before == 0)
		return put_all(events, stream, data, size);
	joined = malloc(before + size);
	if (!joined)
		return 1;
	memcpy(joined, events->waiting[stream - 1].bytes, before);
	memcpy(joined + before, data, size);
	r = put_all(events, stream, joined, before + size);
	free(joined);
	return r;
}

/* What waited for a rest that did not come. */
static int flush(struct cli_events *events, int stream)
{
	size_t size = events->waiting[stream - 1].size;

	events->waiting[stream - 1].size = 0;
	return size > 0
		   ? put_piece(events, stream, events->waiting[stream - 1].bytes, size)
		   : 0;
}

int cli_events_end(struct cli_events *events, const husk_result *result)
{
	struct husk_error err;
	char *text = NULL;
	json_t *fields = NULL;
	int r = flush(events, HUSK_STDOUT);

	if (r == 0)
		r = flush(events, HUSK_STDERR);
	if (r != 0 || husk_result_to_json(result, &text, &err) < 0)
		return 1;
	r = cli_json_read(text, strlen(text), JSON_ALLOW_NUL, &fields, NULL);
	free(text);
	if (r < 0)
		return 1;
	(void)json_object_del(fields, "stdout");
	(void)json_object_del(fields, "stderr");
	return put(events, json_pack("{s:s,s:o}", "event", "exit", "result", fields));
}
