/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory .deps of a workspace: where setup installs, and where Python in every box
 * looks for modules. A box may have put anything in its place, so it is only ever reached
 * by a descriptor of the directory itself.
 */
#ifndef SESSION_DEPS_H
#define SESSION_DEPS_H

#include <stdbool.h>
#include <stddef.h>

#include <husk/error.h>

#include "session/session.h"

#define DEPS_NAME ".deps"
/* As the target of a mount in a box, relative to its root. */
#define DEPS_TARGET "workspace/" DEPS_NAME

/* Open the .deps of the workspace (a directory), making it where it is not there. A link
 * or a file in its place is refused. HUSK_E_PATH, HUSK_E_SYSTEM. */
int deps_open(int workspace, int *ret_fd, struct husk_error *err);

/* 1 where there is nothing in it, 0, or -errno. */
int deps_is_empty(int deps);

/* Does a mount of the user lie at .deps or below it? */
bool deps_is_covered(const struct box_spec *spec);

/* Let every box of the session see its .deps, open as fd, read-only: a mount of it over
 * the workspace's, before the other mounts. HUSK_E_SYSTEM, HUSK_E_MEMORY. */
int deps_mount(struct husk_session *session, int fd, struct husk_error *err);

/* Copy what is in `from` (a tree that nobody else writes to) into `to`, over what has the
 * same names: directories are merged, files and links replaced, whatever somebody who may
 * write to `to` does meanwhile. Everything belongs to the owner of `to`. Modes are kept
 * but for set-id bits, and so are the times of files, which Python's compiled files are
 * checked against; pipes, sockets and devices are left out. 0 or -errno; -E2BIG past the
 * bounds of session/tree.h. */
int deps_copy(int from, int to);

#endif
