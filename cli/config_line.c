/* SPDX-License-Identifier: Apache-2.0 */
/* Where a key stands: jansson knows lines of syntax errors only. The text has been parsed
 * already, but nothing here relies on that. */
#include "cli/config.h"

#include <string.h>

struct scan {
	const char *at, *end;
	unsigned line;
};

static char now(const struct scan *scan)
{
	return scan->at < scan->end ? *scan->at : '\0';
}

static void step(struct scan *scan)
{
	if (scan->at == scan->end)
		return;
	if (*scan->at == '\n')
		scan->line++;
	scan->at++;
}

static void skip_blanks(struct scan *scan)
{
	while (scan->at < scan->end && strchr(" \t\r\n", *scan->at) && *scan->at != '\0')
		step(scan);
}

/* From one quotation mark past the other. */
static void skip_string(struct scan *scan)
{
	step(scan);
	while (scan->at < scan->end && *scan->at != '"') {
		if (*scan->at == '\\')
			step(scan);
		step(scan);
	}
	step(scan);
}

static void skip_value(struct scan *scan)
{
	size_t depth = 0;

	while (scan->at < scan->end) {
		char c = *scan->at;

		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			return;
		if (c == '"') {
			skip_string(scan);
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
		step(scan);
	}
}

/* A key may be written with escapes. */
static bool is_key(const char *token, size_t size, const char *key)
{
	json_t *text;
	bool same;

	if (!memchr(token, '\\', size))
		return size == strlen(key) + 2 && memcmp(token + 1, key, size - 2) == 0;
	text = json_loadb(token, size, JSON_DECODE_ANY, NULL);
	same = text && strcmp(json_string_value(text), key) == 0;
	json_decref(text);
	return same;
}

/* From an object to the value of one of its keys; the key's line, or 0. */
static unsigned enter(struct scan *scan, const char *key)
{
	skip_blanks(scan);
	if (now(scan) != '{')
		return 0;
	do {
		const char *token;
		unsigned line;
		bool same;

		step(scan);
		skip_blanks(scan);
		token = scan->at;
		line = scan->line;
		if (now(scan) != '"')
			return 0;
		skip_string(scan);
		same = is_key(token, (size_t)(scan->at - token), key);
		skip_blanks(scan);
		if (now(scan) != ':')
			return 0;
		step(scan);
		if (same)
			return line;
		skip_value(scan);
	} while (now(scan) == ',');
	return 0;
}

unsigned cli_config_line(const char *text, size_t size, const char *const *keys,
			 size_t depth)
{
	struct scan scan = {.at = text, .end = text + size, .line = 1};
	unsigned line = 0;

	for (size_t i = 0; i < depth; i++) {
		line = enter(&scan, keys[i]);
		if (line == 0)
			return 0;
	}
	return line;
}
