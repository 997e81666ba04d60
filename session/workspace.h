/* SPDX-License-Identifier: Apache-2.0 */
/* The directory that every box of a session sees at /workspace: made for the session and
 * removed with it, or given by the caller and kept.
 *
 * A temporary one is named husk-ws- and 12 random letters and digits, has mode 0700, and
 * is locked (flock) through workspace.fd as long as the process that made it, or a fork
 * of it, has that descriptor open. That lock, not a process number, is what tells a live
 * one from what a killed process left behind. */
#ifndef SESSION_WORKSPACE_H
#define SESSION_WORKSPACE_H

#include <stdbool.h>
#include <sys/types.h>

#include <husk/error.h>

#include "base/sample.h"

enum { WORKSPACE_NAME_SIZE = 21 }; /* of a temporary one, with the NUL */

struct workspace {
	int fd;	    /* the directory, open for reading */
	char *path; /* heap; absolute, free of links */
	dev_t dev;  /* what fd is: a later open by path must lead to the same */
	ino_t ino;
	bool temporary;
	int parent;    /* temporary: the directory that it was made in; else -1 */
	pid_t creator; /* temporary: only this process removes it, not its forks */
	char name[WORKSPACE_NAME_SIZE]; /* temporary: its name in parent */
};

#define WORKSPACE_INIT                 \
	(struct workspace)             \
	{                              \
		.fd = -1, .parent = -1 \
	}

/* The path that workspace_open(given) will have, without making anything: links resolved
 * as far as it exists. To be checked before a directory is made in a place where none may
 * be. *ret_path is the caller's. Errors: HUSK_E_INVALID, HUSK_E_MEMORY, HUSK_E_SYSTEM. */
int workspace_resolve(const char *given, char **ret_path, struct husk_error *err);

/* Open the workspace. given NULL: make a private temporary directory in temp_dir (NULL:
 * /tmp), which must not be open to changes by other users unless it is sticky. Else
 * given, relative to the working directory or absolute, links followed, is opened; it and
 * its parents are made (mode 0755 less the umask) where they are not there.
 *
 * Whether a given directory is one that may be shown to a box at all is for the caller to
 * check, by workspace_resolve before and by ret->path after.
 *
 * *ret is written on success only. Errors: HUSK_E_INVALID, HUSK_E_MEMORY, HUSK_E_SYSTEM.
 */
int workspace_open(const char *given, const char *temp_dir, struct workspace *ret,
		   struct husk_error *err);

/* Does the path still lead to the directory? Boxes work on the directory, and whoever
 * looks for their files looks at the path: a call that would do its work out of sight
 * fails instead. HUSK_E_SYSTEM where the directory was removed, moved or replaced; 0 also
 * where that cannot be told. */
int workspace_check(const struct workspace *workspace, struct husk_error *err);

/* Let go of the workspace and, where it is a temporary one and this is the process that
 * made it, remove it with all that is in it (session/remove.h says how). Everything is
 * released also on failure. A workspace that holds WORKSPACE_INIT or was let go of before
 * is accepted. Errors: HUSK_E_SYSTEM where something could not be removed; the message
 * names the first and counts the rest. */
int workspace_deinit(struct workspace *workspace, struct husk_error *err);

/* Remove what processes of this user that are no more have left in temp_dir (NULL: /tmp):
 * directories with our pattern of names, owned by us, whose lock is free. Their mode does
 * not matter, since a box may change it. Returns how many were removed, or -errno where
 * temp_dir cannot be read or is open to changes by other users. */
int workspace_sweep(const char *temp_dir);

/* The same for a start, which must not take longer the more of them live or the more lies
 * in temp_dir: first a look at some of them (base/sample.h says how many), chosen at
 * random. True where *ret has the names of any that are dead. */
bool workspace_look(const char *temp_dir, struct sample *ret);

/* Remove those, and as many more as further looks find. */
void workspace_remove_found(const char *temp_dir, struct sample *found);

#endif
