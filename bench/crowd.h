/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs that time things share: a clock, and many threads at once. */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { THREAD_STACK = 256 << 10 };

static inline double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Run function in width threads, on the elements of an array. 1: one could not be made.
 * Their stacks are small: a thousand threads are many. */
static inline int in_threads(int width, void *(*function)(void *), void *array,
			     size_t element)
{
	pthread_t *threads = calloc((size_t)width, sizeof(*threads));
	pthread_attr_t attr;
	int made = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	while (threads && made < width &&
	       pthread_create(&threads[made], &attr, function,
			      (char *)array + (size_t)made * element) == 0)
		made++;
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	pthread_attr_destroy(&attr);
	free(threads);
	return made < width;
}

#endif
