/* SPDX-License-Identifier: Apache-2.0 */
/* Does what was mounted for a box that is made ahead still lie where a box made now would
 * have it? */
#ifndef RUNTIME_PLACES_H
#define RUNTIME_PLACES_H

#include "runtime/box.h"

/* Changes when a file of the host's that boxes see was replaced, and when a place in the
 * workspace or in a mount, on which something is mounted, became another one: a mount
 * goes along with a directory that is renamed outside the box, and is gone with one that
 * is removed there. */
uint64_t places_stamp(const struct box_spec *spec);

#endif
