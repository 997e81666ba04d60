/* SPDX-License-Identifier: Apache-2.0 */
/* Passwords and tokens on the heap: overwritten when they go. */
#ifndef OCI_SECRET_H
#define OCI_SECRET_H

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

static inline char *secret_free(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
	return NULL;
}

static inline void secret_free_ptr(void *ptr)
{
	*(char **)ptr = secret_free(*(char **)ptr);
}
#define CLEANUP_SECRET __attribute__((cleanup(secret_free_ptr)))

/* Frees a buffer that held one. */
static inline void secret_buffer_deinit(struct buffer *buffer)
{
	if (buffer->data)
		explicit_bzero(buffer->data, buffer->capacity);
	buffer_deinit(buffer);
}
#define CLEANUP_SECRET_BUFFER __attribute__((cleanup(secret_buffer_deinit)))

#endif
