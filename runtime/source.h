/* SPDX-License-Identifier: Apache-2.0 */
/* Host files and directories that boxes see: pinned by a descriptor, checked against the
 * refusal list, found again inside by path, device and inode. */
#ifndef RUNTIME_SOURCE_H
#define RUNTIME_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct source {
	char *path;   /* heap; absolute, no links in it */
	int fd;	      /* O_PATH */
	uint64_t dev; /* major << 32 | minor, as statx(2) gives them */
	uint64_t ino;
	uint32_t uid, gid; /* its owner */
	bool directory;
};

#define SOURCE_INIT      \
	(struct source)  \
	{                \
		.fd = -1 \
	}

/* Resolve every link in path (absolute), pin what it leads to, which must be a directory
 * or a regular file. what names the option in errors. HUSK_E_INVALID,
 * HUSK_E_MOUNT_REFUSED (missing or of another type), HUSK_E_SYSTEM, HUSK_E_MEMORY. */
int source_pin(const char *path, const char *what, struct source *ret,
	       struct husk_error *err);
/* The same for a descriptor that is open already; it is duplicated. */
int source_pin_fd(int fd, const char *what, struct source *ret, struct husk_error *err);
void source_deinit(struct source *source);

/* What may never be mounted. extra: further paths to refuse (the store, run-time
 * directories), NULL-terminated, may be NULL; home: the caller's home directory or NULL.
 * HUSK_E_MOUNT_REFUSED where source is one of these, or contains one. */
int source_check(const struct source *source, const char *home, const char *const *extra,
		 struct husk_error *err);

/* The same for a directory that is not there yet, before it is made: HUSK_E_MOUNT_REFUSED
 * where it would lie below something of which all is refused. 0 also where path is there.
 */
int source_check_new(const char *path, struct husk_error *err);

/* Check and normalise a target: absolute, no "..", not /, /proc, /sys, /dev or below
 * them, not /workspace. *ret is heap, relative to the root, without "." or doubled
 * slashes. HUSK_E_MOUNT_REFUSED, HUSK_E_MEMORY. */
int source_check_target(const char *target, char **ret, struct husk_error *err);

#endif
