/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static const int watched[] = {SIGHUP, SIGINT, SIGTERM};
enum { COUNT = sizeof(watched) / sizeof(watched[0]) };

static husk_cancel *volatile target;
static volatile sig_atomic_t caught;
static bool installed[COUNT];

static void on_signal(int number)
{
	int saved = errno;

	if (caught == 0)
		caught = number;
	husk_cancel_fire(target);
	errno = saved;
}

void cli_signals_watch(husk_cancel *cancel)
{
	/* No SA_RESTART: a write that waits for a reader has to notice. SA_RESETHAND: the
	 * second signal takes its usual effect. */
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND},
			 old;

	target = cancel;
	for (size_t i = 0; i < COUNT; i++) {
		if (sigaction(watched[i], NULL, &old) < 0 || old.sa_handler == SIG_IGN)
			continue;
		installed[i] = sigaction(watched[i], &action, NULL) == 0;
	}
}

int cli_signals_caught(void)
{
	return caught;
}

void cli_signals_release(void)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (installed[i])
			(void)signal(watched[i], SIG_DFL);
		installed[i] = false;
	}
}
