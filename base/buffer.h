/* SPDX-License-Identifier: Apache-2.0 */
/* A byte buffer that grows up to a maximum that its owner names. No buffer is without
 * one. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdarg.h>
#include <stddef.h>

struct buffer {
	char *data;	 /* heap; always followed by a NUL that is not counted in size */
	size_t size;	 /* bytes in use */
	size_t capacity; /* bytes allocated, without the NUL */
	size_t max;	 /* size never passes this */
};

#define BUFFER_INIT(maximum)     \
	(struct buffer)          \
	{                        \
		.max = (maximum) \
	}

/* Release the memory; the buffer is empty and usable again. */
void buffer_deinit(struct buffer *buffer);
#define CLEANUP_BUFFER __attribute__((cleanup(buffer_deinit)))

/* Append; all or nothing. 0, -ENOMEM, or -EFBIG where max would be passed. */
int buffer_add(struct buffer *buffer, const void *data, size_t size);
int buffer_add_text(struct buffer *buffer, const char *text);
int buffer_addf(struct buffer *buffer, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Make room for at least `size` more bytes (within max) and return where they go; the
 * caller adds what it wrote to size. NULL on -ENOMEM or where max would be passed. */
char *buffer_reserve(struct buffer *buffer, size_t size);

#endif
