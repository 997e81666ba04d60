/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/document.h"

#include "base/buffer.h"
#include "base/printable.h"
#include "oci/bounds.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

int document_fail(const struct document *document, const char *at, const char *fmt, ...)
{
	char why[sizeof(document->err->message)];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return error_set(document->err, HUSK_E_IMAGE, document->where, "%s%s%s", at,
			 *at ? ": " : "", why);
}

/* -- reading -- */

/* The end of the string that begins after a quote; the end of the data where it has
 * none. */
static size_t skip_string(const char *data, size_t size, size_t at)
{
	for (; at < size && data[at] != '"'; at++) {
		if (data[at] == '\\')
			at++;
	}
	return at;
}

/* The bounds that have to hold before the parser sees anything: it recurses, and it
 * allocates for each value. Whether the rest is JSON is the parser's affair. *ret_longest
 * is the size of the longest string, number or word, or more. */
static int check_bounds(const struct document *document, const char *data, size_t size,
			size_t *ret_longest)
{
	size_t depth = 0, values = 1, begin = 0;

	*ret_longest = 0;
	for (size_t at = 0; at < size; at++) {
		const char c = data[at];

		if (!strchr("{}[],:\" \t\r\n", c) || c == '\0')
			continue;
		if (c == '"')
			at = skip_string(data, size, at + 1);
		*ret_longest = at - begin > *ret_longest ? at - begin : *ret_longest;
		begin = at;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && depth > 0)
			depth--;
		if (c == '{' || c == '[' || c == ',')
			values++;
		if (depth > OCI_MAX_JSON_DEPTH)
			return document_fail(document, "",
					     "the document is nested deeper than the %d "
					     "levels that are taken",
					     OCI_MAX_JSON_DEPTH);
		if (values > OCI_MAX_JSON_VALUES)
			return document_fail(document, "",
					     "the document has more than the %d values "
					     "that are taken",
					     OCI_MAX_JSON_VALUES);
	}
	return 0;
}

/* What stands before the document when it is parsed: a string as long as its longest
 * part, and a new line. */
#define FRAME_BEGIN "[\""
#define FRAME_NEXT  "\",\n"
#define FRAME_END   "]"

/* Jansson 2.14 passes over a character of a string or a number when the buffer that it
 * collects them in cannot grow (lex_save ignores the failure): without memory a document
 * would be read as another one. So a string goes before it that makes the buffer large
 * enough for every other; where that one comes out whole, all do. */
static int add_frame(struct buffer *framed, const char *data, size_t size, size_t longest)
{
	char *at;
	int rc = buffer_add_text(framed, FRAME_BEGIN);

	if (rc < 0)
		return rc;
	at = buffer_reserve(framed, longest);
	if (!at)
		return -ENOMEM;
	memset(at, 'x', longest);
	framed->size += longest;
	rc = buffer_add_text(framed, FRAME_NEXT);
	if (rc == 0)
		rc = buffer_add(framed, data, size);
	return rc < 0 ? rc : buffer_add_text(framed, FRAME_END);
}

/* What the parser says is wrong. It does not always tell that it had no memory. */
static int not_json(const struct document *document, const json_error_t *error)
{
	char why[JSON_ERROR_TEXT_LENGTH * 2];

	if (errno == ENOMEM)
		return error_oom(document->err, document->where);
	return document_fail(document, "", "is not JSON as it must be: %s (line %d)",
			     printable(why, sizeof(why), error->text), error->line - 1);
}

/* Take the document out of its frame. */
static int unframe(const struct document *document, const json_t *frame, size_t longest,
		   json_t **ret)
{
	if (json_string_length(json_array_get(frame, 0)) != longest)
		return error_oom(document->err, document->where);
	if (json_array_size(frame) != 2)
		return document_fail(document, "",
				     "is not JSON as it must be: more than one value");
	if (!json_is_object(json_array_get(frame, 1)))
		return document_fail(document, "", "is not a JSON object");
	*ret = json_incref(json_array_get(frame, 1));
	return 0;
}

int document_load(const struct document *document, const char *data, size_t size,
		  json_t **ret)
{
	CLEANUP_BUFFER struct buffer framed = BUFFER_INIT(2 * OCI_MAX_DOCUMENT + 64);
	CLEANUP_JSON json_t *frame = NULL;
	json_error_t error = {0};
	size_t longest;
	int rc;

	if (size > OCI_MAX_DOCUMENT)
		return error_set(document->err, HUSK_E_TOO_BIG, document->where,
				 "the document has %zu bytes, and at most %zu are taken",
				 size, (size_t)OCI_MAX_DOCUMENT);
	rc = check_bounds(document, data, size, &longest);
	if (rc < 0)
		return rc;
	if (add_frame(&framed, data, size, longest + 2) < 0)
		return error_oom(document->err, document->where);
	errno = 0;
	frame = json_loadb(framed.data, framed.size, JSON_REJECT_DUPLICATES, &error);
	if (!frame)
		return not_json(document, &error);
	return unframe(document, frame, longest + 2, ret);
}

/* -- looking into it -- */

json_t *document_get(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

/* A member of a type, or none. */
static int get(const struct document *document, const char *at, const json_t *object,
	       const char *key, json_type type, json_t **ret)
{
	static const char *const words[] = {
	    [JSON_OBJECT] = "an object",
	    [JSON_ARRAY] = "an array",
	    [JSON_STRING] = "a string",
	};
	json_t *value = document_get(object, key);

	if (value && json_typeof(value) != type)
		return document_fail(document, at, "%s is not %s", key, words[type]);
	*ret = value;
	return 0;
}

int document_object(const struct document *document, const char *at, const json_t *object,
		    const char *key, json_t **ret)
{
	return get(document, at, object, key, JSON_OBJECT, ret);
}

int document_array(const struct document *document, const char *at, const json_t *object,
		   const char *key, json_t **ret)
{
	return get(document, at, object, key, JSON_ARRAY, ret);
}

int document_string(const struct document *document, const char *at, const json_t *object,
		    const char *key, const char **ret)
{
	json_t *value = NULL;
	int rc = get(document, at, object, key, JSON_STRING, &value);

	if (rc == 0)
		*ret = json_string_value(value);
	return rc;
}

int document_text(const struct document *document, const char *at, const json_t *object,
		  const char *key, char *out, size_t capacity)
{
	const char *text = NULL;
	int rc = document_string(document, at, object, key, &text);

	if (rc < 0)
		return rc;
	if (text && strlen(text) >= capacity)
		return document_fail(document, at,
				     "%s has %zu bytes, and at most %zu are taken", key,
				     strlen(text), capacity - 1);
	(void)snprintf(out, capacity, "%s", text ? text : "");
	return 0;
}

int document_check_case(const struct document *document, const char *at,
			const json_t *object, const char *const *names)
{
	char shown[64];
	const char *key;
	json_t *value;

	/* jansson wants the object writable to walk it, and leaves it as it is. */
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		for (size_t i = 0; names[i]; i++) {
			if (strcasecmp(key, names[i]) != 0 || strcmp(key, names[i]) == 0)
				continue;
			return document_fail(document, at,
					     "has the key \"%s\", which some would take "
					     "for \"%s\" and others not",
					     printable(shown, sizeof(shown), key),
					     names[i]);
		}
	}
	return 0;
}
