/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON that holds much text of unknown origin: straight into a buffer, in one
 * pass and without a copy. (Small documents are made with jansson.) */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <stddef.h>

#include "base/buffer.h"

/* Append data as a JSON string with its quotes: UTF-8 as it is, what JSON cannot hold as
 * an escape, what is not UTF-8 as U+FFFD (as utf8_replace does). At most six bytes for
 * one. 0 or -errno. */
int json_text_add(struct buffer *to, const char *data, size_t size);

/* Append a member's name and colon, after a comma unless it is the first of its object.
 */
int json_text_key(struct buffer *to, const char *name);

#endif
