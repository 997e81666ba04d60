/* SPDX-License-Identifier: Apache-2.0 */
/* Reaching into a directory that a hostile program may be changing at the same time.
 * Every component of a path is opened beneath the one before it and no link is ever
 * followed, so whatever is swapped for a link to the outside gives -ELOOP, not the
 * outside.
 *
 * Paths are relative, in normal form: components of 1 to 255 bytes with one slash between
 * them, neither "." nor "..", no slash at the end; "" is the directory itself.
 *
 * One openat2(2) does it. Where that call is missing (before Linux 5.6) or refused by a
 * container's filter, the components are opened one at a time. */
#ifndef SESSION_BENEATH_H
#define SESSION_BENEATH_H

#include <stddef.h>
#include <sys/types.h>

/* Open path beneath dir. O_CLOEXEC and O_NOFOLLOW are added to flags. With O_PATH a link
 * at the end is opened itself. Returns a descriptor or -errno; -ELOOP for a link on the
 * way. */
int beneath_open(int dir, const char *path, int flags, mode_t mode);

/* Open one entry of dir as a directory to read or, with O_PATH, to hold. Also refuses to
 * cross into another mount: -EXDEV. */
int beneath_open_dir(int dir, const char *name, int flags);

/* What root makes in a directory that belongs to another id is given to that id, which is
 * the one that the box acts as there: an unprivileged id in a temporary workspace, the
 * directory's owner in a given one. Does nothing for anyone but root. fd: what was made
 * in dir. 0 or -errno. */
int beneath_give(int dir, int fd);

/* Open the directory that holds the last component of path (O_PATH), making directories
 * that are missing (mode 0755 less the caller's umask). *ret_made is how many were made.
 * On failure none of them stays. */
int beneath_open_parent(int dir, const char *path, size_t *ret_made);

/* Take back the last `made` directories above path's last component, while they are
 * empty. */
void beneath_unmake(int dir, const char *path, size_t made);

#endif
