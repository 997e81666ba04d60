/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of unknown origin as UTF-8 text. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* The length of the well-formed sequence at data (size is at least 1); negative: that of
 * the maximal ill-formed part. */
int utf8_sequence(const char *data, size_t size);

/* Is this well-formed UTF-8 (Unicode 15, table 3-7: no overlong forms, no surrogates)? */
bool utf8_valid(const char *data, size_t size);

/* Append data with each maximal ill-formed part replaced by U+FFFD, as Unicode 15,
 * section 3.9 recommends and Python's errors="replace" does. 0 or -errno. */
int utf8_replace(struct buffer *to, const char *data, size_t size);

#endif
