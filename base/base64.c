/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

/* Four digits, of which the last `pad` are "=". */
static int read_group(const char *group, unsigned pad, unsigned char out[3])
{
	uint32_t v = 0;

	for (unsigned i = 0; i < 4; i++) {
		const char *digit = i < 4 - pad ? strchr(digits, group[i]) : digits;

		if (!digit || *digit == '\0')
			return -EINVAL;
		v = v << 6 | (uint32_t)(digit - digits);
	}
	out[0] = (unsigned char)(v >> 16);
	out[1] = (unsigned char)(v >> 8);
	out[2] = (unsigned char)v;
	return 0;
}

int base64_read(struct buffer *to, const char *text)
{
	const size_t size = strlen(text), before = to->size;
	int rc = size % 4 == 0 ? 0 : -EINVAL;

	for (size_t i = 0; i < size && rc == 0; i += 4) {
		const bool last = i + 4 == size;
		unsigned pad = last && text[i + 3] == '=' ? 1 : 0;
		unsigned char bytes[3];

		if (pad && text[i + 2] == '=')
			pad = 2;
		rc = read_group(text + i, pad, bytes);
		if (rc == 0)
			rc = buffer_add(to, bytes, 3 - pad);
	}
	if (rc < 0 && to->data) {
		to->size = before;
		to->data[before] = '\0';
	}
	return rc;
}
