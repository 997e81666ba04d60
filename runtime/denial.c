/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/denial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "runtime/box.h"
#include "runtime/wire.h"

enum {
	COUNTED = 2, /* rows of what the counters tell */
	WEIGHTS = 3,
};

void denial_list_deinit(struct denial_list *list)
{
	free(list->rows);
	*list = (struct denial_list){0};
}

static void add_counted(struct denial_list *list, const char *layer, const char *error,
			uint64_t count, const char *loosen)
{
	struct denial *row = &list->rows[list->count];

	if (count == 0 || count == UINT64_MAX)
		return;
	*row = (struct denial){.layer = layer, .count = count};
	(void)snprintf(row->error, sizeof(row->error), "%s", error);
	(void)snprintf(row->loosen, sizeof(row->loosen), "%s", loosen);
	list->count++;
}

static bool has_layer(const struct denial_list *list, const char *layer)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->rows[i].layer && strcmp(list->rows[i].layer, layer) == 0)
			return true;
	}
	return false;
}

static void add_counters(struct denial_list *list, const struct box_outcome *outcome)
{
	const struct cgroup_counters *counters = &outcome->counters;

	if (!outcome->has_cgroup)
		return;
	add_counted(list, "memory", "killed", counters->oom_kills, "--memory SIZE");
	if (!has_layer(list, "tasks"))
		add_counted(list, "tasks", "EAGAIN", counters->pids_denied, "--pids N");
}

/* What ends a program first, what it falls back from last; among equals the first first.
 */
static int weight(const struct denial *row)
{
	if (strcmp(row->error, "killed") == 0)
		return 0;
	if (strcmp(row->error, "ENOSYS") == 0 || strcmp(row->error, "no effect") == 0)
		return WEIGHTS - 1;
	return 1;
}

static int sort(struct denial_list *list)
{
	struct denial *sorted = calloc(list->count + 1, sizeof(*sorted));
	size_t count = 0;

	if (!sorted)
		return -ENOMEM;
	for (int w = 0; w < WEIGHTS; w++) {
		for (size_t i = 0; i < list->count; i++) {
			if (weight(&list->rows[i]) == w)
				sorted[count++] = list->rows[i];
		}
	}
	free(list->rows);
	list->rows = sorted;
	return 0;
}

static int read_rows(int fd, uint32_t offset, struct wire_denials **ret)
{
	size_t size =
	    sizeof(struct wire_denials) + WIRE_DENIALS * sizeof(struct wire_denial);
	struct wire_denials *block = malloc(size);
	ssize_t n;

	if (!block)
		return -ENOMEM;
	n = pread(fd, block, size, (off_t)offset);
	if (n != (ssize_t)size) {
		free(block);
		return n < 0 ? -errno : -EIO;
	}
	*ret = block;
	return 0;
}

int denial_list_read(struct denial_list *list, int fd, uint32_t offset,
		     const struct box_spec *spec, const struct box_outcome *outcome)
{
	CLEANUP_FREE struct wire_denials *block = NULL;
	int r = read_rows(fd, offset, &block);
	uint32_t count;

	if (r < 0 || !block)
		return r;
	count = block->count < WIRE_DENIALS ? block->count : WIRE_DENIALS;
	list->rows = calloc(count + COUNTED, sizeof(*list->rows));
	if (!list->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		if (block->rows[i].text_size > WIRE_DENIAL_TEXT)
			block->rows[i].text_size = WIRE_DENIAL_TEXT;
		if (denial_explain(spec, &block->rows[i], &list->rows[list->count]))
			list->count++;
	}
	add_counters(list, outcome);
	list->lost = block->lost > 0;
	list->known = true;
	return sort(list);
}
