/* SPDX-License-Identifier: Apache-2.0 */
#include "base/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* One piece of output: a character as it is, or an escape of one byte. */
struct piece {
	char text[8];
	size_t size; /* of text */
	size_t used; /* bytes of the input */
};

/* Ranges of characters that are valid but steer a terminal or hide what follows. */
static const struct {
	uint32_t first;
	uint32_t last;
} steering[] = {
    {0x0080, 0x009f},	/* C1 controls */
    {0x061c, 0x061c},	/* Arabic letter mark */
    {0x200b, 0x200f},	/* zero width, left-to-right and right-to-left marks */
    {0x2028, 0x202e},	/* line and paragraph separators, embeddings, overrides */
    {0x2060, 0x206f},	/* invisible operators, isolates */
    {0xfeff, 0xfeff},	/* zero width no-break space */
    {0xfff9, 0xfffb},	/* interlinear annotation */
    {0xe0000, 0xe007f}, /* tags */
};

static bool steers(uint32_t c)
{
	for (size_t i = 0; i < sizeof(steering) / sizeof(steering[0]); i++)
		if (c >= steering[i].first && c <= steering[i].last)
			return true;
	return false;
}

/* The length of the UTF-8 character at s, 2 to 4, and its number; 0 where there is none.
 */
static size_t decode(const unsigned char *s, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] >= 0xf0 && s[0] < 0xf5 ? 4
		   : s[0] >= 0xe0	       ? 3
		   : s[0] >= 0xc2	       ? 2
					       : 0;
	uint32_t c;

	if (n == 0 || s[0] >= 0xf5)
		return 0;
	c = s[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0; /* also at the NUL, so nothing is read past it */
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return n;
}

static struct piece next_piece(const unsigned char *s)
{
	static const char named[] = "\n\t\r\\", letters[] = "ntr\\";
	struct piece piece = {.used = 1};
	const char *name = strchr(named, s[0]);
	uint32_t c;
	size_t n;

	if (s[0] >= 0x20 && s[0] < 0x7f && s[0] != '\\') {
		piece.text[0] = (char)s[0];
		piece.size = 1;
		return piece;
	}
	if (name) {
		piece.text[0] = '\\';
		piece.text[1] = letters[name - named];
		piece.size = 2;
		return piece;
	}
	n = decode(s, &c);
	if (n > 0 && !steers(c)) {
		memcpy(piece.text, s, n);
		piece.size = n;
		piece.used = n;
		return piece;
	}
	(void)snprintf(piece.text, sizeof(piece.text), "\\x%02x", s[0]);
	piece.size = 4;
	return piece;
}

const char *printable(char *out, size_t capacity, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t used = 0, cut = 0; /* cut: the last place where "..." still fits */

	while (*at) {
		struct piece piece = next_piece(at);

		if (used + 4 <= capacity)
			cut = used;
		if (used + piece.size + 1 > capacity) {
			memcpy(out + cut, "...", 4);
			return out;
		}
		memcpy(out + used, piece.text, piece.size);
		used += piece.size;
		at += piece.used;
	}
	out[used] = '\0';
	return out;
}
