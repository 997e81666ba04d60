/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/keep.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct kept {
	struct cli_keep link;
	max_align_t data[];
};

void *cli_keep_new(struct cli_keep **list, size_t size)
{
	struct kept *kept;

	if (size > SIZE_MAX - sizeof(*kept))
		return NULL;
	kept = calloc(1, sizeof(*kept) + size);
	if (!kept)
		return NULL;
	kept->link.next = *list;
	*list = &kept->link;
	return kept->data;
}

char *cli_keep_text(struct cli_keep **list, const char *text, size_t size)
{
	char *copy = size < SIZE_MAX ? cli_keep_new(list, size + 1) : NULL;

	if (copy && size > 0)
		memcpy(copy, text, size);
	return copy;
}

void cli_keep_release(struct cli_keep **list)
{
	while (*list) {
		struct cli_keep *first = *list;

		*list = first->next;
		free(first);
	}
}
