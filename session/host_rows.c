/* SPDX-License-Identifier: Apache-2.0 */
/* The rows in the order of their importance, and those that show a tried thing as it is.
 */
#include "session/host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Sorted by importance: what a box cannot be without, what it can, what is around, and
 * last the proof. */
static const struct {
	const char *name;
	host_judge_fn judge;
	int which; /* enum probe, enum host_limit */
} rows[] = {
    {"kernel", host_judge_kernel, PROBE_TREES},
    {"clone3", host_judge_tried, PROBE_CLONE3},
    {"user-namespace", host_judge_tried, PROBE_USER},
    {"pid-namespace", host_judge_tried, PROBE_PID},
    {"mount-namespace", host_judge_tried, PROBE_MOUNT},
    {"network-namespace", host_judge_tried, PROBE_NETWORK},
    {"ipc-namespace", host_judge_tried, PROBE_IPC},
    {"uts-namespace", host_judge_tried, PROBE_UTS},
    {"cgroup-namespace", host_judge_tried, PROBE_CGROUP},
    {"mount-trees", host_judge_tried, PROBE_TREES},
    {"pivot-root", host_judge_tried, PROBE_PIVOT},
    {"procfs", host_judge_tried, PROBE_PROCFS},
    {"terminal", host_judge_tried, PROBE_TERMINAL},
    {"id-mapped-mounts", host_judge_idmap, PROBE_IDMAP},
    {"init-program", host_judge_init, PROBE_INIT},
    {"no-new-privs", host_judge_tried, PROBE_NO_NEW_PRIVS},
    {"seccomp", host_judge_tried, PROBE_FILTER},
    {"pidfd", host_judge_tried, PROBE_PIDFD},
    {"openat2", host_judge_tried, PROBE_OPENAT2},
    {"close-range", host_judge_tried, PROBE_CLOSE_RANGE},
    {"seccomp-notify", host_judge_tried, PROBE_LISTENER},
    {"overlay", host_judge_tried, PROBE_OVERLAY},
    {"cgroup", host_judge_cgroup, 0},
    {"memory-limit", host_judge_limit, HOST_LIMIT_MEMORY},
    {"cpu-limit", host_judge_limit, HOST_LIMIT_CPUS},
    {"task-limit", host_judge_limit, HOST_LIMIT_PIDS},
    {"systemd", host_judge_systemd, 0},
    {"apparmor", host_judge_apparmor, 0},
    {"selinux", host_judge_selinux, 0},
    {"yama", host_judge_yama, 0},
    {"container", host_judge_container, 0},
    {"landlock", host_judge_landlock, PROBE_LANDLOCK},
    {"store", host_judge_store, 0},
    {"libarchive", host_judge_library, HEALTH_ARCHIVE},
    {"libz", host_judge_library, HEALTH_ZLIB},
    {"libisal", host_judge_library, HEALTH_ISAL},
    {"libzstd", host_judge_library, HEALTH_ZSTD},
    {"libcrypto", host_judge_library, HEALTH_CRYPTO},
    {"libssl", host_judge_library, HEALTH_SSL},
    {"libcurl", host_judge_library, HEALTH_CURL},
    {"box", host_judge_box, 0},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

/* Filled by each probe's number. works: what was found; without: what there is less of
 * where boxes run all the same, NULL where none can run; since: Linux that has the calls.
 */
static const struct {
	const char *works, *without;
	unsigned major, minor;
} tried[PROBE_COUNT] = {
    [PROBE_CLONE3] = {"can be called", NULL, 5, 3},
    [PROBE_USER] = {"can be made, with capabilities in it", NULL, 3, 8},
    [PROBE_PID] = {"can be made", NULL, 3, 8},
    [PROBE_MOUNT] = {"can be made", NULL, 3, 8},
    [PROBE_NETWORK] = {"can be made, with a loopback of its own", NULL, 3, 8},
    [PROBE_IPC] = {"can be made", NULL, 3, 8},
    [PROBE_UTS] = {"can be made", NULL, 3, 8},
    [PROBE_CGROUP] = {"can be made", NULL, 4, 6},
    [PROBE_TREES] = {"open_tree, mount_setattr, fsmount and move_mount work", NULL, 5,
		     12},
    [PROBE_PIVOT] = {"the root can be left for a new one", NULL, 5, 12},
    [PROBE_PROCFS] = {"a /proc of its own can be mounted", NULL, 5, 12},
    [PROBE_TERMINAL] = {"a devpts of its own can be mounted, and has terminals", NULL, 5,
			12},
    [PROBE_OVERLAY] = {"can be mounted in a user namespace, for dir: images and "
		       "writable roots",
		       "dir: images and writable roots cannot be used", 5, 11},
    [PROBE_NO_NEW_PRIVS] = {"can be set", NULL, 3, 5},
    [PROBE_FILTER] = {"filters can be installed", NULL, 3, 17},
    [PROBE_LISTENER] = {"denied system calls are reported by name",
			"a denied system call still ends the program, but is not named",
			5, 0},
    [PROBE_PIDFD] = {"processes can be held by descriptor", NULL, 5, 3},
    [PROBE_OPENAT2] = {"paths can be walked without following links", NULL, 5, 6},
    [PROBE_CLOSE_RANGE] = {"descriptors can be closed by range", NULL, 5, 11},
};

void host_find(struct host_row *row, int state, const char *fmt, ...)
{
	va_list args;

	row->state = state;
	va_start(args, fmt);
	(void)vsnprintf(row->finding, sizeof(row->finding), fmt, args);
	va_end(args);
}

void host_advise(struct host_row *row, const char *line)
{
	size_t used = strlen(row->remedy);

	if (!line || line[0] == '\0' || strstr(row->remedy, line))
		return;
	(void)snprintf(row->remedy + used, sizeof(row->remedy) - used, "%s%s",
		       used > 0 ? "\n" : "", line);
}

static bool shows_probe(host_judge_fn judge)
{
	return judge == host_judge_tried || judge == host_judge_idmap ||
	       judge == host_judge_init || judge == host_judge_landlock;
}

const char *host_probe_name(enum probe probe)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (rows[i].which == (int)probe && shows_probe(rows[i].judge))
			return rows[i].name;
	}
	return "";
}

