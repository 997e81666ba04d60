/* SPDX-License-Identifier: Apache-2.0 */
#include "session/stamp.h"

#include "base/fd.h"

#include <fcntl.h>
#include <sys/stat.h>

#define TICK_MAX 20000000 /* ns; the slowest clock tick is 10 ms */
#define STEP_MIN 500000	  /* ns; a box takes longer than this to change its first file */

enum {
	TRIES = 4,   /* for a mark that no clock tick falls into */
	PROOFS = 3,  /* marks that must come out sharp before one is believed */
	WAITS = 40,  /* of half a millisecond */
	SAMPLES = 8, /* of two clocks, for one that was not interrupted */
};

static int64_t now(clockid_t clock)
{
	struct timespec time = {0};

	(void)clock_gettime(clock, &time);
	return stamp_from(&time);
}

/* Give the scratch file a new ctime, and look at it. */
static bool touch(const struct stamp *stamp, int64_t *ret)
{
	struct stat st;

	if (fchmod(stamp->scratch, 0600) < 0 || fstat(stamp->scratch, &st) < 0)
		return false;
	*ret = stamp_from(&st.st_ctim);
	return true;
}

/* The first touch may give the time of the last tick; it has been looked at then, so the
 * second is exact. Where a tick came in between, the second gives the time of that one,
 * which is too early: files may have been changed since. */
static bool mark_once(const struct stamp *stamp, int64_t *ret)
{
	int64_t before, after, first, second;

	if (!touch(stamp, &first))
		return false;
	before = now(CLOCK_REALTIME);
	if (!touch(stamp, &second))
		return false;
	after = now(CLOCK_REALTIME);
	*ret = second;
	return first < second && before <= second && second <= after;
}

static bool mark(const struct stamp *stamp, int64_t *ret)
{
	for (int i = 0; i < TRIES; i++)
		if (mark_once(stamp, ret))
			return true;
	return false;
}

bool stamp_ready(struct stamp *stamp, int dir)
{
	int64_t ignored;

	if (stamp->tried)
		return stamp->sharp;
	stamp->tried = true;
	stamp->scratch = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, (mode_t)0600);
	if (stamp->scratch < 0)
		return false;
	stamp->sharp = true;
	for (int i = 0; i < PROOFS && stamp->sharp; i++)
		stamp->sharp = mark(stamp, &ignored);
	if (!stamp->sharp)
		fd_close(&stamp->scratch);
	return stamp->sharp;
}

bool stamp_mark(struct stamp *stamp, int dir, int64_t *ret)
{
	return stamp_ready(stamp, dir) && mark(stamp, ret);
}

void stamp_deinit(struct stamp *stamp)
{
	fd_close(&stamp->scratch);
	*stamp = STAMP_INIT;
}

bool stamp_is_recent(int64_t newest)
{
	int64_t tick = now(CLOCK_REALTIME_COARSE);

	return newest >= tick && newest - tick <= TICK_MAX;
}

void stamp_wait_past(int64_t newest)
{
	static const struct timespec nap = {.tv_nsec = 500000};

	for (int i = 0; i < WAITS && stamp_is_recent(newest); i++)
		(void)nanosleep(&nap, NULL);
}

int64_t stamp_clock_offset(void)
{
	int64_t best_width = INT64_MAX, offset = 0;

	for (int i = 0; i < SAMPLES && best_width > 5000; i++) {
		int64_t before = now(CLOCK_BOOTTIME);
		int64_t wall = now(CLOCK_REALTIME);
		int64_t width = now(CLOCK_BOOTTIME) - before;

		if (width < best_width) {
			best_width = width;
			offset = wall - before;
		}
	}
	return offset;
}

bool stamp_clock_stepped(int64_t offset_before, int64_t offset_after)
{
	int64_t step = offset_after - offset_before;

	return step > STEP_MIN || step < -STEP_MIN;
}
