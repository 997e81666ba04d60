/* SPDX-License-Identifier: Apache-2.0 */
/* One entry made a second time, where a hard link cannot be had. */
#ifndef OCI_COPY_H
#define OCI_COPY_H

/* A file (with mode, times and user.* attributes), a symlink or a FIFO. The blocks are
 * shared where the file system can. 0 or -errno; -EEXIST where to_name is there. */
int copy_entry(int from, const char *from_name, int to, const char *to_name);

#endif
