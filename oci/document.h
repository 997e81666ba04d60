/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that strangers wrote: read strictly and within bounds, and looked into with words
 * for what is wrong. */
#ifndef OCI_DOCUMENT_H
#define OCI_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Where to put what is wrong: the document's name for messages, and the error. */
struct document {
	const char *where;
	struct husk_error *err;
};

/* Read an object. Refused: more than OCI_MAX_DOCUMENT bytes, OCI_MAX_JSON_DEPTH levels or
 * OCI_MAX_JSON_VALUES values; a key twice; what is not UTF-8; half a surrogate pair; a
 * NUL; a number out of range; anything behind the object. *ret is the caller's. */
int document_load(const struct document *document, const char *data, size_t size,
		  json_t **ret);

static inline void document_free(json_t **json)
{
	json_decref(*json);
	*json = NULL;
}
#define CLEANUP_JSON __attribute__((cleanup(document_free)))

/* HUSK_E_IMAGE, "AT: why"; at is a place in the document ("layers[3]") or "". */
int document_fail(const struct document *document, const char *at, const char *fmt, ...)
    PRINTF(3, 4);

/* A member that is there and not null, or NULL. */
json_t *document_get(const json_t *object, const char *key);

/* A member that is an object, an array or a string, or is not there (*ret is NULL). at is
 * the object's place. */
int document_object(const struct document *document, const char *at, const json_t *object,
		    const char *key, json_t **ret);
int document_array(const struct document *document, const char *at, const json_t *object,
		   const char *key, json_t **ret);
int document_string(const struct document *document, const char *at, const json_t *object,
		    const char *key, const char **ret);
/* Copied; "" where it is not there; refused where it does not fit. */
int document_text(const struct document *document, const char *at, const json_t *object,
		  const char *key, char *out, size_t capacity);

/* No member of the object may be one of names (NULL-terminated) but for its case: there
 * are readers that would take it. */
int document_check_case(const struct document *document, const char *at,
			const json_t *object, const char *const *names);

#endif
