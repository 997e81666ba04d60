/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/notes.h"

#include <stdlib.h>
#include <string.h>

#include "oci/bounds.h"

void notes_init(struct notes *notes, const char *where)
{
	*notes = (struct notes){.where = where};
	notes->last = &notes->first;
}

void notes_deinit(struct notes *notes)
{
	struct note *note = notes->first, *next;

	for (; note; note = next) {
		next = note->next;
		free(note);
	}
	free(notes->buckets);
	notes_init(notes, notes->where);
}

/* FNV-1a, salted with the address of the directory, which others cannot know. */
static size_t bucket_of(const struct notes *notes, enum note_kind kind,
			const struct dir_node *dir, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325 ^ (uintptr_t)dir ^ (uint64_t)kind << 60;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
	hash ^= hash >> 32;
	return hash & (notes->bucket_count - 1);
}

static struct note *find(const struct notes *notes, enum note_kind kind,
			 const struct dir_node *dir, const char *name)
{
	struct note *note;

	if (!notes->buckets)
		return NULL;
	note = notes->buckets[bucket_of(notes, kind, dir, name)];
	while (note && (note->cancelled || note->kind != kind || note->dir != dir ||
			strcmp(note->name, name) != 0))
		note = note->chain;
	return note;
}

static void insert(struct notes *notes, struct note *note)
{
	size_t bucket = bucket_of(notes, note->kind, note->dir, note->name);

	note->chain = notes->buckets[bucket];
	notes->buckets[bucket] = note;
}

static int grow(struct notes *notes, struct husk_error *err)
{
	size_t count = notes->bucket_count ? notes->bucket_count * 2 : 256;
	struct note **buckets = calloc(count, sizeof(struct note *));

	if (!buckets)
		return error_oom(err, notes->where);
	free(notes->buckets);
	notes->buckets = buckets;
	notes->bucket_count = count;
	for (struct note *note = notes->first; note; note = note->next)
		if (!note->cancelled)
			insert(notes, note);
	return 0;
}

static void cancel(struct notes *notes, struct note *note)
{
	struct note **at;

	at = &notes->buckets[bucket_of(notes, note->kind, note->dir, note->name)];
	while (*at != note)
		at = &(*at)->chain;
	*at = note->chain;
	note->cancelled = true;
	notes->links -= note->kind == NOTE_LINK;
}

int notes_add(struct notes *notes, enum note_kind kind, struct dir_node *dir,
	      const char *name, const char *target, struct husk_error *err)
{
	size_t name_size = strlen(name) + 1, size = name_size + 1;
	struct note *note = find(notes, kind, dir, name);
	int rc = 0;

	if (note && kind == NOTE_WHITEOUT)
		return 0;
	if (note)
		cancel(notes, note);
	if (target)
		size += strlen(target);
	notes->bytes += size + sizeof(*note);
	if (notes->bytes > OCI_MAX_NOTES)
		return error_set(err, HUSK_E_TOO_BIG, notes->where,
				 "has too many whiteouts and links to lower layers "
				 "(OCI_MAX_NOTES)");
	if (notes->count == notes->bucket_count)
		rc = grow(notes, err);
	if (rc < 0)
		return rc;
	note = calloc(1, sizeof(*note) + size);
	if (!note)
		return error_oom(err, notes->where);
	note->kind = kind;
	note->dir = dir;
	memcpy(note->name, name, name_size);
	note->target = note->name + name_size;
	if (target)
		memcpy(note->target, target, size - name_size);
	*notes->last = note;
	notes->last = &note->next;
	notes->count++;
	notes->links += kind == NOTE_LINK;
	insert(notes, note);
	return 0;
}

void notes_cancel_link(struct notes *notes, const struct dir_node *dir, const char *name)
{
	struct note *note = notes->links ? find(notes, NOTE_LINK, dir, name) : NULL;

	if (note)
		cancel(notes, note);
}
