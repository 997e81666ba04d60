/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json_text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

json_t *cli_json_base64(const void *data, size_t size)
{
	const unsigned char *from = data;
	char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;
	json_t *string;

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t bits = (uint32_t)from[i] << 16;

		if (left > 1)
			bits |= (uint32_t)from[i + 1] << 8;
		if (left > 2)
			bits |= from[i + 2];
		*to++ = alphabet[bits >> 18];
		*to++ = alphabet[bits >> 12 & 63];
		*to++ = left > 1 ? alphabet[bits >> 6 & 63] : '=';
		*to++ = left > 2 ? alphabet[bits & 63] : '=';
	}
	string = json_stringn_nocheck(text, (size_t)(to - text));
	free(text);
	return string;
}

bool cli_json_base64_decode(const char *text, size_t size, char **ret, size_t *ret_size)
{
	char *data, *to;
	uint32_t bits = 0;
	size_t padding = 0;

	if (size % 4 != 0)
		return false;
	while (padding < 2 && padding < size && text[size - 1 - padding] == '=')
		padding++;
	data = to = calloc(1, size / 4 * 3 + 1);
	if (!data)
		return false;
	for (size_t i = 0; i < size; i++) {
		const char *at =
		    i >= size - padding ? alphabet : memchr(alphabet, text[i], 64);

		if (!at) {
			free(data);
			return false;
		}
		bits = bits << 6 | (uint32_t)(at - alphabet);
		if (i % 4 != 3)
			continue;
		*to++ = (char)(bits >> 16);
		*to++ = (char)(bits >> 8);
		*to++ = (char)bits;
		bits = 0;
	}
	*ret = data;
	*ret_size = (size_t)(to - data) - padding;
	return true;
}

/* Each byte that is not part of a character becomes U+FFFD: tried as JSON, one character
 * at a time. */
static size_t character(const char *data, size_t size)
{
	for (size_t length = 1; length <= 4 && length <= size; length++) {
		json_t *string = json_stringn(data, length);

		json_decref(string);
		if (string)
			return length;
	}
	return 0;
}

json_t *cli_json_text(const char *data, size_t size)
{
	json_t *string = json_stringn(data, size);
	char *text = NULL;
	size_t length;
	FILE *file;

	if (string)
		return string;
	file = open_memstream(&text, &length);
	if (!file)
		return NULL;
	for (size_t i = 0; i < size;) {
		size_t step = character(data + i, size - i);

		if (step > 0)
			(void)fwrite(data + i, 1, step, file);
		else
			(void)fputs("\xef\xbf\xbd", file);
		i += step > 0 ? step : 1;
	}
	if (fclose(file) == 0)
		string = json_stringn(text, length);
	free(text);
	return string;
}
