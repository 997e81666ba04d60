/* SPDX-License-Identifier: Apache-2.0 */
/* Private temporary directories: made, recognised and removed. Returns are 0 or -errno.
 */
#ifndef SESSION_WORKSPACE_TEMP_H
#define SESSION_WORKSPACE_TEMP_H

#include "session/workspace.h"

struct remove_report;

/* Open temp_dir (NULL: /tmp; O_PATH). -EPERM where other users may rename what is in it.
 */
int workspace_temp_dir(const char *temp_dir, int *ret_fd);

/* Make a directory in parent, open it for reading, and lock it. */
int workspace_temp_make(int parent, char ret_name[WORKSPACE_NAME_SIZE], int *ret_fd);

/* Remove a directory of parent, open as fd, with all that is in it. -ESTALE where another
 * has taken its place, which stays. */
int workspace_temp_remove(int parent, const char *name, int fd,
			  struct remove_report *report);

#endif
