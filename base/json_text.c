/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

enum {
	STEP = 8192, /* bytes for which room is made at a time */
	GROWTH = 6,  /* \u0000 */
};

/* One byte below 0x80; returns where the next goes. */
static char *put_ascii(char *out, unsigned char c)
{
	static const char digits[] = "0123456789ABCDEF";
	static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	const char *found;

	if (c >= 0x20 && c != '"' && c != '\\') {
		*out++ = (char)c;
		return out;
	}
	*out++ = '\\';
	found = c ? strchr(named, c) : NULL;
	if (found) {
		*out++ = names[found - named];
		return out;
	}
	memcpy(out, "u00", 3);
	out[3] = digits[c >> 4];
	out[4] = digits[c & 15];
	return out + 5;
}

/* The sequence at data, or what stands for it; *ret_taken is how much of it that was. */
static char *put_sequence(char *out, const char *data, size_t size, size_t *ret_taken)
{
	int n = utf8_sequence(data, size);

	*ret_taken = (size_t)(n < 0 ? -n : n);
	if (n > 0) {
		memcpy(out, data, (size_t)n);
		return out + n;
	}
	memcpy(out, "\xef\xbf\xbd", 3);
	return out + 3;
}

int json_text_add(struct buffer *to, const char *data, size_t size)
{
	int r = buffer_add(to, "\"", 1);

	for (size_t at = 0; r == 0 && at < size;) {
		size_t end = size - at > STEP ? at + STEP : size;
		char *out = buffer_reserve(to, (end - at + 4) * GROWTH);

		if (!out)
			return -ENOMEM;
		while (at < end) {
			size_t taken = 1;

			if ((unsigned char)data[at] < 0x80)
				out = put_ascii(out, (unsigned char)data[at]);
			else
				out = put_sequence(out, data + at, size - at, &taken);
			at += taken;
		}
		to->size = (size_t)(out - to->data);
	}
	return r < 0 ? r : buffer_add(to, "\"", 1);
}

int json_text_key(struct buffer *to, const char *name)
{
	bool first = to->size == 0 || to->data[to->size - 1] == '{';
	int r = first ? 0 : buffer_add(to, ",", 1);

	if (r == 0)
		r = json_text_add(to, name, strlen(name));
	return r < 0 ? r : buffer_add(to, ":", 1);
}
