/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/notes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fd.h"
#include "base/memory.h"
#include "oci/bounds.h"

static const char magic[] = "husk notes 1\n";

/* Names are bounded by OCI_MAX_NOTES and OCI_MAX_DIRECTORIES; numbers come on top. */
#define FILE_MAX (4 * OCI_MAX_NOTES)
enum { FLUSH = 64 * 1024, SAID = DIR_IMPLICIT | DIR_OPAQUE | DIR_MODE_NOTED };

/* -- writing ---------------------------------------------------------------------- */

struct writer {
	int fd;
	struct buffer text;
	uint32_t count; /* directories written */
};

static int flush(struct writer *writer, size_t at_least)
{
	int rc;

	if (writer->text.size < at_least)
		return 0;
	rc = fd_may_write((size_t)lseek(writer->fd, 0, SEEK_CUR) + writer->text.size);
	if (rc == 0)
		rc = fd_write_all(writer->fd, writer->text.data, writer->text.size);
	writer->text.size = 0;
	return rc;
}

/* A record; text: with its NUL. number: -1 for none. */
static int put(struct writer *writer, char kind, uint32_t number, const char *text)
{
	int rc = buffer_addf(&writer->text, "%c%u", kind, number);

	if (rc == 0 && text)
		rc = buffer_addf(&writer->text, " %s", text);
	if (rc == 0)
		rc = buffer_add(&writer->text, "", 1);
	return rc < 0 ? rc : flush(writer, FLUSH);
}

/* Which directories need a record: their number goes into `used`, which nobody needs any
 * more. */
static void mark(struct dir_node *node)
{
	while (node && !(node->flags & DIR_NOTED)) {
		node->flags |= DIR_NOTED;
		node = node->parent;
	}
}

static int put_mode(struct writer *writer, const struct dir_node *node)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%o", node->noted_mode);
	return put(writer, 'm', (uint32_t)node->used, text);
}

static int put_directories(struct writer *writer, const struct dirs *dirs)
{
	int rc = 0;

	for (size_t i = 0; i < dirs->count && rc == 0; i++) {
		struct dir_node *node = dirs->nodes[i];

		if (!(node->flags & DIR_NOTED))
			continue;
		rc = put(writer, node->flags & DIR_IMPLICIT ? 'i' : 'd',
			 node->parent ? (uint32_t)node->parent->used : 0, node->name);
		node->used = writer->count++;
		if (rc == 0 && node->flags & DIR_OPAQUE)
			rc = put(writer, 'o', (uint32_t)node->used, NULL);
		if (rc == 0 && node->flags & DIR_MODE_NOTED)
			rc = put_mode(writer, node);
	}
	return rc;
}

static bool is_live(const struct note *note)
{
	return !note->cancelled && !(note->dir->flags & DIR_DEAD);
}

static int put_notes(struct writer *writer, const struct notes *notes)
{
	int rc = 0;

	for (const struct note *note = notes->first; note && rc == 0; note = note->next) {
		bool link = note->kind == NOTE_LINK;

		if (!is_live(note))
			continue;
		rc = put(writer, link ? 'l' : 'w', (uint32_t)note->dir->used, note->name);
		if (rc == 0 && link)
			rc = buffer_add(&writer->text, note->target,
					strlen(note->target) + 1);
	}
	return rc;
}

int notes_write(struct notes *notes, struct dirs *dirs, int dir, struct husk_error *err)
{
	CLEANUP_FD int fd =
	    openat(dir, "notes", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	struct writer writer = {.fd = fd, .text = BUFFER_INIT(4 * FLUSH)};
	int rc = fd < 0 ? -errno : 0;

	mark(dirs_root(dirs));
	for (size_t i = 0; i < dirs->count; i++)
		if (dirs->nodes[i]->flags & SAID && !(dirs->nodes[i]->flags & DIR_DEAD))
			mark(dirs->nodes[i]);
	for (const struct note *note = notes->first; note; note = note->next)
		if (is_live(note))
			mark(note->dir);
	if (rc == 0)
		rc = buffer_add_text(&writer.text, magic);
	if (rc == 0)
		rc = put_directories(&writer, dirs);
	if (rc == 0)
		rc = put_notes(&writer, notes);
	if (rc == 0)
		rc = flush(&writer, 1);
	buffer_deinit(&writer.text);
	return rc < 0 ? error_sys(err, -rc, notes->where, "its notes cannot be written")
		      : 0;
}

/* -- reading ---------------------------------------------------------------------- */

struct reader {
	struct notes *notes;
	struct dirs *dirs;
	const char *at, *end;
};

static int damaged(const struct reader *reader, struct husk_error *err)
{
	int rc = error_set(err, HUSK_E_IMAGE, reader->notes->where,
			   "the layer's notes in the store are damaged");

	error_hint(err, "remove the image and pull it again");
	return rc;
}

/* The next string, or NULL where there is none. */
static const char *string(struct reader *reader)
{
	const char *start = reader->at;
	const char *nul = memchr(start, '\0', (size_t)(reader->end - start));

	if (!nul)
		return NULL;
	reader->at = nul + 1;
	return start;
}

/* A single component. */
static bool is_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0 && strlen(name) <= OCI_MAX_COMPONENT;
}

