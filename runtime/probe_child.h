/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One child that tries one thing. Like the stub of a box (runtime/stub.h) it shares the
 * caller's memory, so that it costs the same whatever the caller holds, and may touch
 * nothing of it but its own struct: raw system calls only.
 *
 * The parent waits for it up to a deadline, and kills it then; no signal of the caller is
 * involved, and nobody else can reap it.
 */
#ifndef RUNTIME_PROBE_CHILD_H
#define RUNTIME_PROBE_CHILD_H

#include "runtime/probe.h"

enum {
	PROBE_CHILD_STACK = 32768,
	PROBE_EXEC_STACK = 8192,
	PROBE_CHILD_MS = 5000, /* the usual deadline; what is done takes microseconds */
};

/* probe_child.go */
enum { PROBE_WAIT, PROBE_GO, PROBE_STOP };

struct probe_child {
	/* Set by the caller. */
	uint64_t spaces; /* CLONE_NEW*; with CLONE_NEWUSER, ids are mapped to 0 first */
	long (*act)(struct probe_child *child); /* in the child; 0 and up: it works */
	struct ids ids;
	int fd, fd2;   /* for act */
	int caller_fd; /* pidfd of the caller; probe_child_run sets it */
	int limit_ms;  /* deadline; probe_child_new sets the usual one */
	/* Shared while the child runs. */
	volatile uint32_t go;	/* futex: PROBE_WAIT until the maps are written */
	volatile uint32_t step; /* enum step now being done */
	volatile uint32_t done; /* act has returned */
	volatile int64_t value; /* what it returned */
	char uid_map[40], gid_map[40];
	char stack[PROBE_CHILD_STACK] __attribute__((aligned(64)));
	char exec_stack[PROBE_EXEC_STACK] __attribute__((aligned(64)));
};

/* Heap; everything empty. NULL on lack of memory. */
struct probe_child *probe_child_new(void);

/* Run it to its end and release it. */
void probe_child_run(struct probe_child *child, struct probe_answer *ret);

/* -- probe_tries.c: what runs in the child -- */
/* Entry of the child; never returns. */
void probe_child_main(void *child, void *unused);

/* Values of act, one for each thing. A failure names its step in child->step. */
long probe_try_clone3(struct probe_child *child);
long probe_try_user(struct probe_child *child);
long probe_try_pid(struct probe_child *child);
long probe_try_mount(struct probe_child *child);
long probe_try_network(struct probe_child *child);
long probe_try_ipc(struct probe_child *child);
long probe_try_uts(struct probe_child *child);
long probe_try_cgroup(struct probe_child *child);
long probe_try_trees(struct probe_child *child);
long probe_try_pivot(struct probe_child *child);
long probe_try_procfs(struct probe_child *child);
long probe_try_terminal(struct probe_child *child);
long probe_try_idmap(struct probe_child *child); /* fd: directory, fd2: user namespace */
long probe_try_overlay(struct probe_child *child);
long probe_try_init(struct probe_child *child); /* fd: the init program */
long probe_try_no_new_privs(struct probe_child *child);
long probe_try_filter(struct probe_child *child);
long probe_try_listener(struct probe_child *child);
long probe_try_pidfd(struct probe_child *child);
long probe_try_openat2(struct probe_child *child);
long probe_try_close_range(struct probe_child *child);
long probe_try_landlock(struct probe_child *child);

#endif
