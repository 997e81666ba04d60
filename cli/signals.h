/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT, SIGTERM and SIGHUP while a box runs: the first one ends the box, and husk
 * cleans up and exits with 128 + its number; the second of a kind ends husk at once. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <husk/session.h>

/* Fire cancel on those of the three signals that are not ignored now: whoever started
 * husk with nohup or in the background meant it. */
void cli_signals_watch(husk_cancel *cancel);

/* The first signal that came since, or 0. */
int cli_signals_caught(void);

/* Back to the signals' usual effect; cancel is not touched any more. */
void cli_signals_release(void);

#endif
