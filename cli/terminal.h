/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's terminal while the box has one of its own (-t): keys go through as they
 * are typed, changes of its size are passed on, and afterwards it is as it was before,
 * also where the program was ended in the midst of a full screen. Signals that stop husk
 * put it back as well, and what continues husk takes it again.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "cli/screen.h"

#include <husk/options.h>

#include <stdbool.h>

/* Take the terminal for a box: its size, and a pipe for new ones, go into call. Where
 * typing is true and stdin is a terminal, keys go through. There is one at a time. */
void cli_terminal_take(struct husk_call *call, bool typing);
/* Give it back. */
void cli_terminal_release(void);

/* What is shown on it. */
void cli_terminal_saw(const char *data, size_t size);

/* Print a line on stderr while the terminal is taken. */
void cli_terminal_say(const char *line);

#endif
