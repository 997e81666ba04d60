/* SPDX-License-Identifier: Apache-2.0 */
/* The command of a setup: where a pip in it installs to, and what it says by itself. */
#ifndef SESSION_SETUP_COMMAND_H
#define SESSION_SETUP_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct setup_command {
	char *text; /* heap; what sh runs */
	/* One `pip install` and nothing else: all that it reads of the workspace and the
	 * mounts is named by its words or by the files that these name. */
	bool plain_pip;
	struct buffer words; /* where plain_pip: its words, each with a NUL */
};

/* A command that begins with `pip install` is made to install into the workspace's .deps,
 * by whatever Python the image has. 0 or -ENOMEM; to be released in both cases. */
int setup_command_init(const char *command, struct setup_command *ret);
void setup_command_deinit(struct setup_command *command);

/* The variables of a setup's box: the session's, and those that route and quieten a pip
 * that is called in any other way, unless the session has set them. Heap,
 * NULL-terminated; the strings are borrowed. NULL where there is no memory. */
const char **setup_command_env(char *const *env);

#endif
