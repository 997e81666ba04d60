/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a tar, one after the other, without its contents: ustar, pax and GNU's
 * long names (POSIX.1-2017 pax; the tar(5) manual of libarchive). It says where a
 * member's bytes lie, so that a blob in an archive is read in place. Nothing is ever
 * unpacked by it. */
#ifndef OCI_TAR_SCAN_H
#define OCI_TAR_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "oci/tar_header.h"

/* The bytes of the tar. Offsets never go back, but gaps between them are common. Returns
 * the count, fewer than asked only at the end; negative with err filled in. */
struct tar_input {
	ssize_t (*read)(void *user, uint64_t offset, void *data, size_t size,
			struct husk_error *err);
	void *user;
	const char *where; /* names the tar in messages */
};

struct tar_entry {
	const char *name; /* without "./", doubled and trailing slashes and a leading one;
			   * "" for the root */
	const char *link; /* where a link leads, as it is written; "" for others */
	char type;	  /* '0' for every kind of regular file, else the typeflag */
	uint64_t offset;  /* of the content */
	uint64_t size;
};

struct tar_scan;

int tar_scan_new(const struct tar_input *input, struct tar_scan **ret,
		 struct husk_error *err);
struct tar_scan *tar_scan_free(struct tar_scan *scan);
/* Where one tar ended and another began in the same file ("cat a.tar b.tar"): what lies
 * between the two is no part of either. 0 where that was never so. */
struct tar_joint {
	uint64_t end, next;
};
size_t tar_scan_joints(const struct tar_scan *scan, const struct tar_joint **ret);

/* 1 and the next member, valid until the next call; 0 at the end; HUSK_E_IMAGE where the
 * input is no tar or is cut, HUSK_E_TOO_BIG for names past their bound. */
int tar_scan_next(struct tar_scan *scan, struct tar_entry *ret, struct husk_error *err);

#endif
