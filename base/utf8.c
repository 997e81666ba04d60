/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

int utf8_sequence(const char *text, size_t size)
{
	const unsigned char *data = (const unsigned char *)text;
	unsigned char first = data[0], low = 0x80, high = 0xbf;
	int length;

	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf) {
		length = 2;
	} else if (first >= 0xe0 && first <= 0xef) {
		length = 3;
		low = first == 0xe0 ? 0xa0 : low;
		high = first == 0xed ? 0x9f : high;
	} else if (first >= 0xf0 && first <= 0xf4) {
		length = 4;
		low = first == 0xf0 ? 0x90 : low;
		high = first == 0xf4 ? 0x8f : high;
	} else {
		return -1;
	}
	for (int i = 1; i < length; i++) {
		if ((size_t)i >= size || data[i] < low || data[i] > high)
			return -i;
		low = 0x80;
		high = 0xbf;
	}
	return length;
}

/* Eight bytes, none of which has its highest bit set. */
static bool is_ascii_8(const char *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return (word & UINT64_C(0x8080808080808080)) == 0;
}

bool utf8_valid(const char *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		int n;

		if (size - at >= 8 && is_ascii_8(data + at)) {
			at += 8;
			continue;
		}
		n = utf8_sequence(data + at, size - at);

		if (n < 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

int utf8_replace(struct buffer *to, const char *data, size_t size)
{
	size_t from = 0, at = 0;
	int r = 0;

	while (at < size && r == 0) {
		int n = utf8_sequence(data + at, size - at);

		if (n > 0) {
			at += (size_t)n;
			continue;
		}
		r = buffer_add(to, data + from, at - from);
		if (r == 0)
			r = buffer_add(to, "\xef\xbf\xbd", 3);
		at += (size_t)-n;
		from = at;
	}
	return r < 0 ? r : buffer_add(to, data + from, at - from);
}
