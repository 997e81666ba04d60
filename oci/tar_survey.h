/* SPDX-License-Identifier: Apache-2.0 */
/* What a tar holds, in one pass over its headers. */
#ifndef OCI_TAR_SURVEY_H
#define OCI_TAR_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "oci/tar_scan.h"

struct survey_member {
	char *name; /* heap, as struct tar_entry has it */
	char *link; /* heap; NULL for what is no link */
	char type;
	uint64_t offset;
	uint64_t size;
};

struct tar_survey {
	struct survey_member *members; /* heap, in the tar's order; up to a bound that no
					* archive of images reaches */
	size_t count;
	uint64_t entries;	  /* all of them */
	struct tar_joint *joints; /* heap; where several tars meet */
	size_t joint_count;
	bool has_shell; /* bin/sh is there, or usr/bin/sh and a link that leads to it */
};

/* Read all headers. stopped (may be NULL) is asked now and then: not 0 means stop with
 * HUSK_E_CANCELLED. Errors as tar_scan_next. */
int tar_survey_take(const struct tar_input *input, int (*stopped)(void *user), void *user,
		    struct tar_survey *ret, struct husk_error *err);
void tar_survey_deinit(struct tar_survey *survey);
#define CLEANUP_SURVEY __attribute__((cleanup(tar_survey_deinit)))

/* The last member of that name, as in unpacking; NULL where there is none. */
const struct survey_member *tar_survey_find(const struct tar_survey *survey,
					    const char *name);

/* An input over a plain file, through a window, for small members lie close together. */
struct tar_file;
int tar_file_new(int fd, uint64_t size, const char *where, struct tar_file **ret,
		 struct tar_input *ret_input, struct husk_error *err);
struct tar_file *tar_file_free(struct tar_file *file);

#endif
