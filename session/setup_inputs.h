/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_SETUP_INPUTS_H
#define SESSION_SETUP_INPUTS_H

#include "base/sha256.h"
#include "session/session.h"
#include "session/setup_command.h"

/* Add what the command may read of the workspace and of mounts to the hash: names, and
 * content. 0, -ENOMEM, or another -errno where that cannot be said for certain. */
int setup_inputs_add(const struct husk_session *session,
		     const struct setup_command *command, struct sha256 *hash);

#endif
