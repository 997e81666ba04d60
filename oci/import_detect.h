/* SPDX-License-Identifier: Apache-2.0 */
/* What a path is: a layout's directory, an archive of images, a tar of a root file
 * system. Found out from the content; names say nothing. */
#ifndef OCI_IMPORT_DETECT_H
#define OCI_IMPORT_DETECT_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "oci/digest.h"
#include "oci/import.h"
#include "oci/manifest.h"
#include "oci/members.h"
#include "oci/tar_survey.h"

struct import_found {
	enum import_format format;
	const char *path; /* borrowed; for messages */
	int fd;		  /* owned: the directory or the file */
	int plain;	  /* owned: an archive that was compressed, in plain; or -1 */
	struct stat st;	  /* of fd */
	struct tar_survey survey;     /* of a tar */
	enum compression compression; /* of the file */
	struct digest digest;  /* of the file; where it is compressed, else none yet */
	struct digest diff_id; /* of the tar in it; the same */
};
#define IMPORT_FOUND_NONE ((struct import_found){.fd = -1, .plain = -1})
void import_found_deinit(struct import_found *found);
#define CLEANUP_FOUND __attribute__((cleanup(import_found_deinit)))

/* format: what it must be, or IMPORT_ANY. HUSK_E_IMAGE says what the path is instead.
 * scratch: an absolute directory for a compressed archive's plain form. */
int import_detect(const char *path, enum import_format format, const char *scratch,
		  int cancel_fd, struct import_found *ret, struct husk_error *err);

/* The files of a layout or archive; borrows from found. */
struct members import_members(const struct import_found *found);

/* The sha256 of a file. */
int import_hash_member(const struct member *member, const char *path, int cancel_fd,
		       struct digest *ret, struct husk_error *err);

#endif
