/* SPDX-License-Identifier: Apache-2.0 */
/* The clock that nobody can set: for deadlines, and for how long something took. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Signed, since differences of two are what it is for. */
static inline int64_t clock_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t clock_ms(void)
{
	return clock_ns() / 1000000;
}

/* As deadlines count, of which the last is UINT64_MAX: never. */
static inline uint64_t clock_us(void)
{
	return (uint64_t)clock_ns() / 1000;
}

#endif
