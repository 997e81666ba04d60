/* SPDX-License-Identifier: Apache-2.0 */
/* The files of which an image's layout or archive is made, by name: those of a directory,
 * or those of a tar, read in place. Both are hostile: only regular files count, a
 * directory's are opened without following any link, a tar's links lead only to other
 * members. Reading is safe from several threads. */
#ifndef OCI_MEMBERS_H
#define OCI_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"
#include "oci/tar_survey.h"

struct members {
	int fd;				 /* the directory, or the tar; borrowed */
	const char *path;		 /* for messages; borrowed */
	const struct tar_survey *survey; /* NULL: a directory; borrowed */
};

/* One file, open. */
struct member {
	int fd;
	bool owned; /* else fd is the tar's */
	uint64_t offset;
	uint64_t size;
};
#define MEMBER_NONE ((struct member){.fd = -1})
void member_close(struct member *member);
#define CLEANUP_MEMBER __attribute__((cleanup(member_close)))

bool members_have(const struct members *members, const char *name);
bool members_have_twice(const struct members *members, const char *name);
/* HUSK_E_IMAGE where it is not there or no regular file. */
int members_open(const struct members *members, const char *name, struct member *ret,
		 struct husk_error *err);
/* Append a document whole; its bound is the buffer's. One that is there twice is refused.
 */
int members_read(const struct members *members, const char *name, struct buffer *ret,
		 struct husk_error *err);
/* All of size bytes at offset (within the member), or HUSK_E_IMAGE. where: for messages.
 */
int member_read_at(const struct member *member, uint64_t offset, void *data, size_t size,
		   const char *where, struct husk_error *err);

#endif
