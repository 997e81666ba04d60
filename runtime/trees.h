/* SPDX-License-Identifier: Apache-2.0 */
/* Id-mapped mount trees: only a caller that is root makes them, and has to, before the
 * box's namespaces exist. */
#ifndef RUNTIME_TREES_H
#define RUNTIME_TREES_H

#include "runtime/box.h"
#include "runtime/layout.h"

/* Clone and id-map what the box needs so. Does nothing for an ordinary caller. On failure
 * -errno, and *ret_subject names the path. */
int trees_make(const struct box_spec *spec, struct layout_trees *trees,
	       const char **ret_subject);

#endif
