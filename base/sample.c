/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory is read from its beginning. Where that shows it to be large, it is read
 * anew, and no more of it, from a position at random: positions are hashes of the names
 * on ext4 and in control groups, so that any number leads to some name. Where they are
 * something else nothing is found there; one sample of READS_ALL reads everything, so
 * that no name is out of reach on any file system.
 */
#include "base/sample.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
	READ_SIZE = 4096,
	/* What is large: so many names that are wanted, or so many of any kind. */
	WANTED_MAX = 2 * SAMPLE_NAMES,
	NAMES_MAX = 2048,
	READS_ALL = 16,
};

struct reading {
	int fd;
	unsigned number;
	bool (*is_wanted)(const char *name);
	size_t wanted, names;
	bool all;
};

/* Not secret, only spread out: splitmix64. */
static uint64_t next_random(struct sample *sample)
{
	uint64_t x = sample->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

int sample_init(struct sample *sample)
{
	sample->count = 0;
	sample->offered = 0;
	sample->whole = true;
	if (getrandom(&sample->random, sizeof(sample->random), 0) !=
	    (ssize_t)sizeof(sample->random))
		return -errno;
	return 0;
}

/* The N-th takes the place of another with a chance of SAMPLE_NAMES in N, so that all
 * have the same. */
static void offer(struct sample *sample, const char *name, unsigned number)
{
	uint64_t at = sample->offered++;

	if (at >= SAMPLE_NAMES) {
		sample->whole = false;
		at = next_random(sample) % sample->offered;
		if (at >= SAMPLE_NAMES)
			return;
	} else {
		sample->count++;
	}
	memcpy(sample->names[at].text, name, strlen(name) + 1);
	sample->names[at].dir = number;
}

/* 1: there may be more; 0: that was all; or -errno. */
static int read_on(struct sample *sample, struct reading *reading)
{
	char entries[READ_SIZE];
	ssize_t n;

	while ((n = getdents64(reading->fd, entries, sizeof(entries))) > 0) {
		for (ssize_t at = 0; at < n; reading->names++) {
			const struct dirent64 *entry =
			    (const struct dirent64 *)(const void *)(entries + at);

			at += entry->d_reclen;
			if (strlen(entry->d_name) >= SAMPLE_NAME_SIZE ||
			    !reading->is_wanted(entry->d_name))
				continue;
			offer(sample, entry->d_name, reading->number);
			reading->wanted++;
		}
		if (!reading->all &&
		    (reading->wanted >= WANTED_MAX || reading->names >= NAMES_MAX))
			return 1;
	}
	return n < 0 ? -errno : 0;
}

/* Large numbers are positions on ext4, small ones in control groups. 0 or -errno. */
static int read_elsewhere(struct sample *sample, struct reading *reading)
{
	static const uint64_t most[] = {INT64_MAX, INT32_MAX, 0};
	int r = 0;

	for (size_t i = 0; r <= 0 && i < sizeof(most) / sizeof(most[0]); i++) {
		off_t position = (off_t)(next_random(sample) & most[i]);

		if (lseek(reading->fd, position, SEEK_SET) >= 0)
			r = read_on(sample, reading);
	}
	return r < 0 ? r : 0;
}

int sample_take(struct sample *sample, int dir, unsigned number,
		bool (*is_wanted)(const char *name))
{
	CLEANUP_FD int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct reading reading = {.fd = fd,
				  .number = number,
				  .is_wanted = is_wanted,
				  .all = next_random(sample) % READS_ALL == 0};
	struct sample before = *sample;
	int r;

	if (fd < 0)
		return -errno;
	r = read_on(sample, &reading);
	if (r <= 0)
		return r;
	before.random = sample->random;
	before.whole = false;
	*sample = before;
	reading.wanted = reading.names = 0;
	return read_elsewhere(sample, &reading);
}
