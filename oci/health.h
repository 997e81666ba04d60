/* SPDX-License-Identifier: Apache-2.0 */
/* What this host has for images: the libraries that are loaded at first use, and the
 * store. Nothing is made or changed. */
#ifndef OCI_HEALTH_H
#define OCI_HEALTH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum health_library {
	HEALTH_CURL,
	HEALTH_SSL,
	HEALTH_ARCHIVE,
	HEALTH_ZLIB,
	HEALTH_ISAL,
	HEALTH_ZSTD,
	HEALTH_CRYPTO,
	HEALTH_LIBRARIES
};

/* Load it, as its first use does; it stays loaded. HUSK_E_SYSTEM with the remedy. */
int health_library(enum health_library library, struct husk_error *err);

struct health_store {
	char path[PATH_MAX]; /* "" where there is no place for one */
	bool there;
	struct husk_error problem; /* why it cannot be used; message "" where it can */
	char base[PATH_MAX];	   /* the store, or the nearest directory above it */
	bool writable;		   /* base is, to this user */
	uid_t owner;		   /* of base */
	bool has_fs;	  /* the rest is filled in, for the file system of base */
	uint64_t fs_type; /* statfs(2) */
	uint64_t free_bytes;
	uint64_t free_files; /* UINT64_MAX: it has no table of them that could fill up */
	bool read_only, noexec;
};

/* Look at the caller's own store; path: absolute, or NULL for the usual one. */
void health_store(const char *path, struct health_store *ret);

#endif
