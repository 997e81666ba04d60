/* SPDX-License-Identifier: Apache-2.0 */
#include "session/diff.h"

#include "base/error.h"
#include "session/diff_compare.h"
#include "session/listing.h"
#include "session/snapshot.h"

#include <errno.h>
#include <string.h>

static const char where[] = "workspace changes";

/* From so many files on, reading a tree without sharp ctimes costs more than proving
 * them. */
enum { LARGE_TREE = 1000 };

void diff_init(struct diff *diff, int root)
{
	*diff = (struct diff){.root = root, .stamp = STAMP_INIT};
	(void)pthread_mutex_init(&diff->lock, NULL);
}

void diff_deinit(struct diff *diff)
{
	diff->kept = snapshot_unref(diff->kept);
	stamp_deinit(&diff->stamp);
	(void)pthread_mutex_destroy(&diff->lock);
}

/* The kept snapshot with a reference for the caller, if it can be brought up to date by
 * looking at the directories alone; else NULL. */
static struct snapshot *usable_kept(struct diff *diff, int64_t clock_offset)
{
	struct snapshot *kept = NULL;

	(void)pthread_mutex_lock(&diff->lock);
	/* The first call of a session has nothing to compare, and so pays for no proof.
	 */
	if (diff->kept && !diff->kept->cut &&
	    !stamp_clock_stepped(diff->kept->clock_offset, clock_offset) &&
	    stamp_ready(&diff->stamp, diff->root)) {
		kept = diff->kept;
		kept->refs++;
	}
	(void)pthread_mutex_unlock(&diff->lock);
	return kept;
}

static bool draw_line(struct diff *diff, int64_t *ret)
{
	bool sharp;

	(void)pthread_mutex_lock(&diff->lock);
	sharp = stamp_mark(&diff->stamp, diff->root, ret);
	(void)pthread_mutex_unlock(&diff->lock);
	return sharp;
}

static void drop(struct diff *diff, struct snapshot *snapshot)
{
	(void)pthread_mutex_lock(&diff->lock);
	snapshot_unref(snapshot);
	(void)pthread_mutex_unlock(&diff->lock);
}

/* Keep a snapshot for the next call, unless a call that ran meanwhile has left a later
 * one. */
static void keep(struct diff *diff, struct snapshot *snapshot)
{
	(void)pthread_mutex_lock(&diff->lock);
	if (!diff->kept || diff->kept->begun <= snapshot->begun) {
		snapshot->refs++;
		snapshot_unref(diff->kept);
		diff->kept = snapshot;
	}
	(void)pthread_mutex_unlock(&diff->lock);
}

static int take_before(struct diff *diff, struct diff_call *call, struct snapshot *kept)
{
	const struct snapshot_how how = {
	    .old = kept,
	    .trust_ctime = kept != NULL,
	    .names_only = kept != NULL,
	    .skip_deps = true,
	};
	int r = snapshot_take(diff->root, &how, &call->before);

	drop(diff, kept);
	return r;
}

int diff_begin(struct diff *diff, struct diff_call *call, struct husk_error *err)
{
	struct snapshot *kept;
	bool full;
	int r;

	*call = DIFF_CALL_INIT;
	call->clock_offset = stamp_clock_offset();
	kept = usable_kept(diff, call->clock_offset);
	full = !kept;
	r = take_before(diff, call, kept);
	/* A full walk can do without a line, unless files in it are so new that a change
	 * might not show. */
	if (r == 0 && (!full || call->before->file_count >= LARGE_TREE ||
		       stamp_is_recent(call->before->newest)))
		call->sharp = draw_line(diff, &call->since);
	if (r == 0 && !full && !call->sharp) {
		drop(diff, call->before);
		call->before = NULL;
		r = take_before(diff, call, NULL);
	}
	if (r < 0)
		return error_sys(err, -r, where,
				 "cannot read the workspace before the call");
	if (!call->sharp)
		stamp_wait_past(call->before->newest);
	keep(diff, call->before);
	return 0;
}

static int compare(struct diff *diff, struct diff_call *call,
		   struct husk_listing *changes)
{
	const bool sharp =
	    call->sharp && !stamp_clock_stepped(call->clock_offset, stamp_clock_offset());
	const struct snapshot_how how = {
	    .old = call->before,
	    .trust_ctime = sharp,
	    .skip_deps = true,
	};
	struct snapshot *after = NULL;
	int r = snapshot_take(diff->root, &how, &after);

	if (r < 0)
		return r;
	keep(diff, after);
	r = diff_compare(call->before, after, sharp ? call->since : DIFF_SINCE_EVER,
			 changes);
	drop(diff, after);
	return r;
}

int diff_end(struct diff *diff, struct diff_call *call, struct husk_listing **ret_changes,
	     struct husk_error *err)
{
	struct husk_listing *changes = listing_new();
	int r = changes ? compare(diff, call, changes) : -ENOMEM;

	if (r != -EMFILE && r != -ENFILE)
		diff_cancel(diff, call);
	if (r < 0) {
		husk_listing_free(changes);
		return error_sys(err, -r, where,
				 "cannot read the workspace after the call");
	}
	*ret_changes = changes;
	return 0;
}

void diff_cancel(struct diff *diff, struct diff_call *call)
{
	drop(diff, call->before);
	*call = DIFF_CALL_INIT;
}
