/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run on the host side: launch (plan, clone, id maps), supervise (streams, deadline,
 * report), and the words for a start that failed.
 *
 * Processes: the caller's thread; the shim, which shares its memory and waits for init;
 * the stub, which shares it until it executes and becomes init; init, PID 1 of the box;
 * the workload. Descriptors: a channel to init, the plan's memfd, and one pipe a stream
 * whose other end only the workload holds once it runs.
 */
#ifndef RUNTIME_RUN_H
#define RUNTIME_RUN_H

#include "runtime/box.h"
#include "runtime/layout.h"
#include "runtime/plan.h"
#include "runtime/stub.h"
#include "runtime/template.h"
#include "runtime/wire.h"

enum { STUB_STACK = 16384 };

struct run {
	const struct box_spec *spec;
	const struct box_call *call;
	struct box_outcome *outcome;
	struct cgroup_box *cgroup;
	int join_fds[CGROUP_JOIN_MAX]; /* the cgroup's own */
	uint32_t join_count;
	bool joins_late; /* the cgroup is made after the clone */
	enum layout_part part;
	struct template_fds template; /* LAYOUT_BOX */
	struct layout_trees trees;
	int caller_fd; /* pidfd of this process; owned where own_caller_fd */
	int own_caller_fd;
	int block_fd;		  /* the plan */
	uint32_t room, room_size; /* in it, for the call of a parked box */
	uint32_t denials_at;	  /* offset in it, 0: not traced */
	int channel, box_channel;
	int out, box_out;
	int err, box_err;
	int in, box_in;		/* -1 where the box reads its own /dev/null */
	int source, box_source; /* to an interpreter that is held; else -1 */
	int shim_fd;		/* pidfd of the shim: it ends when the box has ended */
	uint64_t begin_us;	/* monotonic */
	uint64_t shim_end_us;	/* when it is killed; 0: it has not been waited for */
	bool warm;		/* made ahead of its call, and let go */
	bool reported;		/* init has: everything else in the box is dead */
	bool lost;		/* init died without a word */
	struct timing_clock *clock; /* runtime/timing.h; NULL: not timed */
	char fd_text[16];
	char *init_argv[3];
	struct stub_args stub;
	char shim_stack[STUB_STACK] __attribute__((aligned(64)));
	char stub_stack[STUB_STACK] __attribute__((aligned(64)));
};

/* Heap; everything empty. NULL on lack of memory. */
struct run *run_new(const struct box_spec *spec, const struct box_call *call,
		    struct box_outcome *outcome);
/* Closes, removes the cgroup, frees. The box must be gone. NULL-safe, returns NULL. */
struct run *run_free(struct run *run);

/* Start the box. 0: it is on its way. 1: a step failed, the outcome says so and nothing
 * is left. Negative: HUSK_E_*. */
int run_launch(struct run *run, struct husk_error *err);

/* See it through to its end; the outcome is complete afterwards. A warm run whose init
 * has reported is left at that: run_bury sees to the rest. */
void run_supervise(struct run *run);

/* Note what the box used, once; everything in it but init is dead. */
void run_count(struct run *run);

/* What init has written down, also where it is dead; nothing where that cannot be read.
 */
struct wire_progress run_progress(const struct run *run);

/* Wait until nothing is left of the box; it is ended where it does not end by itself. */
void run_bury(struct run *run);

/* End the box at once; run_supervise does the rest. */
void run_kill(struct run *run);

/* End a box that has been launched and is not to be: it runs no program yet. */
void run_abandon(struct run *run);

/* Build the plan of a run. trees and descriptors as they are in run. */
int run_plan(struct run *run, struct plan *plan, struct husk_error *err);

/* The time of the monotonic clock at which init ends the box by itself. */
uint64_t run_init_deadline(const struct run *run);

/* Put the call's finished block into the room of a parked box's plan; 0 or -errno. */
int run_hand_over_call(const struct run *run, const struct plan *plan);

/* The outcome of a start that failed at `step` with errno `error`. */
void run_failed(struct run *run, uint32_t step, int error, const char *subject);

/* Tests only: the negative errno that the call wants to meet at this step, else 0. */
int run_injected(const struct run *run, uint32_t step);

/* -- pipes.c --------------------------------------------------------------------------
 */
/* Make the channel and the pipes; 0 or -errno. */
int run_make_pipes(struct run *run);
/* Tell init which control groups to join (struct wire_joins); 0 or -errno. */
int run_send_joins(const struct run *run, uint64_t nproc);
/* The pipe for standard input alone. */
int run_make_input(struct run *run);

/* A message of init's that has come, and the descriptors that came with it, count of them
 * (at most RECEIVE_FDS) or none: fds is left as it is then. What recvmsg(2) returns. */
enum { RECEIVE_FDS = 2 };
ssize_t run_receive(int channel, struct wire_report *report, int *fds, size_t count);

/* -- failure.c ------------------------------------------------------------------------
 */
/* The sentence and the remedy for a failed step, into outcome->reason and hint. */
void failure_words(struct box_outcome *outcome);

#endif
