/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two snapshots of one tree. A pure function of both. */
#ifndef SESSION_DIFF_COMPARE_H
#define SESSION_DIFF_COMPARE_H

#include <stdint.h>

struct husk_listing;
struct snapshot;

/* Any difference counts, however old its ctime is. */
#define DIFF_SINCE_EVER INT64_MIN

/* Add to `changes` what differs in `after`, a snapshot that was taken with `before` as
 * the older one, and sort it. A file that is still the same inode and has a ctime before
 * `since` is not counted as modified. Where a bound was reached (snapshot.cut) nothing is
 * claimed that may be due to that. 0 or -ENOMEM. */
int diff_compare(const struct snapshot *before, const struct snapshot *after,
		 int64_t since, struct husk_listing *changes);

#endif
