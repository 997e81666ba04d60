/* SPDX-License-Identifier: Apache-2.0 */
/* What a program has done to the screen of a terminal and might leave behind when it is
 * ended: the alternate screen, mouse reports, a hidden cursor, ... (DEC private modes,
 * ECMA-48 CSI ? Pm h and l; their numbers as xterm's ctlseqs lists them). */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_SCREEN_MODES = 18, CLI_SCREEN_RESET = 256 };

struct cli_screen {
	int state;	 /* of the scanner */
	unsigned number; /* the one being read */
	unsigned numbers[8];
	size_t count;
	bool changed[CLI_SCREEN_MODES]; /* from what a fresh terminal has */
	bool coloured;			/* some SGR was set and not reset */
};

/* See what goes to the terminal. All zero is a fresh terminal. */
void cli_screen_see(struct cli_screen *screen, const char *data, size_t size);

/* What undoes it, NUL-terminated; "" where nothing is to be undone. Returns its size. */
size_t cli_screen_reset(const struct cli_screen *screen, char text[CLI_SCREEN_RESET]);

#endif
