/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts that all boxes of a session have in common, made once.
 *
 * A template is a mount namespace, with the user namespace that owns it, in which the
 * init program has built a root: the host's programs or the image, /etc, the devices, the
 * workspace and the extra mounts, the host detached. Nothing runs in it. A box that
 * starts from it gets a mount namespace of its own, a copy, in a user namespace of its
 * own, in which every mount of the template is locked (mount_namespaces(7)); there init
 * adds what is each box's alone: its tmpfs, /proc, /dev/pts, the view of its control
 * group. What a box does to its copy no other box sees.
 *
 * So a start makes a dozen mounts instead of three dozen, no file of the skeleton, and
 * detaches nothing; and it costs the same however many mounts the host has.
 *
 * What the copy shares with other boxes of the session: the skeleton's read-only tmpfs.
 * What is mounted on the host after the template was made is not in it; where one of the
 * host's files that boxes see has been replaced, a new template is made.
 *
 * The first box of a session is built by itself; the template is made when there is a
 * second. Where it cannot be made or entered, every box is built by itself.
 */
#ifndef RUNTIME_TEMPLATE_H
#define RUNTIME_TEMPLATE_H

#include "runtime/box.h"

/* Descriptors of a template; the caller closes them. */
struct template_fds {
	int user; /* for a caller whose boxes map their own id, else -1 */
	int mount;
};

/* Heap; released with template_free. NULL on lack of memory. */
struct box_template *template_new(void);
void template_free(struct box_template *template);

/* Is there a template for the box of this call? Counts the box; makes the template where
 * this is the second one and nobody else is making it. Any thread. */
bool template_get(const struct box_spec *spec, const struct box_call *call,
		  struct template_fds *ret);

/* Make it now, for boxes to come. Any thread. */
void template_prepare(const struct box_spec *spec);

/* It could not be entered: no further box tries. */
void template_refuse(const struct box_spec *spec);

#endif
