/* SPDX-License-Identifier: Apache-2.0 */
/* The level of protection that follows from the rows: there are three, because a box is
 * whole or is none, and only its caps may lack. */
#include "session/host.h"

#include <stdio.h>
#include <string.h>

static bool is_limit(const char *name)
{
	return strcmp(name, "memory-limit") == 0 || strcmp(name, "cpu-limit") == 0 ||
	       strcmp(name, "task-limit") == 0;
}

/* Rows that say why another one lacks something. */
static bool explains(const char *name)
{
	static const char *const all[] = {"apparmor", "cgroup", "selinux", "systemd"};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(name, all[i]) == 0)
			return true;
	}
	return false;
}

/* "memory-limit, task-limit": the rows that are weaker; limits: those of caps, or else
 * the others. Returns how many. */
static size_t list(const struct husk_host *host, bool limits, char *text, size_t capacity)
{
	size_t used = 0, count = 0;

	text[0] = '\0';
	for (size_t i = 0; i < host->count && used < capacity; i++) {
		const struct host_row *row = &host->rows[i];

		if (row->state != HUSK_PROBE_WEAKER || is_limit(row->name) != limits ||
		    explains(row->name))
			continue;
		used += (size_t)snprintf(text + used, capacity - used, "%s%s",
					 count++ > 0 ? ", " : "", row->name);
	}
	return count;
}

/* The first reason: rows stand in the order in which they need each other. */
static const struct host_row *first_missing(const struct husk_host *host)
{
	for (size_t i = 0; i < host->count; i++) {
		if (host->rows[i].state == HUSK_PROBE_MISSING)
			return &host->rows[i];
	}
	return NULL;
}

static void none(struct husk_host *host)
{
	const struct host_row *row = first_missing(host);

	host->level = "none";
	(void)snprintf(host->summary, sizeof(host->summary),
		       "no box can run here, and there is no weaker one to fall back to: "
		       "%s: %s",
		       row ? row->name : "box", row ? row->finding : "unknown");
}

void host_judge_level(const struct host_view *view, struct husk_host *host)
{
	char lost[128], weaker[512], tail[640] = "";
	bool plain = view->has_limits && view->limits.memory.enforceable &&
		     view->limits.pids.enforceable;

	if (!host->usable) {
		none(host);
		return;
	}
	if (list(host, false, weaker, sizeof(weaker)) > 0)
		(void)snprintf(tail, sizeof(tail), "; there is less of: %s", weaker);
	if (list(host, true, lost, sizeof(lost)) == 0) {
		host->level = "full";
		(void)snprintf(host->summary, sizeof(host->summary),
			       "boxes run with every protection, and the kernel enforces "
			       "their caps on memory, CPU and tasks%s",
			       tail);
		return;
	}
	host->level = "best-effort";
	(void)snprintf(host->summary, sizeof(host->summary),
		       "boxes run with every protection but caps that are not enforced "
		       "(%s), and %s need --limits best-effort%s",
		       lost, plain ? "runs with --cpus" : "runs", tail);
}
