/* SPDX-License-Identifier: Apache-2.0 */
/* A few of the names in directories, chosen at random, at a cost that does not grow with
 * what lies there. For whoever must look for what the dead have left and must not pass
 * all of the living each time: one look may miss a name, many do not. */
#ifndef BASE_SAMPLE_H
#define BASE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SAMPLE_NAMES = 32,
	SAMPLE_NAME_SIZE = 32, /* longer ones are passed over */
};

struct sample_name {
	char text[SAMPLE_NAME_SIZE];
	unsigned dir; /* as the call that found it said */
};

struct sample {
	struct sample_name names[SAMPLE_NAMES];
	size_t count;
	bool whole; /* these are all that there are */
	uint64_t offered;
	uint64_t random;
};

/* With no name. 0 or -errno. */
int sample_init(struct sample *sample);

/* Take names of a directory, which is held open in any way, that is_wanted says yes to.
 * Those of several directories are one lot. 0 or -errno. */
int sample_take(struct sample *sample, int dir, unsigned number,
		bool (*is_wanted)(const char *name));

#endif
