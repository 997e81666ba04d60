/* SPDX-License-Identifier: Apache-2.0 */
/* What a layer's tree cannot say: whiteouts, opaque directories, links to what lower
 * layers have, and which directories are mere parents. The file holds records that end in
 * NUL, after the line "husk notes 1\n":
 *
 *	dPARENT NAME, iPARENT NAME	a directory that the layer has, or implies; they
 *					are numbered in their order from 0, the root,
 *whose NAME is empty oDIR				it is opaque wDIR NAME
 *NAME is not to be seen any more lDIR NAME, TARGET		NAME is a hard link to
 *TARGET (a second string)
 *
 * Only directories that something is said about are there, with their parents. */
#ifndef OCI_NOTES_H
#define OCI_NOTES_H

#include <stddef.h>

#include "base/error.h"
#include "oci/dirs.h"

enum note_kind { NOTE_WHITEOUT, NOTE_LINK };

struct note {
	struct note *chain, *next;
	struct dir_node *dir;
	enum note_kind kind;
	bool cancelled;
	char *target; /* of a link, inside name's memory */
	char name[];
};

struct notes {
	const char *where;
	struct note *first, **last;
	struct note **buckets;
	size_t count, bucket_count;
	size_t links; /* how many there are that were not cancelled */
	size_t bytes; /* bounded by OCI_MAX_NOTES */
};

void notes_init(struct notes *notes, const char *where);
void notes_deinit(struct notes *notes);
/* A second one of the same kind and name replaces the first. HUSK_E_MEMORY,
 * HUSK_E_TOO_BIG. target: NULL for a whiteout. */
int notes_add(struct notes *notes, enum note_kind kind, struct dir_node *dir,
	      const char *name, const char *target, struct husk_error *err);
/* The link of that name, if there is one, has been replaced by something else. */
void notes_cancel_link(struct notes *notes, const struct dir_node *dir, const char *name);

/* Write them, and what dirs says, to dir/notes. dirs_bury was called. */
int notes_write(struct notes *notes, struct dirs *dirs, int dir, struct husk_error *err);
/* Read dir/notes: into dirs (empty but for its root) and notes. HUSK_E_IMAGE where the
 * file is damaged. */
int notes_read(struct notes *notes, struct dirs *dirs, int dir, struct husk_error *err);

/* Whether dir/notes has nothing to say: then dir/tree is all that the layer is. */
bool notes_are_empty(int dir);

#endif
