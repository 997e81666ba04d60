/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <errno.h>
#include <stdint.h>

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_add(struct buffer *to, const void *data, size_t size)
{
	const unsigned char *in = data;
	size_t need = (size / 3 + (size % 3 != 0)) * 4;
	char *out;

	if (size > SIZE_MAX / 2 || need > to->max - to->size)
		return -EFBIG;
	out = buffer_reserve(to, need);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t v = (uint32_t)in[i] << 16;

		if (left > 1)
			v |= (uint32_t)in[i + 1] << 8;
		if (left > 2)
			v |= in[i + 2];
		*out++ = digits[v >> 18];
		*out++ = digits[v >> 12 & 63];
		*out++ = left > 1 ? digits[v >> 6 & 63] : '=';
		*out++ = left > 2 ? digits[v & 63] : '=';
	}
	to->size += need;
	to->data[to->size] = '\0';
	return 0;
}
