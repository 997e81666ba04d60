/* SPDX-License-Identifier: Apache-2.0 */
/* What a stopped task's arguments point to. */
#include "runtime/init/init.h"

#include <fcntl.h>

enum { PAGE = 4096, LINK_TEXT = 48 };

struct vector {
	void *base;
	uint64_t size;
};

uint32_t peek_bytes(int task, uint64_t address, char *to, uint32_t size)
{
	struct vector here = {to, size}, there = {(void *)(uintptr_t)address, size};
	long n =
	    raw6(SYS_process_vm_readv, task, RAW_PTR(&here), 1, RAW_PTR(&there), 1, 0);

	return n > 0 ? (uint32_t)n : 0;
}

/* Up to its NUL, or as far as there is room; page by page, since the next may not be
 * there. */
static uint32_t peek_text(int task, uint64_t address, char *to, uint32_t capacity)
{
	uint32_t size = 0;

	while (size < capacity) {
		uint64_t left = PAGE - (address + size) % PAGE;
		uint32_t want = capacity - size < left ? capacity - size : (uint32_t)left;
		uint32_t got = peek_bytes(task, address + size, to + size, want);

		for (uint32_t i = 0; i < got; i++) {
			if (to[size + i] == '\0')
				return size + i;
		}
		size += got;
		if (got < want)
			break;
	}
	return size;
}

static char *add_text(char *at, const char *text)
{
	while (*text != '\0')
		*at++ = *text++;
	return at;
}

static char *add_number(char *at, unsigned number)
{
	char digits[12];
	int n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	while (n > 0)
		*at++ = digits[--n];
	return at;
}

/* "/proc/TASK/cwd" or "/proc/TASK/fd/N": where that leads in the box. */
static uint32_t directory_of(int task, int dir, char *to, uint32_t capacity)
{
	char link[LINK_TEXT], *at = add_number(add_text(link, "/proc/"), (unsigned)task);
	long n;

	if (dir == AT_FDCWD)
		at = add_text(at, "/cwd");
	else if (dir >= 0)
		at = add_number(add_text(at, "/fd/"), (unsigned)dir);
	else
		return 0;
	*at = '\0';
	n = raw4(SYS_readlinkat, AT_FDCWD, link, to, capacity);
	return n > 0 ? (uint32_t)n : 0;
}

uint32_t peek_path(int task, int dir, uint64_t address, char *to, uint32_t capacity)
{
	char text[WIRE_DENIAL_TEXT];
	uint32_t size = 0, at = 0;

	text[0] = '\0';
	if (address != 0) {
		size = peek_text(task, address, text, sizeof(text));
		if (size == 0)
			return 0;
	}
	if (size == 0 || text[0] != '/') {
		at = directory_of(task, dir, to, capacity);
		if (at == 0)
			return 0;
		if (size > 0 && at < capacity && !(at == 1 && to[0] == '/'))
			to[at++] = '/';
	}
	for (uint32_t i = 0; i < size && at < capacity; i++)
		to[at++] = text[i];
	return at;
}
