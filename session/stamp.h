/* SPDX-License-Identifier: Apache-2.0 */
/* Points in time that can be compared with the ctime of files: what changed since?
 *
 * A program cannot set a ctime, but the kernel may give two changes in one clock tick (1
 * to 10 ms) the same. File systems with fine-grained times (Linux 6.13; ext4, xfs, btrfs,
 * tmpfs) take the exact time where a stamp was looked at since the last tick, and from
 * then on no earlier stamp is given out anywhere. So where a scratch file in the same
 * file system can be seen to get the exact time, its stamp is a sharp line: every change
 * before it has a lower ctime and every change after it the same or a higher one, and
 * every change of a file that was looked at gives it a new ctime. That is tried out, by
 * comparing with the clock on both sides, not concluded from versions and names; a server
 * with a clock of its own fails it.
 *
 * Elsewhere there are no sharp lines: stamp_mark says so, and the diff compares two full
 * snapshots instead. */
#ifndef SESSION_STAMP_H
#define SESSION_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct stamp {
	int scratch; /* a file without a name in the file system in question, or -1 */
	bool tried;
	bool sharp;
};

#define STAMP_INIT            \
	(struct stamp)        \
	{                     \
		.scratch = -1 \
	}

/* Whether marks in the file system of `dir` are sharp; tried out at the first call. */
bool stamp_ready(struct stamp *stamp, int dir);

/* Draw a line now: *ret can be compared with ctimes. False where it would not be sharp.
 */
bool stamp_mark(struct stamp *stamp, int dir, int64_t *ret);

void stamp_deinit(struct stamp *stamp);

/* Wait until files that are changed from now on get a later ctime than `newest`, where
 * that is a matter of a clock tick; else not at all. For file systems without sharp
 * marks. */
void stamp_wait_past(int64_t newest);

/* Whether a file with that ctime may be changed now and get the same one again. */
bool stamp_is_recent(int64_t newest);

/* Nanoseconds since the epoch, wrapping. */
static inline int64_t stamp_from(const struct timespec *time)
{
	return (int64_t)((uint64_t)time->tv_sec * UINT64_C(1000000000) +
			 (uint64_t)time->tv_nsec);
}

/* The wall clock less the clock that nobody can set: it changes when the wall clock is
 * stepped, and then ctimes of before and after cannot be compared. */
int64_t stamp_clock_offset(void);
bool stamp_clock_stepped(int64_t offset_before, int64_t offset_after);

#endif
