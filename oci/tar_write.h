/* SPDX-License-Identifier: Apache-2.0 */
/* A plain tar of plain files, the same bytes for the same content: nobody's, of 1970. */
#ifndef OCI_TAR_WRITE_H
#define OCI_TAR_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct tar_out {
	int fd; /* borrowed; a regular file at its start */
	const char *where;
	uint64_t at;
	uint64_t member; /* where its header is */
	char name[200];
};

/* A directory, whose name ends in a slash. Names have at most 199 bytes. */
int tar_out_directory(struct tar_out *out, const char *name, struct husk_error *err);
/* A file: begun, filled, ended; its size is what was filled in. */
int tar_out_begin(struct tar_out *out, const char *name, struct husk_error *err);
int tar_out_data(struct tar_out *out, const void *data, size_t size,
		 struct husk_error *err);
int tar_out_end(struct tar_out *out, struct husk_error *err);
/* A whole file. */
int tar_out_file(struct tar_out *out, const char *name, const void *data, size_t size,
		 struct husk_error *err);
/* The end marker. */
int tar_out_finish(struct tar_out *out, struct husk_error *err);

#endif
