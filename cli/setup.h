/* SPDX-License-Identifier: Apache-2.0 */
/* Where the command keeps what setups have installed. */
#ifndef CLI_SETUP_H
#define CLI_SETUP_H

enum { CLI_CACHE_TEXT = 4096 };

/* $XDG_CACHE_HOME/husk, else ~/.cache/husk, put into text; NULL where there is neither.
 */
const char *cli_setup_cache(char text[CLI_CACHE_TEXT]);

#endif
