/* SPDX-License-Identifier: Apache-2.0 */
/* -v SRC:DST[:ro|rw], an extra mount. */
#ifndef CLI_VOLUME_H
#define CLI_VOLUME_H

#include "cli/keep.h"

#include <husk/error.h>
#include <husk/options.h>

/* Without a mode the mount can be written to, as with docker. SRC is absolute or begins
 * with
 * ./ or ../ (then it is made absolute here); DST is absolute. A path with a colon cannot
 * be written in this form and is refused, so that nothing else is ever mounted in its
 * place.
 *
 * Ownership: the strings of *ret_mount are kept. */
int cli_volume_parse(struct cli_keep **kept, const char *text,
		     struct husk_mount *ret_mount, struct husk_error *err);

#endif