static int read_directory(struct reader *reader, char kind, struct dir_node *parent,
			  const char *name, bool first, struct husk_error *err)
{
	struct dir_node *node = parent;
	int rc = 0;

	if (!first) {
		if (!is_name(name) ||
		    dirs_child(reader->dirs, parent, name, strlen(name)))
			return damaged(reader, err);
		rc = dirs_add(reader->dirs, parent, name, strlen(name), &node, err);
	}
	if (rc == 0 && kind == 'i')
		node->flags |= DIR_IMPLICIT;
	return rc;
}

static int read_mode(const struct reader *reader, struct dir_node *dir, const char *text,
		     struct husk_error *err)
{
	char *end;
	unsigned long mode = strtoul(text, &end, 8);

	if (end == text || *end || mode > 01777)
		return damaged(reader, err);
	dir->noted_mode = (mode_t)mode;
	dir->flags |= DIR_MODE_NOTED;
	return 0;
}

static int read_record(struct reader *reader, bool first, struct husk_error *err)
{
	const char *text = string(reader), *target = NULL;
	char *name;
	unsigned long number;
	struct dir_node *dir;

	if (!text || !*text || text[1] < '0' || text[1] > '9')
		return damaged(reader, err);
	number = strtoul(text + 1, &name, 10);
	if (number >= reader->dirs->count || (*name == '\0') != (*text == 'o') ||
	    (*name != '\0' && *name != ' '))
		return damaged(reader, err);
	dir = reader->dirs->nodes[number];
	name += *name == ' ';
	switch (*text) {
	case 'd':
	case 'i':
		return read_directory(reader, *text, dir, name, first, err);
	case 'o':
		dir->flags |= DIR_OPAQUE;
		return 0;
	case 'm':
		return read_mode(reader, dir, name, err);
	default:
		break;
	}
	if (*text == 'l')
		target = string(reader);
	else if (*text != 'w')
		return damaged(reader, err);
	if (!is_name(name) || (*text == 'l' && !target))
		return damaged(reader, err);
	return notes_add(reader->notes, target ? NOTE_LINK : NOTE_WHITEOUT, dir, name,
			 target, err);
}

static int load(int dir, char **ret, size_t *ret_size)
{
	CLEANUP_FD int fd = openat(dir, "notes", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_FREE char *data = NULL;
	struct stat st;
	ssize_t got;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > (off_t)FILE_MAX)
		return -EFBIG;
	data = malloc((size_t)st.st_size + 1);
	if (!data)
		return -ENOMEM;
	got = fd_read_full(fd, data, (size_t)st.st_size);
	if (got < 0)
		return (int)got;
	*ret_size = (size_t)got;
	*ret = TAKE_PTR(data);
	return 0;
}

int notes_read(struct notes *notes, struct dirs *dirs, int dir, struct husk_error *err)
{
	CLEANUP_FREE char *data = NULL;
	struct reader reader = {.notes = notes, .dirs = dirs};
	size_t size = 0, skip = sizeof(magic) - 1;
	bool first = true;
	int rc = load(dir, &data, &size);

	if (rc < 0)
		return error_sys(err, -rc, notes->where,
				 "the layer's notes in the store cannot be read");
	if (size < skip || memcmp(data, magic, skip) != 0)
		return damaged(&reader, err);
	reader.at = data + skip;
	reader.end = data + size;
	while (reader.at < reader.end && rc == 0) {
		rc = read_record(&reader, first, err);
		first = false;
	}
	return rc;
}

bool notes_are_empty(int dir)
{
	/* One record, of the root itself, which the layer has or implies. */
	static const char said[] = "husk notes 1\nd0 ", implied[] = "husk notes 1\ni0 ";
	char text[sizeof(said) + 1];
	CLEANUP_FD int fd = openat(dir, "notes", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && fd_read_full(fd, text, sizeof(text)) == sizeof(said) &&
	       (memcmp(text, said, sizeof(said)) == 0 ||
		memcmp(text, implied, sizeof(implied)) == 0);
}
