/* SPDX-License-Identifier: Apache-2.0 */
/* For targets whose input is a list of things: taking it apart from the front. */
#ifndef TESTS_FUZZ_CURSOR_H
#define TESTS_FUZZ_CURSOR_H

#include "tests/fuzz/fuzz.h"

#include <string.h>

struct cursor {
	const uint8_t *data;
	size_t size;
};

/* 0 at the end. */
static inline unsigned cursor_byte(struct cursor *c)
{
	if (c->size == 0)
		return 0;
	c->size--;
	return *c->data++;
}

static inline unsigned cursor_word(struct cursor *c)
{
	unsigned high = cursor_byte(c);

	return high << 8 | cursor_byte(c);
}

/* All up to the next newline, or to the end, as a string; heap. */
static inline char *cursor_line(struct cursor *c)
{
	const uint8_t *end = c->size > 0 ? memchr(c->data, '\n', c->size) : NULL;
	size_t size = end ? (size_t)(end - c->data) : c->size;
	char *line = malloc(size + 1);

	require(line != NULL);
	if (size > 0)
		memcpy(line, c->data, size);
	line[size] = '\0';
	size += end != NULL;
	c->data += size;
	c->size -= size;
	return line;
}

/* The rest, as a string; heap. */
static inline char *cursor_rest(struct cursor *c)
{
	char *rest = malloc(c->size + 1);

	require(rest != NULL);
	if (c->size > 0)
		memcpy(rest, c->data, c->size);
	rest[c->size] = '\0';
	c->data += c->size;
	c->size = 0;
	return rest;
}

#endif
