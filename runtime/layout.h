/* SPDX-License-Identifier: Apache-2.0 */
/* What a box's file system is made of, as plan operations. */
#ifndef RUNTIME_LAYOUT_H
#define RUNTIME_LAYOUT_H

#include "runtime/box.h"
#include "runtime/plan.h"

/* What differs from run to run. Mount trees that the caller made because the box cannot:
 * only where the caller is root; -1 where init opens the source itself. */
struct layout_trees {
	int image;
	int workspace;
	int *mounts;	  /* mount_count of them, or NULL */
	bool cgroup_view; /* the box is in a v2 cgroup of its own, to be seen read-only */
};

/* What of the host a box can see, found out once for a session: looking costs more than
 * using. */
enum { VIEWS_MAX = 48, VIEW_PATH = 128, LINKS_MAX = 8, LINK_TARGET = 64 };

struct host_view {
	char path[VIEW_PATH]; /* without a leading slash */
	bool directory;
};

struct host_link {
	const char *name;
	char target[LINK_TARGET];
};

struct host_views {
	struct host_view views[VIEWS_MAX]; /* /usr is the first */
	size_t view_count;
	struct host_link links[LINKS_MAX]; /* of a merged /usr */
	size_t link_count;
	uint32_t proc_masks,
	    sys_views; /* bit i: row i of layout.c's table is in this kernel */
	int error;     /* why something could not be looked at, or 0; while it is made */
};

/* Look. *ret is the caller's, released with free(3). HUSK_E_MEMORY, HUSK_E_SYSTEM. */
int host_views_new(struct host_views **ret, struct husk_error *err);
/* A number that changes when one of the single files among the views is replaced. */
uint64_t host_views_stamp(const struct host_views *views);
/* layout.c's part of it. */
void layout_find_rows(struct host_views *views);

/* A box's mounts come all at once, or as a template that is made once for a session and
 * what each box adds to its copy of it (runtime/template.h). */
enum layout_part { LAYOUT_WHOLE, LAYOUT_TEMPLATE, LAYOUT_BOX };

/* Can the boxes of this spec share a template? Not where a box writes to its root, or
 * where a mount lies in what is each box's own. */
bool layout_can_share(const struct box_spec *spec);

/* Add the mount operations of that part to the plan. */
void layout_build(struct plan *plan, const struct box_spec *spec,
		  const struct box_call *call, const struct layout_trees *trees,
		  enum layout_part part);

/* -- between layout.c and the two kinds of root ---------------------------------------
 */
struct layout {
	struct plan *plan;
	const struct box_spec *spec;
	const struct layout_trees *trees;
	uint64_t extra;	     /* bytes of tmpfs that the skeleton needs */
	uint16_t image_slot; /* layout_dir.c's own */
};

/* The image's tree is opened first... */
void layout_dir_open(struct layout *layout);
/* ...then the new root is made and entered. */
void layout_host_root(struct layout *layout);
void layout_dir_root(struct layout *layout);
/* ...and filled. */
void layout_host_fill(struct layout *layout);
/* The directories of /sys, below prefix ("" or "skel/"). */
void layout_sys_dirs(struct plan *plan, const char *prefix);
/* The generated files of /etc, below prefix ("" or "skel/"). */
void layout_etc(struct layout *layout, const char *prefix, bool accounts);

#endif
