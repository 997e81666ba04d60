/* SPDX-License-Identifier: Apache-2.0 */
/* What boxes can write to on the host, and what the command takes from there. An earlier
 * box, or one that runs now, may have made it: the command must not be led by it to what
 * its caller did not name. */
#ifndef CLI_REACH_H
#define CLI_REACH_H

#include "cli/settings.h"

#include <husk/error.h>

/* After the last option: the workspace, and the volumes that can be written to, as paths
 * on the host. Kept; ends with NULL. */
int cli_reach_places(struct cli_settings *settings, const char *const **ret_places,
		     struct husk_error *err);

/* Refuse links in these places on the way to a volume, an image in files or the
 * workspace, refuse a configuration there, and read the environment files. */
int cli_reach_check(struct cli_settings *settings, struct husk_error *err);

#endif
