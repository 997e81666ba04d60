/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of the workspace a call created, modified or deleted.
 *
 * Regular files only, by path, sorted by the bytes of the paths; never anything in the
 * directory .deps at the top. A rename is one deleted and one created. "modified" is any
 * change that the kernel puts a new ctime on or that puts another file in the place:
 * content, also with its old size and times put back, but as well mode, times and hard
 * links, which cannot be told from that. Writes by the host between two calls are not the
 * call's.
 *
 * How. One full walk per call: the walk after a call is kept, and at the beginning of the
 * next only the directories are looked at. Those whose ctime is as before have the names
 * that are known; the others are read again. That makes the names exact. Of the files,
 * those count as modified that differ from what is known and have a ctime not before the
 * beginning of the call. Both need ctimes that tell every change apart (session/stamp.h);
 * where the kernel has no such (before 6.13) or the file system does not, or the wall
 * clock was stepped, a full walk is made before the call as well and any difference
 * counts.
 *
 * What is said about calls that overlap in time, with each other or with writes of the
 * host: a change is reported by every call that it happened during.
 *
 * Not seen: files that are below a directory that cannot be read, before or after the
 * call (modes are not changed to look), and below a mount; what goes past the bounds of
 * session/snapshot.h and session/listing.h, which marks the listing as cut; and, before
 * Linux 6.13, writes to a mapped file on tmpfs, which that kernel does not date. On file
 * systems that keep times in whole seconds, an edit in the second of the one before that
 * keeps the size and the inode is not seen either. */
#ifndef SESSION_DIFF_H
#define SESSION_DIFF_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <husk/error.h>
#include <husk/session.h>

#include "session/stamp.h"

struct snapshot;

/* One for a session; safe to use from many threads. */
struct diff {
	int root; /* the workspace; stays the caller's */
	pthread_mutex_t lock;
	struct stamp stamp;    /* under lock */
	struct snapshot *kept; /* under lock, and so are all counts of references */
};

/* One for a call. */
struct diff_call {
	struct snapshot *before; /* NULL: not begun */
	bool sharp;		 /* `since` may be compared with ctimes */
	int64_t since;
	int64_t clock_offset;
};

#define DIFF_CALL_INIT         \
	(struct diff_call)     \
	{                      \
		.before = NULL \
	}

void diff_init(struct diff *diff, int root);
void diff_deinit(struct diff *diff);

/* Before the program of a call is let go (a box that only waits may exist already).
 * Errors: HUSK_E_SYSTEM, HUSK_E_MEMORY; the call is not begun then. */
int diff_begin(struct diff *diff, struct diff_call *call, struct husk_error *err);

/* After everything in the box is dead: what changed (husk/session.h has the getters,
 * session/listing.h the rest). The call is over also on failure, but for one that has
 * sys_errno EMFILE or ENFILE: that can be tried again, or cancelled.
 * Errors: HUSK_E_SYSTEM, HUSK_E_MEMORY. */
int diff_end(struct diff *diff, struct diff_call *call, struct husk_listing **ret_changes,
	     struct husk_error *err);

/* Where the call came to nothing: let go of what diff_begin made. Fine if it made
 * nothing. */
void diff_cancel(struct diff *diff, struct diff_call *call);

#endif
