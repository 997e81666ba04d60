/* SPDX-License-Identifier: Apache-2.0 */
/* The file API of a session: the host's side of the workspace, safe to use while a box
 * changes the same files. Paths follow session/files_path.h.
 *
 * - No link is followed anywhere, so nothing outside the workspace is ever reached. A
 * mount that the host's administrator has put inside the workspace is crossed by read and
 * write, and left out by list.
 * - Pipes, sockets and devices are never opened.
 * - A file or directory whose mode shuts out its owner gives an error that says so; modes
 *   are not changed. (Where the caller is root the kernel ignores the modes, and so it
 * works.)
 * - sys_errno of the error is set where a system call was refused. */
#ifndef SESSION_FILES_H
#define SESSION_FILES_H

#include <stddef.h>
#include <stdint.h>

#include <husk/error.h>
#include <husk/session.h>

#include "session/workspace.h"

#define FILES_READ_MAX_DEFAULT (UINT64_C(1) << 30)

/* Write a file whole: mode 0644 less the umask, whatever the old one had. Readers see the
 * old content or the new. Missing parents are made, and unmade where the write fails. A
 * regular file or a link of that name is replaced: another hard link to the old file
 * keeps the old content, and a read-only file is no hindrance. Nothing of a failed write
 * stays.
 *
 * The file may be executed at once: it is given its name only when no descriptor that
 * could write to it is open any more, in this process or in one that forks from it
 * meanwhile.
 *
 * Errors: HUSK_E_INVALID, HUSK_E_PATH, HUSK_E_SYSTEM, HUSK_E_MEMORY. */
int files_write(const struct workspace *workspace, const char *path, const void *data,
		size_t size, struct husk_error *err);

/* Read a regular file whole, at most max_bytes (0: 1 GiB). A file that changes meanwhile
 * gives what was there, up to its end at the time it was reached. *ret_data is the
 * caller's; a NUL that is not counted follows the data.
 *
 * Errors: HUSK_E_INVALID, HUSK_E_PATH, HUSK_E_TOO_BIG, HUSK_E_SYSTEM, HUSK_E_MEMORY. */
int files_read(const struct workspace *workspace, const char *path, uint64_t max_bytes,
	       void **ret_data, size_t *ret_size, struct husk_error *err);

/* List the regular files below subdir (NULL or "": all), sorted by the bytes of their
 * paths, which are relative to the workspace. Links, pipes and the rest are left out, and
 * so are the directory .deps at the top (unless subdir is in it) and directories that
 * cannot be read. session/listing.h has the bounds.
 *
 * Errors: HUSK_E_PATH, HUSK_E_SYSTEM, HUSK_E_MEMORY. */
int files_list(const struct workspace *workspace, const char *subdir,
	       struct husk_listing **ret_listing, struct husk_error *err);

#endif
