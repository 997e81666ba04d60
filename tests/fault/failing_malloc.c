/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library to preload: the allocation of the number FAIL_AT, counted over all threads of
 * the process, fails; before and after it all is as usual. At the end of the process the
 * file FAIL_REPORT holds how many allocations there were, and who asked for the one that
 * failed.
 *
 * Not counted is what libraries named in FAIL_SKIP ask for (parted by colons, beginnings
 * of file names): those that are known not to survive it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);

static atomic_long count;
static long fail_at = -1;
static const char *skip;
static char who[256];
static bool ready;

/* What is allocated while the real functions are looked up. */
static char early[65536] __attribute__((aligned(16)));
static size_t early_used;

static void *early_memory(size_t size)
{
	void *at = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	if (early_used > sizeof(early))
		abort();
	return at;
}

static bool is_early(const void *at)
{
	return (const char *)at >= early && (const char *)at < early + sizeof(early);
}

static void look_up(void)
{
	static bool looking;

	if (next_realloc || looking)
		return;
	looking = true;
	*(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&next_free = dlsym(RTLD_NEXT, "free");
	*(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
}

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("FAIL_AT");

	look_up();
	skip = getenv("FAIL_SKIP");
	fail_at = number ? strtol(number, NULL, 10) : 0;
	ready = number != NULL;
}

/* The file name of what the address lies in. */
static const char *file_of(const void *address)
{
	Dl_info info;
	const char *slash;

	if (!dladdr(address, &info) || !info.dli_fname)
		return "";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

static bool is_skipped(const char *file)
{
	for (const char *at = skip; at && *at; at += *at == ':') {
		size_t size = strcspn(at, ":");

		if (size > 0 && strncmp(at, file, size) == 0)
			return true;
		at += size;
	}
	return false;
}

static bool fails(const void *caller)
{
	const char *file;
	Dl_info info;

	if (!ready)
		return false;
	file = file_of(caller);
	if (is_skipped(file) || atomic_fetch_add(&count, 1) + 1 != fail_at)
		return false;
	(void)snprintf(
	    who, sizeof(who), "%s+%#lx", file,
	    dladdr(caller, &info)
		? (unsigned long)((const char *)caller - (const char *)info.dli_fbase)
		: 0UL);
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	look_up();
	if (!next_malloc)
		return early_memory(size);
	return fails(__builtin_return_address(0)) ? NULL : next_malloc(size);
}

void *calloc(size_t number, size_t size)
{
	look_up();
	if (!next_calloc)
		return early_memory(number * size);
	return fails(__builtin_return_address(0)) ? NULL : next_calloc(number, size);
}

static void *again(void *old, size_t size)
{
	void *new;

	if (!is_early(old))
		return next_realloc(old, size);
	new = next_malloc(size);
	if (new)
		memcpy(new, old, size); /* what lies behind it is ours as well */
	return new;
}

void *realloc(void *old, size_t size)
{
	look_up();
	return fails(__builtin_return_address(0)) ? NULL : again(old, size);
}

void *reallocarray(void *old, size_t number, size_t size)
{
	if (size > 0 && number > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(__builtin_return_address(0)) ? NULL : again(old, number * size);
}

/* The C library asks by functions of its own in these; a sanitizer has its own again. */
char *strndup(const char *text, size_t most)
{
	size_t size = strnlen(text, most);
	char *copy;

	look_up();
	copy = fails(__builtin_return_address(0)) ? NULL : next_malloc(size + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy;

	look_up();
	copy = fails(__builtin_return_address(0)) ? NULL : next_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

void free(void *old)
{
	look_up();
	/* Looking up frees as well; what that is can stay. */
	if (next_free && old && !is_early(old))
		next_free(old);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_REPORT");
	char line[300];
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	int size = snprintf(line, sizeof(line), "%ld %s\n", atomic_load(&count), who);

	if (fd < 0)
		return;
	if (write(fd, line, (size_t)size) != size)
		abort();
	(void)close(fd);
}
