/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody who sits at a terminal is told before the deadline ends their box. */
#ifndef CLI_WARNING_H
#define CLI_WARNING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct cli_warning {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stop;
	bool running, stopped;
	struct timespec at;
	unsigned left_s; /* what will be left then */
};

/* Begin to count: the deadline is timeout_ms from now. */
void cli_warning_start(struct cli_warning *warning, uint64_t timeout_ms);
void cli_warning_stop(struct cli_warning *warning);

/* How long before the deadline the word comes: a minute, or a tenth of a short one; 0: no
 * word at all. */
unsigned cli_warning_seconds(uint64_t timeout_ms);

#endif
