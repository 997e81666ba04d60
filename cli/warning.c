/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/warning.h"

#include "cli/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

enum { USUAL_S = 60, TENTH = 10 };

unsigned cli_warning_seconds(uint64_t timeout_ms)
{
	uint64_t tenth = timeout_ms / 1000 / TENTH;

	return tenth < USUAL_S ? (unsigned)tenth : USUAL_S;
}

static void *wait_and_say(void *data)
{
	struct cli_warning *warning = data;
	char line[80];
	int r = 0;

	pthread_mutex_lock(&warning->lock);
	while (!warning->stopped && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&warning->stop, &warning->lock, &warning->at);
	if (!warning->stopped) {
		(void)snprintf(line, sizeof(line),
			       "husk: the deadline ends this box in %u s",
			       warning->left_s);
		cli_terminal_say(line);
	}
	pthread_mutex_unlock(&warning->lock);
	return NULL;
}

void cli_warning_start(struct cli_warning *warning, uint64_t timeout_ms)
{
	pthread_condattr_t attr;
	sigset_t all, before;
	uint64_t wait_ms;

	*warning = (struct cli_warning){.left_s = cli_warning_seconds(timeout_ms)};
	if (warning->left_s == 0)
		return;
	wait_ms = timeout_ms - (uint64_t)warning->left_s * 1000;
	(void)clock_gettime(CLOCK_MONOTONIC, &warning->at);
	warning->at.tv_sec += (time_t)(wait_ms / 1000);
	pthread_mutex_init(&warning->lock, NULL);
	pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&warning->stop, &attr);
	pthread_condattr_destroy(&attr);
	/* Signals are for the thread that waits for the box. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	warning->running =
	    pthread_create(&warning->thread, NULL, wait_and_say, warning) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cli_warning_stop(struct cli_warning *warning)
{
	if (!warning->running)
		return;
	pthread_mutex_lock(&warning->lock);
	warning->stopped = true;
	pthread_cond_signal(&warning->stop);
	pthread_mutex_unlock(&warning->lock);
	(void)pthread_join(warning->thread, NULL);
	warning->running = false;
}
