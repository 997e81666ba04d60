/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives as long as the command line: what the parsers of options allocate is
 * kept on one list and released together, so no row of a table owns anything. */
#ifndef CLI_KEEP_H
#define CLI_KEEP_H

#include <stddef.h>

struct cli_keep {
	struct cli_keep *next;
};

/* `size` bytes, zeroed, released by cli_keep_release. NULL when out of memory. */
void *cli_keep_new(struct cli_keep **list, size_t size);

/* A copy of size bytes of text, followed by a NUL. */
char *cli_keep_text(struct cli_keep **list, const char *text, size_t size);

/* Release everything on the list. */
void cli_keep_release(struct cli_keep **list);

#endif
