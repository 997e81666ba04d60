/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at the files of a large tree again with every processor.
 *
 * Almost all of the time of a diff is one fstatat for each file that was there before,
 * and these do not wait for each other. Processes: none; threads: the one that walks,
 * which gives out the work and lends a hand whenever enough of it is waiting, and up to
 * TEAM_HELPERS_MAX helpers that live as long as one snapshot is taken. Helpers only call
 * fstatat on a descriptor that was handed to them and write to slots that nobody else
 * does. */
#ifndef SESSION_SNAPSHOT_TEAM_H
#define SESSION_SNAPSHOT_TEAM_H

#include <stdint.h>

#include "session/snapshot.h"

enum {
	TEAM_HELPERS_MAX = 3,
	TEAM_FILES_MIN = 2000, /* below, starting a thread costs more than it saves */
	TEAM_CHUNK = 256,      /* files in one piece of work */
	TEAM_WAITING_MAX =
	    16, /* pieces given out and not done: each holds a descriptor */
};

struct snapshot_team;

/* One piece of work: files [first, first + count) of the old snapshot, which are to be in
 * the directory `dir` of the new one. */
struct team_piece {
	int fd; /* the directory; closed when done */
	uint32_t dir;
	uint32_t first;
	uint32_t count;
	int error; /* 0 or -errno of what was not about one file having gone */
};

/* A team for the files of old, which works until that time (by clock_ns); or NULL
 * where it would not help: a small tree, one processor, no memory or no thread to be had.
 */
struct snapshot_team *snapshot_team_new(const struct snapshot *old, int64_t until);
struct snapshot_team *snapshot_team_free(struct snapshot_team *team);

/* Have the files looked at, now or later, by somebody. 0, -ENOMEM, or -EFBIG where it is
 * too late for any more. */
int snapshot_team_give(struct snapshot_team *team, int dir_fd, uint32_t dir,
		       uint32_t first, uint32_t count);

/* Wait until all is done, helping. Afterwards the pieces and slots may be read; pieces of
 * one directory stand together, in the order of its files. */
void snapshot_team_finish(struct snapshot_team *team);
uint32_t snapshot_team_count(const struct snapshot_team *team);
const struct team_piece *snapshot_team_piece(const struct snapshot_team *team,
					     uint32_t index);

/* What was found for file number `old` of the old snapshot; its name is where it was
 * there. NULL where there is no such file any more. */
const struct snapshot_file *snapshot_team_file(const struct snapshot_team *team,
					       uint32_t old);

#endif
