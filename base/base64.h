/* SPDX-License-Identifier: Apache-2.0 */
/* Base64, RFC 4648 section 4. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

#include "base/buffer.h"

/* Append the encoding of data. 0 or -errno. */
int base64_add(struct buffer *to, const void *data, size_t size);
/* Append what text encodes. 0 or -errno; -EINVAL where it is not base64, with its
 * padding and nothing else. */
int base64_read(struct buffer *to, const char *text);

#endif
