/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What decides the outcome of a setup, as one digest: the image, the command, the
 * variables, the user, and the content of the local files that the command may read.
 *
 * A plain `pip install` reads what its words name: files and directories of the workspace
 * and of mounts; a text file among them (requirements) may name more, relative to itself
 * or to the workspace. For any other command all of the workspace but .deps, and every
 * mount, is taken to be read. What the network answers is not part of it.
 */
#ifndef SESSION_SETUP_KEY_H
#define SESSION_SETUP_KEY_H

#include "session/session.h"
#include "session/setup_cache.h"
#include "session/setup_command.h"

/* 1 with the key; 0 where there is none: too much to read, links that cannot be followed
 * safely, or files that cannot be read; -ENOMEM. */
int setup_key_make(const struct husk_session *session,
		   const struct setup_command *command, bool network,
		   char ret_key[SETUP_KEY_SIZE]);

#endif
