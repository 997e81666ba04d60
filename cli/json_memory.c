/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json_memory.h"

#include <errno.h>
#include <stdlib.h>

static _Thread_local bool lost;

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		lost = true;
	return memory;
}

void cli_json_watch(void)
{
	json_set_alloc_funcs(allocate, free);
}

bool cli_json_lost(void)
{
	return lost;
}

void cli_json_forget(void)
{
	lost = false;
}

int cli_json_read(const char *data, size_t size, size_t flags, json_t **ret,
		  json_error_t *wrong)
{
	bool before = lost;
	json_t *value;
	int r;

	lost = false;
	value = json_loadb(data, size, flags, wrong);
	r = lost ? -ENOMEM : value ? 0 : -EINVAL;
	lost = lost || before;
	if (r < 0)
		json_decref(value);
	else
		*ret = value;
	return r;
}

char *cli_json_dump(const json_t *value, size_t flags)
{
	char *text = value ? json_dumps(value, flags) : NULL;

	if (!lost)
		return text;
	free(text);
	return NULL;
}
