/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gives the caller's terminal back where husk is ended by SIGKILL and cannot: a
 * process that waits for nothing but husk's end. It lives as long as a box with -t, in a
 * session of its own, so that what is sent to husk's process group does not reach it.
 */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include "cli/screen.h"

#include <sys/types.h>
#include <termios.h>

/* Shared with the guard; husk alone writes. */
struct cli_guard_view {
	volatile int raw; /* stdin is in the mode after, and was in the mode before */
	struct termios before, after;
	struct cli_screen screen;
};

struct cli_guard {
	pid_t pid;
	int fd; /* the guard reads the other end: a byte is its leave, the end is ours */
};

/* Memory for a view, never NULL; all zero. There is one at a time. Where there is none to
 * be shared it is husk's own, and no guard can start. */
struct cli_guard_view *cli_guard_view(void);

/* Where that cannot be done there is no guard, and nothing else changes. */
void cli_guard_start(struct cli_guard *guard, const struct cli_guard_view *view);
/* The terminal has been given back: send the guard away. */
void cli_guard_stop(struct cli_guard *guard);

#endif
