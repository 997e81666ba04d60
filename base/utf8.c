/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

/* The length of the well-formed sequence at data; negative: the length of the maximal
 * ill-formed part. */
static int sequence(const unsigned char *data, size_t size)
{
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

bool utf8_valid(const char *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		int n = sequence((const unsigned char *)data + at, size - at);

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
		int n = sequence((const unsigned char *)data + at, size - at);

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
