/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of control groups on this very kernel, whatever driver it comes to: making
 * boxes, running something in them, and looking whether anything is left. What cannot be
 * tried here is skipped with the reason.
 *
 * Other programs may be making boxes in the same groups meanwhile, so nothing is
 * concluded from directories other than those of the boxes made here.
 */
#ifndef TESTS_UNIT_CGROUP_LIVE_H
#define TESTS_UNIT_CGROUP_LIVE_H

#include "cgroup/cgroup.h"
#include "cgroup/place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/skipping.h"

#define MIB (1024u * 1024u)

static struct cgroup_host host;

/* Make the box or fail the test with the words of the error. */
static inline struct cgroup_box *box_with(uint64_t memory, uint64_t cpu_milli,
					  uint64_t pids)
{
	struct cgroup_caps caps = {
	    .memory_bytes = memory, .cpu_milli = cpu_milli, .pids = pids};
	struct husk_error err = {0};
	struct cgroup_box *box = NULL;

	if (cgroup_box_new(&caps, true, &box, &err) < 0)
		fail_msg("%s: %s (%s)", err.where, err.message, err.hint);
	return box;
}

/* The same in a child, which a failing check must not turn into a second run of the
 * tests. */
static inline struct cgroup_box *child_box(uint64_t pids)
{
	struct cgroup_caps caps = {.pids = pids};
	struct cgroup_box *box = NULL;

	if (cgroup_box_new(&caps, true, &box, NULL) < 0)
		_exit(70);
	return box;
}

static inline void need(const struct cgroup_host_controller *controller)
{
	if (controller->enforceable)
		return;
	skip_because("no %s here: %s", controller->name, controller->why);
}

/* Go into the box, as a box's init does: single-threaded, by "0". */
static inline void join(struct cgroup_box *box)
{
	int fds[CGROUP_JOIN_MAX];
	ssize_t count = cgroup_box_join_fds(box, fds);

	if (count <= 0)
		_exit(90);
	for (ssize_t i = 0; i < count; i++)
		if (write(fds[i], "0", 1) != 1)
			_exit(91);
}

/* Drop what a box's program never holds: the locks of the box. */
static inline void let_go(struct cgroup_box *box)
{
	for (int i = 0; i < CGROUP_GROUPS; i++)
		if (box->fds[i] >= 0)
			(void)close(box->fds[i]);
	if (box->join >= 0)
		(void)close(box->join);
}

typedef void (*action)(void);

/* Run an action in the box. The process, which is ours to wait for. */
static inline pid_t run_in(struct cgroup_box *box, action act)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		join(box);
		let_go(box);
		act();
		_exit(0);
	}
	return pid;
}

static inline int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static inline bool is_there(const struct cgroup_place *place, size_t group,
			    const char *name)
{
	struct stat st;

	return fstatat(place->groups[group].dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What a box leaves is looked for after it is gone: keep what is needed for that. */
struct trace {
	struct cgroup_place *place;
	char name[CGROUP_NAME_SIZE];
};

static inline struct trace trace_of(const struct cgroup_box *box)
{
	struct trace trace = {.place = cgroup_place_get(CGROUP_ALLOW_MOVE)};

	assert_ptr_equal(trace.place, box->place);
	memcpy(trace.name, box->name, sizeof(trace.name));
	return trace;
}

static inline void assert_gone(struct trace *trace)
{
	for (size_t i = 0; i < trace->place->count; i++)
		assert_false(is_there(trace->place, i, trace->name));
	cgroup_place_put(trace->place);
}

static inline void free_and_check(struct cgroup_box *box)
{
	struct trace trace = trace_of(box);

	assert_null(cgroup_box_free(box));
	assert_gone(&trace);
}

/* Everybody in the box holds the writing end of this pipe: its end-of-file says that all
 * of them are gone. */
static int alive[2];

static inline void sleep_stubbornly(void)
{
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	for (int i = 0; i < 3; i++) {
		(void)fork();
		(void)setsid();
	}
	(void)!write(alive[1], "x", 1);
	for (;;)
		(void)pause();
}

static inline int look(void **state)
{
	int r = cgroup_describe(&host);

	(void)state;
	print_message("control groups here: driver %s%s\n", host.driver_name,
		      host.moves_caller ? ", after moving the caller" : "");
	return r;
}

#endif
