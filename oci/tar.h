/* SPDX-License-Identifier: Apache-2.0 */
/* A tar stream entry by entry: libarchive's tar reader, by name only (no other format, no
 * filter), held against our own view of the same bytes (oci/tar_frame.h). */
#ifndef OCI_TAR_H
#define OCI_TAR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"

enum tar_type {
	TAR_FILE,
	TAR_DIRECTORY,
	TAR_SYMLINK,
	TAR_HARDLINK,
	TAR_FIFO,
	TAR_DEVICE, /* or a socket: what is not made */
};

/* Strings are valid until the next tar_next. */
struct tar_entry {
	enum tar_type type;
	const char *path; /* as the archive has it */
	const char *link; /* target of a symlink or hardlink, else "" */
	mode_t mode;	  /* the lowest twelve bits */
	uint64_t size;	  /* of a file, holes included */
	struct timespec mtime;
};

struct tar_source {
	/* The next piece, valid until the next call: its size, 0 at the end, negative
	 * with err filled in. */
	ssize_t (*next)(void *user, const void **ret, struct husk_error *err);
	void *user;
	const char *where; /* in messages; must live as long as the reader */
};

struct tar;
int tar_new(const struct tar_source *source, struct tar **ret, struct husk_error *err);
/* 1 with *ret, 0 at the end of the archive. HUSK_E_IMAGE, HUSK_E_TOO_BIG, HUSK_E_MEMORY,
 * or what the source failed with. */
int tar_next(struct tar *tar, struct tar_entry *ret, struct husk_error *err);
/* The next piece of the entry's content and where in the file it belongs (holes are left
 * out). 1, 0 at its end. */
int tar_data(struct tar *tar, const void **ret, size_t *ret_size, uint64_t *ret_offset,
	     struct husk_error *err);
/* The entry's next extended attribute. 1, 0 after the last. */
int tar_attribute(struct tar *tar, const char **ret_name, const void **ret_value,
		  size_t *ret_size);
struct tar *tar_free(struct tar *tar);

#endif
