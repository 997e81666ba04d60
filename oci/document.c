/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/document.h"

#include "base/json_read.h"
#include "base/memory.h"
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

/* The bounds that have to hold before the parser sees anything: it recurses, and it
 * allocates for each value. Whether the rest is JSON is the parser's affair. */
static int check_bounds(const struct document *document, const char *data, size_t size)
{
	size_t depth = 0, values = 1;

	for (size_t at = 0; at < size; at++) {
		const char c = data[at];

		if (c == '"')
			at = json_string_end(data, size, at + 1);
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

int document_load(const struct document *document, const char *data, size_t size,
		  json_t **ret)
{
	CLEANUP_JSON json_t *json = NULL;
	char why[JSON_ERROR_TEXT_LENGTH * 2];
	json_error_t error = {0};
	int rc;

	if (size > OCI_MAX_DOCUMENT)
		return error_set(document->err, HUSK_E_TOO_BIG, document->where,
				 "the document has %zu bytes, and at most %zu are taken",
				 size, (size_t)OCI_MAX_DOCUMENT);
	rc = check_bounds(document, data, size);
	if (rc < 0)
		return rc;
	rc = json_read(data, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &json,
		       &error);
	if (rc == -ENOMEM)
		return error_oom(document->err, document->where);
	if (rc < 0)
		return document_fail(document, "",
				     "is not JSON as it must be: %s (line %d)",
				     printable(why, sizeof(why), error.text), error.line);
	if (!json_is_object(json))
		return document_fail(document, "", "is not a JSON object");
	*ret = TAKE_PTR(json);
	return 0;
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
