/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of one layer, placed below its own root. Everything that is made belongs to
 * the caller; set-id bits, devices and all extended attributes but harmless ones of files
 * are dropped. */
#ifndef OCI_LAYER_PLACE_H
#define OCI_LAYER_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "oci/dirs.h"
#include "oci/layer_name.h"
#include "oci/notes.h"
#include "oci/tar.h"

struct placer {
	const char *where;
	int dir, tree;
	struct dirs dirs;
	struct notes notes;
	bool exact;	   /* the kernel takes modes as they are given */
	uint64_t max_file; /* RLIMIT_FSIZE, which must not be run into: it kills */
	uint64_t bytes;
	struct layer_name name, target;
};

/* dir: where `tree` and `notes` are to be. own_umask: what that function said. */
int placer_init(struct placer *placer, int dir, bool own_umask, const char *where,
		struct husk_error *err);
void placer_deinit(struct placer *placer);
/* tar is where a file's content comes from. */
int placer_add(struct placer *placer, const struct tar_entry *entry, struct tar *tar,
	       struct husk_error *err);
/* After the last entry: metadata of directories, notes. */
int placer_finish(struct placer *placer, struct husk_error *err);

/* -- between oci/layer_*.c */

/* Why an entry cannot be placed. */
int placer_failed(const struct placer *placer, const char *path, int sys_errno,
		  struct husk_error *err);
/* Take away what stands at name. 0 or -errno, 0 too where there is nothing. */
int placer_clear(struct placer *placer, struct dir_node *parent, const char *name);
/* The regular file itself. */
int placer_file(struct placer *placer, struct dir_node *parent, const char *name,
		const struct tar_entry *entry, struct tar *tar, struct husk_error *err);
/* Its link, to something of this layer, or noted. */
int placer_hardlink(struct placer *placer, struct dir_node *parent, const char *name,
		    const struct tar_entry *entry, struct husk_error *err);

#endif
