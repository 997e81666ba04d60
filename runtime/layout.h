/* SPDX-License-Identifier: Apache-2.0 */
/* What a box's file system is made of, as plan operations. */
#ifndef RUNTIME_LAYOUT_H
#define RUNTIME_LAYOUT_H

#include "runtime/box.h"
#include "runtime/plan.h"

/* Mount trees that the caller made for this run because the box cannot: only where the
 * caller is root. Indexed like the sources they stand for; -1 where init opens it itself. */
struct layout_trees {
	int image;
	int workspace;
	int *mounts; /* mount_count of them, or NULL */
};

/* Add all mount operations of a box to the plan. */
void layout_build(struct plan *plan, const struct box_spec *spec, const struct box_call *call,
		  const struct layout_trees *trees);

/* -- between layout.c and the two kinds of root --------------------------------------- */
struct host_view;

struct layout {
	struct plan *plan;
	const struct box_spec *spec;
	const struct layout_trees *trees;
	uint64_t extra;		 /* bytes of tmpfs that the skeleton needs */
	struct host_view *views; /* layout_host.c's own, heap */
	size_t view_count;
	uint16_t image_slot;	 /* layout_dir.c's own */
};

/* Trees of the host are opened first (nothing attached may hide them)... */
void layout_host_open(struct layout *layout);
void layout_dir_open(struct layout *layout);
/* ...then the new root is made and entered. */
void layout_host_root(struct layout *layout);
void layout_dir_root(struct layout *layout);
/* ...and filled. */
void layout_host_fill(struct layout *layout);
/* A generated file of /etc, below prefix ("root/" or "skel/"). */
void layout_etc(struct layout *layout, const char *prefix, bool accounts);

#endif
