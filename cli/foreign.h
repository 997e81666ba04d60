/* SPDX-License-Identifier: Apache-2.0 */
/* Words that other tools have and husk has not: what to do instead. */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

/* A hint for a command, and for an option with its dashes; NULL where none is known. */
const char *cli_foreign_command(const char *name);
const char *cli_foreign_option(const char *typed);

#endif
