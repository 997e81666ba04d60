/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boxes of a session that wait for their call, and the thread that sees to them.
 *
 * The keeper is a thread of the session with all signals blocked. It makes the spares,
 * which takes milliseconds, and takes down what is left of used ones: both are off the
 * path of every call. It alone makes them also because the kernel binds a box to the
 * thread that made it (DESIGN.md, section 2, 3).
 *
 * Which kinds there are follows the session's last calls: of n spares, each is of the
 * kind that one of the last n calls wanted. A call that finds none of its kind takes one
 * for a program, and else a box is made for it; it never waits for a spare.
 *
 * A process that inherited the session by fork has no keeper: its calls find no spare.
 */
#ifndef SESSION_SPARES_H
#define SESSION_SPARES_H

#include <husk/session.h>

#include "runtime/spare.h"

enum spare_kind {
	SPARE_PROGRAM, /* waits for any program */
	SPARE_PYTHON,  /* an interpreter that waits for its source */
	SPARE_NODE,
	SPARE_KINDS
};

struct husk_session;
struct spares;

/* A directory at one moment. */
struct spare_stamp {
	bool there;
	dev_t dev;
	ino_t ino;
	int64_t seconds, nanoseconds; /* its ctime */
};

/* One spare, in the hands of one call or of the keeper. */
struct spare_slot {
	struct box_spare *box;
	enum spare_kind kind;
	uint64_t generation; /* of the settings that it was made with */
	/* What an interpreter would have found: .deps when it was started, and .deps and
	 * the workspace's top when they were last compared with what it has loaded. */
	struct spare_stamp born_with, deps, place;
	struct spare_slot *next;
};

/* Begin to keep spares, as the session's settings want it; *ret stays NULL where they
 * want none. Does not wait for any. HUSK_E_SYSTEM, HUSK_E_MEMORY. */
int spares_new(struct husk_session *session, struct spares **ret, struct husk_error *err);
/* End them all and wait until nothing is left. NULL-safe, returns NULL. */
struct spares *spares_free(struct spares *spares);

/* A call begins that would like this kind: one of it that is ready, or NULL. NULL-safe.
 */
struct spare_slot *spares_take(struct spares *spares, enum spare_kind kind);
/* Note what the session is used for, once a call. NULL-safe. */
void spares_note(struct spares *spares, enum spare_kind kind);
/* What a call has used, or found to be of no use, goes back to be taken down. */
void spares_return(struct spares *spares, struct spare_slot *slot);
/* A call is over: spares may be made. NULL-safe. */
void spares_wake(struct spares *spares);

/* Between these two no spare is being made, and what the session's boxes are made of may
 * be changed; those that were made before are of no use after. NULL-safe. */
void spares_hold(struct spares *spares);
void spares_renew(struct spares *spares);

/* How many are ready, and their memory; NULL-safe. */
void spares_count(struct spares *spares, struct husk_spares *ret);

#endif
