/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts that are made up, and what is expected to be said about them. */
#ifndef TESTS_UNIT_HOST_VIEW_H
#define TESTS_UNIT_HOST_VIEW_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "session/host.h"

static inline struct cgroup_host_controller enforced(const char *name)
{
	struct cgroup_host_controller one = {.name = name, .enforceable = true};

	(void)snprintf(one.path, sizeof(one.path), "/sys/fs/cgroup/user.slice/app");
	return one;
}

static inline void with_images(struct host_view *view)
{
	struct health_store *at = &view->store.at;

	for (int i = 0; i < HEALTH_LIBRARIES; i++)
		view->libraries[i].found = true;
	(void)snprintf(at->path, sizeof(at->path), "/home/user/.local/share/husk");
	(void)snprintf(at->base, sizeof(at->base), "%s", at->path);
	at->there = at->writable = at->has_fs = true;
	at->owner = 1000;
	at->fs_type = EXT4_SUPER_MAGIC;
	at->free_bytes = 100ULL << 30;
	at->free_files = 1 << 20;
}

/* A host of an ordinary user where all is well. Static: the caller changes it. */
static inline struct host_view *healthy(void)
{
	static struct host_view view;

	view = (struct host_view){
	    .facts = {.ordinary = true,
		      .uid = 1000,
		      .apparmor_restrict_userns = FACT_ABSENT,
		      .memfd_noexec = FACT_ABSENT,
		      .ptrace_scope = FACT_ABSENT,
		      .selinux_enforcing = FACT_ABSENT,
		      .unprivileged_userns_clone = FACT_ABSENT},
	    .answers.ids = {.uid = 1000, .gid = 1000},
	    .has_limits = true,
	    .limits = {.driver = CGROUP_V2,
		       .driver_name = "v2",
		       .memory = enforced("memory"),
		       .cpus = enforced("cpu"),
		       .pids = enforced("pids")},
	    .box.ran = true,
	};
	probe_facts_release("6.12.0", &view.facts);
	(void)snprintf(view.facts.machine, sizeof(view.facts.machine), "x86_64");
	for (int i = 0; i < SPACE_COUNT; i++)
		view.facts.max_spaces[i] = 10000;
	for (int i = 0; i < PROBE_COUNT; i++)
		view.answers.of[i].state = PROBE_WORKS;
	view.answers.of[PROBE_IDMAP].state = PROBE_UNTRIED;
	view.answers.of[PROBE_LANDLOCK].value = 6;
	with_images(&view);
	return &view;
}

/* The probe fails, and what stands on it is not tried; no box runs. */
static inline void break_probe(struct host_view *view, enum probe probe, uint32_t step,
			       int error)
{
	view->answers.of[probe] =
	    (struct probe_answer){.state = PROBE_FAILS, .step = step, .error = error};
	for (int i = 0; i < PROBE_COUNT; i++) {
		enum probe below = probe_stands_on((enum probe)i);

		if (below != PROBE_COUNT && view->answers.of[below].state != PROBE_WORKS)
			view->answers.of[i] = (struct probe_answer){0};
	}
	view->box = (struct host_box){.reason = "cannot do it", .remedy = "do it"};
}

static inline size_t row_of(const husk_host *host, const char *name)
{
	for (size_t i = 0; i < husk_host_count(host); i++) {
		if (strcmp(husk_host_name(host, i), name) == 0)
			return i;
	}
	fail_msg("no row is called %s", name);
	return 0;
}

/* Judge, and look at one row. finding and remedy: what they hold; remedy NULL: it is
 * empty. */
static inline void expect(const struct host_view *view, const char *name, int state,
			  const char *finding, const char *remedy)
{
	husk_host *host = host_judge(view);
	size_t row = row_of(host, name);

	if (husk_host_state(host, row) != state ||
	    !strstr(husk_host_finding(host, row), finding) ||
	    (remedy ? !strstr(husk_host_remedy(host, row), remedy)
		    : husk_host_remedy(host, row)[0] != '\0'))
		fail_msg("%s: state %d, \"%s\", \"%s\"; expected %d, \"%s\", \"%s\"",
			 name, husk_host_state(host, row), husk_host_finding(host, row),
			 husk_host_remedy(host, row), state, finding,
			 remedy ? remedy : "");
	assert_null(husk_host_free(host));
}

#endif
