/* SPDX-License-Identifier: Apache-2.0 */
/* A compressed file read as a tar: what it holds, the digests of both forms, and its
 * plain form in a file where somebody has to jump about in it. */
#ifndef OCI_IMPORT_STREAM_H
#define OCI_IMPORT_STREAM_H

#include "base/error.h"
#include "oci/digest.h"
#include "oci/manifest.h"
#include "oci/tar_survey.h"

/* One pass: the members, the digest of the file, that of the tar in it. */
int import_stream_survey(int fd, enum compression compression, const char *path,
			 int cancel_fd, struct tar_survey *ret, struct digest *ret_digest,
			 struct digest *ret_diff_id, struct husk_error *err);

/* The digest of the tar alone. */
int import_stream_hash(int fd, enum compression compression, const char *path,
		       int cancel_fd, struct digest *ret_digest,
		       struct digest *ret_diff_id, struct husk_error *err);

/* *ret: a file without a name in the directory scratch. */
int import_stream_plain(int fd, enum compression compression, const char *path,
			const char *scratch, int cancel_fd, int *ret,
			struct husk_error *err);

/* Several tars in one file as one: a file without a name in scratch that lacks what lies
 * between them. fd: plain. */
int import_stream_join(int fd, const struct tar_survey *survey, const char *path,
		       const char *scratch, int cancel_fd, int *ret,
		       struct husk_error *err);

#endif
