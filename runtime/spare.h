/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box that is made ahead of the call that it will serve, one call and no more.
 *
 * It comes in two forms. A parked one lacks only the program: any call of a program can
 * be given to it. In a held one an interpreter has started and waits for its source on
 * descriptor 3: a socket over which it says when it is ready, and is given the source.
 *
 * What is said on that socket, little-endian:
 *	interpreter	'r', 4 bytes of length, a text for the library: it waits
 *	library		8 bytes of length, the source
 *	interpreter	'y': it has taken the source, from here on the call runs; or an
 *end without a word: it cannot run this, nothing has been run
 *
 * All of it is bounded and none of it is trusted with more than the one call: a call that
 * was not taken is for the caller to make anew.
 */
#ifndef RUNTIME_SPARE_H
#define RUNTIME_SPARE_H

#include "runtime/box.h"

struct box_spare;

/* The interpreter of a held box. Strings are borrowed until box_park returns. */
struct box_hold {
	const char *const *argv;
	const char *const *envp;
	const char *search;
	const char *workdir;
	const void *code; /* a file for it, code_name in BOX_CODE_DIR */
	size_t code_size;
	const char *code_name;
};

/* How long an interpreter may take until it waits, microseconds. */
#define BOX_HOLD_US UINT64_C(60000000)

/* Begin to make one; hold NULL: parked. The thread that does must live as long as the
 * box. HUSK_E_MEMORY, HUSK_E_SYSTEM (the step and its remedy are in the words),
 * HUSK_E_INVALID. */
int box_park(const struct box_spec *spec, const struct box_hold *hold,
	     struct box_spare **ret, struct husk_error *err);

/* Can it be used? 1: yes; 0: not yet, ask again when one of its descriptors is readable
 * and once a second; HUSK_E_SYSTEM: never. */
int box_spare_ready(struct box_spare *spare, struct husk_error *err);
/* For poll(2), while it gets ready, or gets buried; -1 where there is none. */
enum { BOX_SPARE_FDS = 3 };
void box_spare_fds(const struct box_spare *spare, int fds[BOX_SPARE_FDS]);

/* What the interpreter said when it was ready; "" where it said nothing. */
const char *box_spare_said(const struct box_spare *spare);

/* False where it has ended, something killed a part of it, or a file of the host's that
 * it shows was replaced meanwhile. */
bool box_spare_alive(const struct box_spare *spare);

/* Give it, which was alive a moment ago, a call and wait for the end, as box_run does; a
 * held one takes the source
 * (call->code, code_size) and nothing else that belongs to a program: no terminal, no
 * input. 0: there is an outcome, and all that is left of the box is for box_spare_bury
 * to see to. 1: it was of no use, and nothing of the call has been run. Negative: as
 * box_run. A call with BOX_STDIN_FD or a terminal is not for a spare. */
int box_spare_run(struct box_spare *spare, const struct box_call *call,
		  struct box_outcome *ret, struct husk_error *err);

/* Memory that its processes have to themselves, bytes; 0 where it cannot be told. */
uint64_t box_spare_memory(const struct box_spare *spare);

/* Ask it to end, which takes a while. */
void box_spare_end(struct box_spare *spare);
/* Has it ended, so that box_spare_bury need not wait? */
bool box_spare_ended(const struct box_spare *spare);
/* Has it been given longer for that than it should take? */
bool box_spare_overdue(const struct box_spare *spare);

/* Wait until nothing is left of it, and release it. NULL-safe, returns NULL. */
struct box_spare *box_spare_bury(struct box_spare *spare);

/* In a process that inherited it by fork: let go of it and leave it to its owner. What it
 * has in memory is not released. */
void box_spare_abandon(struct box_spare *spare);

#endif
