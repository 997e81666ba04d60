/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

void buffer_deinit(struct buffer *buffer)
{
	free(buffer->data);
	buffer->data = NULL;
	buffer->size = 0;
	buffer->capacity = 0;
}

char *buffer_reserve(struct buffer *buffer, size_t size)
{
	size_t want, capacity = buffer->capacity;
	char *data;

	if (size > buffer->max - buffer->size)
		return NULL;
	want = buffer->size + size;
	if (buffer->data && want <= capacity)
		return buffer->data + buffer->size;
	if (capacity < FIRST_CAPACITY)
		capacity = FIRST_CAPACITY;
	while (capacity < want)
		capacity = capacity > buffer->max / 2 ? buffer->max : capacity * 2;
	data = realloc(buffer->data, capacity + 1);
	if (!data)
		return NULL;
	buffer->data = data;
	buffer->capacity = capacity;
	data[buffer->size] = '\0';
	return data + buffer->size;
}

int buffer_add(struct buffer *buffer, const void *data, size_t size)
{
	char *at;

	if (size > buffer->max - buffer->size)
		return -EFBIG;
	at = buffer_reserve(buffer, size);
	if (!at)
		return -ENOMEM;
	if (size > 0)
		memcpy(at, data, size);
	buffer->size += size;
	buffer->data[buffer->size] = '\0';
	return 0;
}

int buffer_add_text(struct buffer *buffer, const char *text)
{
	return buffer_add(buffer, text, strlen(text));
}

int buffer_addf(struct buffer *buffer, const char *fmt, ...)
{
	va_list ap;
	char *at;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -EINVAL;
	if ((size_t)n > buffer->max - buffer->size)
		return -EFBIG;
	at = buffer_reserve(buffer, (size_t)n);
	if (!at)
		return -ENOMEM;
	va_start(ap, fmt);
	(void)vsnprintf(at, (size_t)n + 1, fmt, ap);
	va_end(ap);
	buffer->size += (size_t)n;
	return 0;
}
