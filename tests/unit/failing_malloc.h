/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator of which the fail_at-th allocation fails that is made while `failing`: in
 * husk, and unless FAILING_OWN_ALONE is defined also in the C library and in what is
 * loaded. Not with a sanitizer, which has taken the place of malloc already. */
#ifndef TESTS_UNIT_FAILING_MALLOC_H
#define TESTS_UNIT_FAILING_MALLOC_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAILING_MALLOC 0
#else
#define FAILING_MALLOC 1

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

/* What is built is hidden: the C library and what is loaded would go past these to the
 * real ones. FAILING_OWN_ALONE asks for that where something is used that does not
 * survive a lack of memory: archive_read_open1 of libarchive 3.6, glob of glibc 2.36. */
#ifdef FAILING_OWN_ALONE
#define SEEN
#else
#define SEEN __attribute__((visibility("default")))
#endif

static atomic_bool failing;    /* allocations are counted */
static atomic_long allocation; /* how many there were */
static atomic_long alive;      /* allocated while counting, and not freed then */
static long fail_at;

static bool fails(void)
{
	if (!atomic_load(&failing))
		return false;
	if (atomic_fetch_add(&allocation, 1) + 1 == fail_at) {
		errno = ENOMEM;
		return true;
	}
	atomic_fetch_add(&alive, 1);
	return false;
}

static void let_go(const void *old)
{
	if (old && atomic_load(&failing))
		atomic_fetch_sub(&alive, 1);
}

SEEN void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

SEEN void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

SEEN void *realloc(void *old, size_t size)
{
	if (fails())
		return NULL;
	let_go(old);
	return __libc_realloc(old, size);
}

SEEN void *reallocarray(void *old, size_t count, size_t size)
{
	if (size > 0 && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, count * size);
}

SEEN void free(void *old)
{
	let_go(old);
	__libc_free(old);
}

/* A bit for each of the first descriptors. */
__attribute__((unused)) static unsigned long open_descriptors(void)
{
	unsigned long bits = 0;

	for (int fd = 0; fd < 64; fd++)
		bits |= (unsigned long)(fcntl(fd, F_GETFD) >= 0) << fd;
	return bits;
}

#endif

#endif
