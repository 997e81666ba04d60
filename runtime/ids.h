/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which host id a box runs as.
 *
 * An ordinary caller's boxes are the caller: one line maps the id in the box to the
 * caller's own, written by the child itself. A caller that is root (and may map ids)
 * gives the box an unprivileged host id from a range that no account uses; files are made
 * to fit by id-mapped mounts. A "root" that has but one id to its name (inside an
 * unprivileged user namespace) is an ordinary caller.
 */
#ifndef RUNTIME_IDS_H
#define RUNTIME_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct ids {
	bool foreign; /* the parent must write the maps */
	uint32_t uid,
	    gid; /* host ids of the box, as the caller's namespace counts them */
};

/* Decide once per process; the answer is the same for every box of it. */
int ids_choose(struct ids *ret, struct husk_error *err);

/* Pure part of it: the text of /proc/self/uid_map, the caller's effective uid, and a
 * number that spreads processes over the range. 0, or -ERANGE where there is no id to
 * give. */
int ids_pick(const char *uid_map, uint32_t euid, uint32_t spread, struct ids *ret);

/* Is this an id that root's boxes run as? No account has one. */
bool ids_is_box(uint32_t uid);

/* Make a user namespace whose map sends disk_uid and disk_gid (as the caller's namespace
 * counts them) to those of ids, for id-mapped mounts. Returns a descriptor of the
 * caller's, or -errno. */
int ids_mount_namespace(const struct ids *ids, uint32_t disk_uid, uint32_t disk_gid);

#endif
