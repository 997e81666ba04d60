/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that becomes PID 1 in the box.
 *
 * It is executed by the stub (runtime/stub.c) in new user, PID, mount, network, IPC and
 * UTS namespaces with full capabilities in them, ids already mapped, and holds the plan,
 * the channel, a pidfd of the caller and the workload's streams. It walks the plan, gives
 * up everything, forks the workload, reaps until the main process has ended, ends and
 * reaps the rest, reports, exits. When it dies, the kernel ends everything in the box.
 *
 * It is single-threaded, static and has no C library: nothing of a host is in its memory
 * but the plan.
 */
#ifndef RUNTIME_INIT_H
#define RUNTIME_INIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/rawsys.h"
#include "runtime/steps.h"
#include "runtime/wire.h"

struct init {
	struct wire_header *plan;	/* the block: header, operations, pool */
	struct wire_header *call_block; /* where the call's strings lie: the plan, or what
					 * came later */
	struct wire_call *call;		/* in call_block; NULL while the box is parked */
	uint64_t deadline_us;		/* monotonic clock */
	uint64_t used_us;		/* CPU time that is not the call's */
	uint64_t reaped_us, largest_kib; /* of all that was reaped */
	int carrier_fd;	 /* root directory of the tmpfs that carries the new root */
	int root_fd;	 /* the new root */
	int signal_fd;	 /* SIGCHLD */
	int listener_fd; /* seccomp notifications, or -1 */
	int main_pid;
	int more;	       /* tasks wait to be looked at: do not wait for a signal */
	uint32_t filter_kills; /* there is no listener: the filter kills by itself */
	int slots[WIRE_SLOTS];
};

/* -- text.c: what the compiler and the rest expect of a C library ------------------- */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *text);
/* Copy text into a field of the given capacity, cut to fit, always NUL-ended. */
void text_copy(char *to, size_t capacity, const char *text);
/* Decimal text to int, -1 when it is not a number. */
int text_number(const char *text);

/* -- report.c ----------------------------------------------------------------------- */
/* The string at an offset of the plan, and of the block that the call lies in. */
const char *plan_text(const struct init *init, uint32_t offset);
const char *call_text(const struct init *init, uint32_t offset);
/* Note which step is being done, for the library to see where init is killed. In test
 * builds: returns the negative errno that the plan wants to be injected here, else 0. */
long step_begin(struct init *init, uint32_t step);
/* Test builds: the negative errno that the plan wants to be injected at this step, else
 * 0. For steps that are done while the child notes its own. */
long step_injected(const struct init *init, uint32_t step);
/* From here on the time is that of this step, where it is asked for; STEP_NONE: the
 * program's. */
void step_time(struct init *init, uint32_t step);
/* Report that a step failed and exit: no program runs. error is a positive errno. */
_Noreturn void step_fail(struct init *init, uint32_t step, long error,
			 const char *subject);
/* Do a step that returns a value or -errno; fail on the latter. */
#define STEP(init, step, subject, call)                           \
	({                                                        \
		long step_r_ = step_begin(init, step);            \
		if (step_r_ == 0)                                 \
			step_r_ = (call);                         \
		if (step_r_ < 0)                                  \
			step_fail(init, step, -step_r_, subject); \
		step_r_;                                          \
	})
/* Send a report; there is nothing to be done where nobody listens. */
void report_send(struct init *init, const struct wire_report *report);
/* The same with one or two descriptors; -errno where it cannot be sent. kind: enum
 * wire_message. */
long report_send_fds(struct init *init, uint32_t kind, const int *fds, unsigned count);
_Noreturn void init_exit(int status);

/* -- joins.c ------------------------------------------------------------------------ */
/* Enter the control groups that the caller has made, where the plan says that it does. */
void join_cgroups(struct init *init);

/* -- mounts.c ----------------------------------------------------------------------- */
/* Walk the plan's operations, pivot into the new root, detach the host. */
void mounts_apply(struct init *init);

/* -- template.c --------------------------------------------------------------------- */
/* Hand over the namespaces that hold the mounts, and exit. */
_Noreturn void template_hand_over(struct init *init);

/* -- lockdown.c --------------------------------------------------------------------- */
/* In the new root, while its /proc can be written to. */
void lock_user_spaces(struct init *init);
void lock_hostname(struct init *init);
void lock_loopback(struct init *init);
/* Bound what the kernel counts for a user, and so takes from the caller's own. Like
 * lock_user_spaces(). */
void lock_counts(struct init *init);
void lock_rlimits(struct init *init);
void lock_capabilities(struct init *init);
void lock_privileges(struct init *init);

