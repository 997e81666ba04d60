/* SPDX-License-Identifier: Apache-2.0 */
/* Where images are kept and come from, as the command line and the caller's environment
 * have it. All of the environment that concerns images is read here. */
#ifndef CLI_IMAGES_H
#define CLI_IMAGES_H

#include "cli/settings.h"

#include <husk/error.h>
#include <husk/session.h>

/* After the last option: complete settings->images. HUSK_E_INVALID, HUSK_E_MEMORY. */
int cli_images_finish(struct cli_settings *settings, struct husk_error *err);

/* Open a session; where its image has to be fetched, say so on stderr, and stop when
 * cancel is fired. */
int cli_session_open(struct cli_settings *settings, husk_cancel *cancel,
		     husk_session **ret_session, struct husk_error *err);

#endif