/* A call that this kernel lacks, or that something denies. */
static void advise_call(const struct probe_facts *facts, int which, struct host_row *row)
{
	char line[128];

	if (probe_facts_since(facts, tried[which].major, tried[which].minor)) {
		host_advise(row, probe_remedy_around(facts));
		return;
	}
	(void)snprintf(line, sizeof(line),
		       "it is in Linux %u.%u and later; husk needs 5.12",
		       tried[which].major, tried[which].minor);
	host_advise(row, line);
}

void host_judge_tried(const struct host_view *view, int which, struct host_row *row)
{
	const struct probe_answer *answer = &view->answers.of[which];
	const char *without = tried[which].without;
	int lost = without ? HUSK_PROBE_WEAKER : HUSK_PROBE_MISSING;
	struct probe_answer shown;
	char words[256];

	if (answer->state == PROBE_WORKS) {
		host_find(row, HUSK_PROBE_OK, "%s", tried[which].works);
		return;
	}
	if (answer->state == PROBE_UNTRIED) {
		host_find(row, lost, "not tried: it needs %s",
			  host_probe_name(probe_stands_on((enum probe)which)));
		return;
	}
	shown = *answer;
	if (which == PROBE_CLONE3) /* no namespace was asked for */
		shown.step = STEP_NONE;
	probe_failure(&shown, words, sizeof(words));
	host_find(row, lost, "%s%s%s", words, without ? ": " : "",
		  without ? without : "");
	if (answer->signal != 0)
		host_advise(row, probe_remedy_around(&view->facts));
	else if (answer->step != STEP_NONE)
		host_advise(row, probe_remedy(&view->facts, answer->step, answer->error));
	if (row->remedy[0] == '\0' && answer->signal == 0 &&
	    (answer->error == ENOSYS || answer->error == EINVAL ||
	     answer->error == EPERM))
		advise_call(&view->facts, which, row);
}

/* A box that ran is the proof that nothing was missing. */
static void settle(struct husk_host *host)
{
	for (size_t i = 0; i < host->count; i++) {
		if (host->usable && host->rows[i].state == HUSK_PROBE_MISSING)
			host->rows[i].state = HUSK_PROBE_WEAKER;
	}
}

struct husk_host *host_judge(const struct host_view *view)
{
	struct husk_host *host =
	    calloc(1, sizeof(*host) + ROW_COUNT * sizeof(host->rows[0]));

	if (!host)
		return NULL;
	host->usable = view->box.ran;
	for (size_t i = 0; i < ROW_COUNT; i++) {
		struct host_row *row = &host->rows[host->count];

		if (view->skip_images && (rows[i].judge == host_judge_store ||
					  rows[i].judge == host_judge_library))
			continue;
		row->name = rows[i].name;
		rows[i].judge(view, rows[i].which, row);
		host->count++;
	}
	settle(host);
	host_judge_level(view, host);
	return host;
}
