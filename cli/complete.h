/* SPDX-License-Identifier: Apache-2.0 */
/* What could be typed next on a command line of husk, from the tables of commands and
 * options: what completions of shells ask. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "cli/settings.h"

#include <stddef.h>
#include <stdio.h>

/* words: what stands after `husk`, count of them, the last one being typed (it may be
 * ""). One line for each candidate, with a tab and a word about it where there is one;
 * ":files",
 * ":dirs" or ":commands" where the shell knows better. */
void cli_complete(struct cli_settings *settings, size_t count, char **words, FILE *out);

#endif
