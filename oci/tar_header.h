/* SPDX-License-Identifier: Apache-2.0 */
/* The block that begins a member of a tar: where its fields are, and what their numbers
 * say. All who read tars read them here, so that they cannot differ. */
#ifndef OCI_TAR_HEADER_H
#define OCI_TAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* POSIX.1-2017 pax, "ustar Interchange Format". */
enum {
	TAR_BLOCK = 512,
	TAR_AT_NAME = 0,
	TAR_NAME = 100,
	TAR_AT_SIZE = 124,
	TAR_NUMBER = 12,
	TAR_AT_SUM = 148,
	TAR_SUM = 8,
	TAR_AT_TYPE = 156,
	TAR_AT_LINK = 157,
	TAR_AT_MAGIC = 257,
	TAR_AT_PREFIX = 345,
	TAR_PREFIX = 155,
	TAR_AT_SPARSE = 386,	  /* of GNU's type S: four pieces */
	TAR_AT_SPARSE_MORE = 482, /* of GNU's type S: a block with more of them follows */
	TAR_AT_SPARSE_AGAIN = 504, /* of such a block: another one follows */
};

/* Octal with blanks around it, or GNU's base 256 (the first bit set). 0, or -EINVAL for
 * what is no number, negative, or past 2^63 - 1. */
int tar_number(const unsigned char *field, size_t size, uint64_t *ret);

/* Is it the sum over the header, its own field taken as blanks? Some old writers summed
 * signed characters. */
bool tar_sum_is_right(const unsigned char header[TAR_BLOCK]);

bool tar_is_zero(const unsigned char block[TAR_BLOCK]);

/* What stands before the name, TAR_PREFIX bytes at most, or NULL: GNU has other things in
 * its place. */
const unsigned char *tar_prefix(const unsigned char header[TAR_BLOCK]);

#endif
