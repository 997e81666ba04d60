/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives a fuzz target where libFuzzer does not.
 *
 *	fuzz_NAME CORPUS		each file once, a result line for each
 *	fuzz_NAME CORPUS SECONDS [SEED]	then changed copies of them for so long
 *
 * What changes them knows nothing of the code: it is for machines without clang. The
 * input that a crash happened on is in the file that is named first.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, MOST_FILES = 4096, MOST_CHANGED = 16384 };

struct input {
	char *name;
	uint8_t *data;
	size_t size;
};

static struct input inputs[MOST_FILES];
static size_t input_count;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static int by_name(const void *a, const void *b)
{
	const struct input *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static void read_input(int dir, const char *name)
{
	struct input *input = &inputs[input_count];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t got;

	if (fd < 0 || fstat(fd, &st) < 0)
		die(name);
	if (S_ISREG(st.st_mode) && st.st_size <= MOST_BYTES && input_count < MOST_FILES) {
		input->name = strdup(name);
		input->data = malloc((size_t)st.st_size + 1);
		if (!input->name || !input->data)
			die("memory");
		got = read(fd, input->data, (size_t)st.st_size);
		if (got != st.st_size)
			die(name);
		input->size = (size_t)got;
		input_count++;
	}
	(void)close(fd);
}

static void read_corpus(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		die(path);
	while ((entry = readdir(dir)))
		read_input(dirfd(dir), entry->d_name);
	(void)closedir(dir);
	qsort(inputs, input_count, sizeof(inputs[0]), by_name);
}

/* On a heap block of the very size, so that a sanitizer sees every byte past it. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		die("memory");
	memcpy(copy, data, size);
	(void)LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void replay(void)
{
	for (size_t i = 0; i < input_count; i++) {
		(void)printf("# %s\n", inputs[i].name);
		run(inputs[i].data, inputs[i].size);
		(void)printf("ok %s\n", inputs[i].name);
	}
	(void)printf("1..%zu\n", input_count);
}

/* -- changing -- */

static uint64_t random_state;

/* xorshift64*, below n. */
static size_t below(size_t n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (size_t)(random_state * 0x2545f4914f6cdd1dULL >> 33) % n;
}

/* Put a piece of an input at a place, in it or instead of what is there. */
static size_t graft(uint8_t *data, size_t size)
{
	const struct input *from = &inputs[below(input_count)];
	size_t begin = below(from->size + 1), at = below(size + 1);
	size_t piece = below(from->size - begin + 1);
	size_t tail = below(2) ? size - at : 0;

	if (at + piece + tail > MOST_CHANGED)
		return size;
	memmove(data + at + piece, data + at, tail);
	if (piece > 0)
		memcpy(data + at, from->data + begin, piece);
	return at + piece + tail;
}

static size_t change(uint8_t *data, size_t size)
{
	static const uint8_t telling[] = "\"\\{}[],:/@.-_0\0\xff\x7f\x80";
	size_t at;

	if (size == 0 || below(4) == 0)
		return graft(data, size);
	at = below(size);
	switch (below(4)) {
	case 0:
		data[at] ^= (uint8_t)(1U << below(8));
		break;
	case 1:
		data[at] = telling[below(sizeof(telling) - 1)];
		break;
	case 2:
		data[at] = (uint8_t)below(256);
		break;
	default: /* take some out */
		memmove(data + at, data + at + 1, size - at - 1);
		size--;
	}
	return size;
}

/* The input of a crash is kept before it happens. */
static void keep(int fd, const uint8_t *data, size_t size)
{
	if (pwrite(fd, data, size, 0) != (ssize_t)size || ftruncate(fd, (off_t)size) < 0)
		die("keep");
}

static void mutate(long seconds, uint64_t seed)
{
	static uint8_t data[MOST_CHANGED];
	char name[] = "/tmp/husk-fuzz-XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);
	time_t end = time(NULL) + seconds;
	unsigned long runs = 0;

	if (fd < 0)
		die(name);
	random_state = seed ? seed : 1;
	(void)printf("# seed %llu, input in %s\n", (unsigned long long)seed, name);
	while (time(NULL) < end) {
		const struct input *from = &inputs[below(input_count)];
		size_t size = from->size < MOST_CHANGED ? from->size : MOST_CHANGED;

		if (size > 0)
			memcpy(data, from->data, size);
		for (size_t changes = 1 + below(8); changes > 0; changes--)
			size = change(data, size);
		keep(fd, data, size);
		run(data, size);
		runs++;
	}
	(void)printf("executions: %lu\n", runs);
	(void)unlink(name);
	(void)close(fd);
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 4) {
		(void)fprintf(stderr, "usage: %s CORPUS [SECONDS [SEED]]\n", argv[0]);
		return 2;
	}
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	read_corpus(argv[1]);
	if (input_count == 0) {
		(void)fprintf(stderr, "%s: no inputs\n", argv[1]);
		return 2;
	}
	replay();
	if (argc > 2)
		mutate(strtol(argv[2], NULL, 10),
		       argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL));
	for (size_t i = 0; i < input_count; i++) {
		free(inputs[i].name);
		free(inputs[i].data);
	}
	return 0;
}
