/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of its own for each test, and stores and digests in it. */
#ifndef TESTS_UNIT_OCI_PLACE_H
#define TESTS_UNIT_OCI_PLACE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oci/store.h"

struct place {
	char dir[64];
	char store[96];
	struct husk_error err;
	int fds; /* open at the beginning */
};

static inline int open_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static inline int place_remove_one(const char *path, const struct stat *st, int type,
				   struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static inline void place_clear(const char *path)
{
	(void)nftw(path, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Where syncing costs nothing, for tests that do it very often. */
static bool place_in_memory;

static inline int place_setup(void **state)
{
	static struct place place;

	memset(&place, 0, sizeof(place));
	(void)snprintf(place.dir, sizeof(place.dir), "%s/husk-oci-test-XXXXXX",
		       place_in_memory && faccessat(AT_FDCWD, "/dev/shm", W_OK, 0) == 0
			   ? "/dev/shm"
			   : "/tmp");
	if (!mkdtemp(place.dir))
		return -1;
	(void)snprintf(place.store, sizeof(place.store), "%s/store", place.dir);
	place.fds = open_fds();
	*state = &place;
	return 0;
}

static inline int place_teardown(void **state)
{
	const struct place *place = *state;

	place_clear(place->dir);
	if (open_fds() != place->fds) {
		(void)fprintf(stderr, "descriptors: %d before, %d after\n", place->fds,
			      open_fds());
		return -1;
	}
	return 0;
}

#define PLACE_TEST(function) \
	cmocka_unit_test_setup_teardown(function, place_setup, place_teardown)

/* Fails with the error's words. */
#define OK(call)                                                                 \
	do {                                                                     \
		int ok_ = (call);                                                \
                                                                                 \
		if (ok_ != 0)                                                    \
			fail_msg("%s: %d: %s: %s", #call, ok_, place->err.where, \
				 place->err.message);                            \
	} while (0)

static inline struct store *place_open(struct place *place, enum store_mode mode)
{
	struct store *store = NULL;

	OK(store_open(place->store, mode, &store, &place->err));
	return store;
}

static inline struct digest digest_of_text(const char *text)
{
	struct digest digest;

	assert_int_equal(digest_of(DIGEST_SHA256, text, strlen(text), &digest, NULL), 0);
	return digest;
}

/* How many entries a directory of the place has; -1: there is none. */
static inline int place_count(const struct place *place, const char *name)
{
	char path[256];
	int count = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/%s", place->store, name);
	dir = opendir(path);
	if (!dir)
		return -1;
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
		count += entry->d_name[0] != '.';
	(void)closedir(dir);
	return count;
}

static inline void place_write(const struct place *place, const char *name,
			       const char *text)
{
	char path[512];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", place->store, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static inline bool place_has(const struct place *place, const char *name)
{
	char path[512];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/%s", place->store, name);
	return lstat(path, &st) == 0;
}

#endif
