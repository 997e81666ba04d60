/* SPDX-License-Identifier: Apache-2.0 */
/* A setup under way: what its parts share. */
#ifndef SESSION_SETUP_H
#define SESSION_SETUP_H

#include <husk/setup.h>

#include "session/session.h"
#include "session/setup_command.h"

struct setup {
	struct husk_session *session;
	struct husk_setup how;
	struct setup_command command;
	int deps; /* the workspace's */
};

/* Run the command in a box that sees the directory `deps`, which nobody else writes to,
 * as its .deps; -1: the workspace's. *ret_other: it changed files of the workspace
 * besides. HUSK_E_SETUP where it failed. */
int setup_box_run(const struct setup *setup, int deps, bool *ret_other,
		  struct husk_error *err);

/* Descriptors that say stop: the caller's cancel object and the closing session. True
 * where one of them does within some milliseconds. */
bool setup_is_stopped(const struct setup *setup, int wait_ms);

#endif
