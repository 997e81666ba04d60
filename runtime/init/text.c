/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/init/init.h"

void *memcpy(void *to, const void *from, size_t size)
{
	char *t = to;
	const char *f = from;

	for (size_t i = 0; i < size; i++)
		t[i] = f[i];
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	char *t = to;

	for (size_t i = 0; i < size; i++)
		t[i] = (char)byte;
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *x = a, *y = b;

	for (size_t i = 0; i < size; i++) {
		if (x[i] != y[i])
			return x[i] - y[i];
	}
	return 0;
}

size_t strlen(const char *text)
{
	size_t n = 0;

	while (text[n] != '\0')
		n++;
	return n;
}

void text_copy(char *to, size_t capacity, const char *text)
{
	size_t n = 0;

	while (text[n] != '\0' && n + 1 < capacity) {
		to[n] = text[n];
		n++;
	}
	to[n] = '\0';
}

int text_number(const char *text)
{
	int n = 0;

	if (*text == '\0')
		return -1;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9' || n > 100000000)
			return -1;
		n = n * 10 + (*text - '0');
	}
	return n;
}
