/* SPDX-License-Identifier: Apache-2.0 */
/* The modes that are watched, for the scanner and for what undoes them. */
#ifndef CLI_SCREEN_MODES_H
#define CLI_SCREEN_MODES_H

#include "cli/screen.h"

struct screen_mode {
	unsigned number;
	char prefix; /* '?': a DEC private mode; 0: one of ECMA-48 */
	bool fresh;  /* set on a fresh terminal */
};

/* In the order in which they are to be undone; the alternate screen is the last. */
extern const struct screen_mode screen_modes[CLI_SCREEN_MODES];

/* Bit i: OSC i sets colours, and OSC 100+i puts back those of the user. */
#define SCREEN_PALETTE                                                              \
	(1U << 4 | 1U << 5 | 1U << 10 | 1U << 11 | 1U << 12 | 1U << 13 | 1U << 14 | \
	 1U << 17 | 1U << 19)

/* 1 on the alternate screen, else 0. */
unsigned screen_is_alternate(const struct cli_screen *screen);

#endif
