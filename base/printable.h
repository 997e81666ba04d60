/* SPDX-License-Identifier: Apache-2.0 */
/* Text of unknown origin made fit for a message: a file name that a box chose must not be
 * able to move the reader's cursor, retitle a terminal or turn the text around. */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stddef.h>

/* Copy text into out (capacity bytes, at least 8, with the NUL). Control bytes,
 * backslashes, bytes that are not UTF-8, and the characters that change the direction of
 * writing become \n, \t or \xNN. What does not fit is cut at a whole character and ends
 * in "...". Returns out. */
const char *printable(char *out, size_t capacity, const char *text);

#endif
