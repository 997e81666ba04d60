/* SPDX-License-Identifier: Apache-2.0 */
/* What a program has done to a terminal and might leave behind when it is ended: the
 * alternate screen, mouse reports, a hidden cursor, other codes for keys, colours, ...
 * The sequences are those of ECMA-48, of xterm's ctlseqs and of the keyboard protocol of
 * kitty; what cannot be put back, such as the title, is left. */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_SCREEN_MODES = 24, CLI_SCREEN_RESET = 512 };

struct cli_screen {
	/* The scanner. */
	int state;
	char prefix;	   /* of a CSI: one of "<=>?", or 0 */
	char intermediate; /* a byte before the last one, or 0 */
	unsigned number;   /* the one being read */
	unsigned numbers[8];
	size_t count;
	bool rest; /* of a command: past its number and one character */

	/* What is not as on a fresh terminal. */
	bool changed[CLI_SCREEN_MODES];
	unsigned palette;	/* bit i: colours of the kind that OSC 100+i resets */
	unsigned key_resources; /* bit i: CSI > i m has changed what keys send */
	unsigned keyboards[2];	/* of the main and the alternate screen: pushed */
	bool keyboard_set;	/* and set without a push */
	bool coloured;		/* some SGR was set and not reset */
	bool keypad, charset, coding, margins, cursor, link;

	/* It was asked something, and answers by typing. */
	bool asked;
};

/* See what goes to the terminal. All zero is a fresh terminal. */
void cli_screen_see(struct cli_screen *screen, const char *data, size_t size);

/* What undoes it, NUL-terminated; "" where nothing is to be undone. Returns its size. */
size_t cli_screen_reset(const struct cli_screen *screen, char text[CLI_SCREEN_RESET]);

#endif
