/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The bytes of the UTF-8 character at text and its code point; 0 where there is none:
 * overlong forms, surrogates and what passes U+10FFFF are no characters. */
static size_t decode(const unsigned char *text, size_t size, uint32_t *ret_point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char first = text[0];
	uint32_t point;
	size_t length;

	if (first < 0x80) {
		*ret_point = first;
		return 1;
	}
	length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc2 || first > 0xf4 || length > size)
		return 0;
	point = first & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3fu);
	}
	if (point < least[length] || point > 0x10ffff ||
	    (point >= 0xd800 && point <= 0xdfff))
		return 0;
	*ret_point = point;
	return length;
}

static bool is_control(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
	    {0x00, 0x1f},     /* C0 */
	    {0x7f, 0x9f},     /* DEL and C1 */
	    {0x61c, 0x61c},   /* writing direction */
	    {0x200e, 0x200f}, /* writing direction */
	    {0x2028, 0x202e}, /* line and paragraph separators, writing direction */
	    {0x2066, 0x2069}, /* writing direction */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	}
	return false;
}

/* One byte as \xNN. */
static void put_hex(char out[4], unsigned char byte)
{
	static const char hex[] = "0123456789abcdef";

	out[0] = '\\';
	out[1] = 'x';
	out[2] = hex[byte >> 4];
	out[3] = hex[byte & 15];
}

/* One character, or one byte that is none, in its printed form. */
static size_t print_one(char out[16], const unsigned char *text, size_t length,
			uint32_t point, unsigned flags)
{
	if (length == 1 && (point == '\n' || point == '\t') &&
	    (flags & CLI_ESCAPE_LINES)) {
		out[0] = (char)point;
		return 1;
	}
	if (length == 1 && point == '\\' && (flags & CLI_ESCAPE_EXACT)) {
		memcpy(out, "\\\\", 2);
		return 2;
	}
	if (length > 0 && !is_control(point)) {
		memcpy(out, text, length);
		return length;
	}
	if (length == 0)
		length = 1;
	for (size_t i = 0; i < length; i++)
		put_hex(out + 4 * i, text[i]);
	return 4 * length;
}

size_t cli_escape(char *out, size_t capacity, const char *text, size_t size,
		  unsigned flags)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t used = 0;

	while (size > 0) {
		uint32_t point = 0;
		size_t length = decode(at, size, &point);
		char printed[16];
		size_t count = print_one(printed, at, length, point, flags);

		if (count >= capacity - used)
			break;
		memcpy(out + used, printed, count);
		used += count;
		if (length == 0)
			length = 1;
		at += length;
		size -= length;
	}
	out[used] = '\0';
	return used;
}