/* -- landlock.c --------------------------------------------------------------------- */
/* Confine init, and what it starts, to the new root. With capabilities or after
 * no_new_privs. */
void lock_to_root(struct init *init);

/* -- terminal.c --------------------------------------------------------------------- */
/* Make the terminal of the box's own where the plan wants one, hand its master side to
 * the caller, and let it be the standard streams. */
void terminal_open(struct init *init);

/* -- park.c ------------------------------------------------------------------------- */
/* Map a block of the wire format, whose descriptor is closed then; NULL where it is not
 * one. */
struct wire_header *park_map(int fd);
/* Note where the call lies in a block. */
void park_adopt(struct init *init, struct wire_header *block);
/* Where the plan has no call: do all that needs none, wait for it, and let its program
 * go. Ends the box where none will come. */
void park(struct init *init);
/* Of a box made ahead the caller waits for the report and no longer: let it have the
 * processor before the kernel takes the box down, until it says that it has done. */
void park_linger(const struct init *init);
/* The CPU time of a process, in microseconds. */
uint64_t park_used(int pid);
/* Something is on the channel of a box that has its program. Returns 1 where it is to be
 * ended. */
int park_obey(struct init *init);

/* -- workload.c --------------------------------------------------------------------- */
/* Default dispositions, for init and for what it starts: the caller's are inherited, and
 * "ignored" survives exec, signal(7). With SIGCHLD ignored no child would ever be reaped.
 */
void workload_default_signals(void);
/* That of one signal, with flags as sigaction(2) has them; 0 or -errno. */
long workload_default_signal(int number, unsigned long flags);
/* Place the standard streams at 0, 1 and 2 of init itself: the workload inherits them. */
void workload_place_stdio(struct init *init);
/* Fork and execute the program; returns once it is executed. Reports and exits if not. */
void workload_start(struct init *init);
/* The same in two parts. Fork, and return when the child has stopped, its filter
 * installed: all that it will do is to execute a program. */
void workload_prepare(struct init *init);
/* The call is there: let the child go on with it. */
void workload_let_go(struct init *init);
/* The main process has ended. Where it did not execute its program, that is reported, or
 * left for the library to see, and init exits. */
void workload_ended(struct init *init);

/* -- standby.c: how the child of a parked box waits ---------------------------------- */
/* Of the child. Before its filter: let it be stopped soon. */
void standby_arm(void);
/* Behind its filter: wait for the call. */
void standby_wait(void);
/* Of init. Before it makes the child; 0 or -errno. */
long standby_prepare(void);
/* Return when the child has stopped behind its filter; negative: it has ended. */
int standby_await(const struct init *init);
/* The call is there: let the child go on. */
void standby_end(const struct init *init);

/* -- guard.c ------------------------------------------------------------------------ */
/* Hold init itself to the calls of its watch; 0 or -errno. */
long guard_install(struct init *init);
/* The same, and the calls that a parked box still needs for its call. */
long guard_install_parked(struct init *init);
/* Give those up as well: what is left are the calls of its watch. */
long guard_narrow(struct init *init);

/* -- trace.c ------------------------------------------------------------------------ */
/* Only where the plan has a place for what is refused. */
int trace_wanted(const struct init *init);
/* Attach to the child, which has not executed anything yet; 0 or -errno. */
long trace_begin(struct init *init, int child);
/* A task has stopped for us: note what there is to note, and let it go on. */
void trace_stop(struct init *init, int task, int status);

/* -- refused.c ---------------------------------------------------------------------- */
struct refused {
	int task;
	uint32_t nr, arch, answer;
	uint64_t args[6];
};
/* Note that the filter refuses this call, or that it failed with an errno. */
void refused_by_filter(struct init *init, const struct refused *call);
void refused_by_kernel(struct init *init, const struct refused *call, int error);

/* -- peek.c ------------------------------------------------------------------------- */
/* A file that a stopped task names: the text at `address` (0: none), relative to the
 * directory `dir` of its own (AT_FDCWD: where it works). Returns the size, 0 where it is
 * not to be known. What a box's memory says is for people to read, never to act on. */
uint32_t peek_path(int task, int dir, uint64_t address, char *to, uint32_t capacity);
/* Bytes of its memory; the same returned. */
uint32_t peek_bytes(int task, uint64_t address, char *to, uint32_t size);

/* -- watch.c ------------------------------------------------------------------------ */
/* Reap and answer notifications until the main process has ended; then end the rest. */
_Noreturn void watch_until_end(struct init *init);

#endif
