/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What stands before the document when it is parsed: a string as long as its longest
 * part, and a new line. */
#define FRAME_BEGIN "[\""
#define FRAME_NEXT  "\",\n"
#define FRAME_END   "]"

size_t json_string_end(const char *data, size_t size, size_t at)
{
	for (; at < size && data[at] != '"'; at++) {
		if (data[at] == '\\')
			at++;
	}
	return at < size ? at : size;
}

/* The size of the longest string, number or word, or more. */
static size_t longest_part(const char *data, size_t size)
{
	size_t longest = 0, begin = 0;

	for (size_t at = 0; at < size; at++) {
		const char c = data[at];

		if (!strchr("{}[],:\" \t\r\n", c) || c == '\0')
			continue;
		if (c == '"')
			at = json_string_end(data, size, at + 1);
		longest = at - begin > longest ? at - begin : longest;
		begin = at;
	}
	return size - begin > longest && begin < size ? size - begin : longest;
}

static char *put(char *to, const char *data, size_t size)
{
	memcpy(to, data, size);
	return to + size;
}

/* Jansson 2.14 passes over a character of a string or a number when the buffer that it
 * collects them in cannot grow (lex_save ignores the failure): without memory a document
 * would be read as another one. So a string goes before it that makes the buffer large
 * enough for every other; where that one comes out whole, all do. */
static json_t *load_framed(const char *data, size_t size, size_t longest, size_t flags)
{
	size_t whole =
	    sizeof(FRAME_BEGIN) + longest + sizeof(FRAME_NEXT) + size + sizeof(FRAME_END);
	char *framed = malloc(whole), *to = framed;
	json_t *frame;

	if (!framed)
		return NULL;
	to = put(to, FRAME_BEGIN, sizeof(FRAME_BEGIN) - 1);
	memset(to, 'x', longest);
	to = put(to + longest, FRAME_NEXT, sizeof(FRAME_NEXT) - 1);
	if (size > 0)
		to = put(to, data, size);
	to = put(to, FRAME_END, sizeof(FRAME_END) - 1);
	frame = json_loadb(framed, (size_t)(to - framed), flags, NULL);
	explicit_bzero(framed, whole);
	free(framed);
	return frame;
}

/* The document in its frame, where the frame came out whole. */
static json_t *unframe(const json_t *frame, size_t longest, size_t flags)
{
	json_t *document = json_array_get(frame, 1);

	if (json_array_size(frame) != 2 ||
	    json_string_length(json_array_get(frame, 0)) != longest)
		return NULL;
	if (!(flags & JSON_DECODE_ANY) && !json_is_object(document) &&
	    !json_is_array(document))
		return NULL;
	return json_incref(document);
}

int json_read(const char *data, size_t size, size_t flags, json_t **ret,
	      json_error_t *ret_wrong)
{
	size_t longest = longest_part(data, size) + 2;
	json_t *frame, *document;

	errno = 0;
	frame = load_framed(data, size, longest, flags);
	document = unframe(frame, longest, flags);
	json_decref(frame);
	if (document) {
		*ret = document;
		return 0;
	}
	if (errno == ENOMEM)
		return -ENOMEM;
	/* What is wrong with it is told best without the frame. What nothing is wrong
	 * with failed for want of memory, which jansson does not always tell. */
	document = json_loadb(data ? data : "", size, flags, ret_wrong);
	if (!document && errno != ENOMEM)
		return -EINVAL;
	json_decref(document);
	return -ENOMEM;
}
