/* SPDX-License-Identifier: Apache-2.0 */
/* Tar archives made by hand, block by block, also such as no tool would write. */
#ifndef TESTS_UNIT_OCI_TAPE_H
#define TESTS_UNIT_OCI_TAPE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

#define TAPE_INIT BUFFER_INIT((size_t)4 << 30)
enum { TAPE_MTIME = 1000000000 };

/* What a header says; what is not given is as tar would have it. */
struct tape_header {
	const char *name;
	char type;
	unsigned mode;
	uint64_t size;
	const char *link;
	const char *raw_size;  /* the field itself, 12 bytes */
	const char *raw_mtime; /* the same */
	const char *magic;     /* 8 bytes; NULL: POSIX's */
	const char *prefix;
	int sum_off; /* added to the checksum */
};

static inline void tape_bytes(struct buffer *tape, const void *data, size_t size)
{
	assert_int_equal(buffer_add(tape, data, size), 0);
}

static inline void tape_pad(struct buffer *tape)
{
	static const char zeros[512];

	if (tape->size % 512)
		tape_bytes(tape, zeros, 512 - tape->size % 512);
}

static inline void tape_text(char *to, size_t size, const char *text)
{
	memcpy(to, text, strnlen(text, size));
}

static inline void tape_header(struct buffer *tape, const struct tape_header *h)
{
	char block[512] = {0};
	unsigned sum = 0;

	tape_text(block, 100, h->name);
	(void)snprintf(block + 100, 8, "%07o", h->mode);
	(void)snprintf(block + 108, 8, "%07o", 0U);
	(void)snprintf(block + 116, 8, "%07o", 0U);
	(void)snprintf(block + 124, 12, "%011llo", (unsigned long long)h->size);
	if (h->raw_size)
		memcpy(block + 124, h->raw_size, 12);
	(void)snprintf(block + 136, 12, "%011o", (unsigned)TAPE_MTIME);
	if (h->raw_mtime)
		memcpy(block + 136, h->raw_mtime, 12);
	memset(block + 148, ' ', 8);
	block[156] = h->type;
	if (h->link)
		tape_text(block + 157, 100, h->link);
	memcpy(block + 257, h->magic ? h->magic : "ustar\00000", 8);
	if (h->prefix)
		tape_text(block + 345, 155, h->prefix);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)block[i];
	(void)snprintf(block + 148, 8, "%06o", sum + (unsigned)h->sum_off);
	tape_bytes(tape, block, 512);
}

/* An entry with its content. */
static inline void tape_add(struct buffer *tape, const char *name, char type,
			    unsigned mode, const char *link, const char *content)
{
	struct tape_header h = {.name = name, .type = type, .mode = mode, .link = link};

	h.size = content ? strlen(content) : 0;
	tape_header(tape, &h);
	if (content)
		tape_bytes(tape, content, strlen(content));
	tape_pad(tape);
}

static inline void tape_file(struct buffer *tape, const char *name, const char *content)
{
	tape_add(tape, name, '0', 0644, NULL, content);
}

static inline void tape_dir(struct buffer *tape, const char *name, unsigned mode)
{
	tape_add(tape, name, '5', mode, NULL, NULL);
}

static inline void tape_link(struct buffer *tape, const char *name, const char *target)
{
	tape_add(tape, name, '2', 0777, target, NULL);
}

static inline void tape_hard(struct buffer *tape, const char *name, const char *target)
{
	tape_add(tape, name, '1', 0644, target, NULL);
}

/* A record of a type that carries data before the entry that it is about. */
static inline void tape_extra(struct buffer *tape, char type, const void *data,
			      size_t size)
{
	struct tape_header h = {
	    .name = "././@extra", .type = type, .mode = 0644, .size = size};

	tape_header(tape, &h);
	tape_bytes(tape, data, size);
	tape_pad(tape);
}

/* One pax record as it has to be, its own length in front. */
static inline void pax_add(struct buffer *to, const char *key, const char *value,
			   size_t size)
{
	size_t rest = strlen(key) + size + 3, length = rest + 1;
	char digits[24];

	while ((size_t)snprintf(digits, sizeof(digits), "%zu", length) + rest != length)
		length++;
	assert_int_equal(buffer_addf(to, "%zu %s=", length, key), 0);
	assert_int_equal(buffer_add(to, value, size), 0);
	assert_int_equal(buffer_add(to, "\n", 1), 0);
}

/* A pax header of one record. */
static inline void tape_pax(struct buffer *tape, const char *key, const char *value)
{
	struct buffer record = TAPE_INIT;

	pax_add(&record, key, value, strlen(value));
	tape_extra(tape, 'x', record.data, record.size);
	buffer_deinit(&record);
}

static inline void tape_end(struct buffer *tape)
{
	static const char zeros[1024];

	tape_bytes(tape, zeros, sizeof(zeros));
}

#endif
