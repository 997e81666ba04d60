/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tar.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/printable.h"
#include "oci/bounds.h"
#include "oci/lib_archive.h"
#include "oci/tar_frame.h"

struct tar {
	struct tar_source source;
	const struct lib_archive *lib;
	struct archive *archive;
	struct archive_entry *entry; /* our own: libarchive does not check its own */
	struct tar_frame frame;
	struct tar_member *member; /* of the entry that tar_next gave */
	bool ended;		   /* the source */
	bool opened;
	int failed; /* the source or the frame: the code, and why */
	struct husk_error why;
};

/* libarchive asks for more; the frame looks at it first. */
static la_ssize_t read_more(struct archive *archive, void *user, const void **ret)
{
	static const char zeros[TAR_BLOCK];
	struct tar *tar = user;
	ssize_t size;

	(void)archive;
	if (tar->ended)
		return 0;
	size = tar->source.next(tar->source.user, ret, &tar->why);
	if (size == 0 && tar_frame_missing(&tar->frame) > 0) {
		*ret = zeros;
		size = (ssize_t)tar_frame_missing(&tar->frame);
	}
	if (size < 0)
		tar->failed = (int)size;
	else if (size == 0)
		tar->failed = tar_frame_finish(&tar->frame, &tar->why);
	else
		tar->failed = tar_frame_feed(&tar->frame, *ret, (size_t)size, &tar->why);
	tar->ended = size == 0;
	if (tar->failed) {
		tar->lib->set_error(tar->archive, EIO, "%s", tar->why.message);
		return ARCHIVE_FATAL;
	}
	return size;
}

static int fail(struct tar *tar, struct husk_error *err)
{
	if (err)
		*err = tar->why;
	return tar->failed;
}

/* libarchive has refused: our own reason where there is one. */
static int refused(struct tar *tar, struct husk_error *err)
{
	const char *why = tar->lib->error_string(tar->archive);
	char text[160];

	if (tar->failed)
		return fail(tar, err);
	/* It has no words where it could not keep them. */
	if (tar->lib->error_number(tar->archive) == ENOMEM || !why)
		return error_oom(err, tar->source.where);
	return error_set(err, HUSK_E_IMAGE, tar->source.where,
			 "is not a sound tar archive: %s",
			 printable(text, sizeof(text), why));
}

static int disagree(struct tar *tar, const char *path, struct husk_error *err)
{
	char text[160];

	return error_set(err, HUSK_E_IMAGE, tar->source.where,
			 "can be read in two ways, near the entry %s: "
			 "its headers contradict each other",
			 printable(text, sizeof(text), path));
}

/* A stream without a byte is an empty archive; libarchive takes it for none. */
static bool is_empty(const struct tar *tar)
{
	return tar->ended && tar->frame.at == 0;
}

static int open_archive(struct tar *tar, struct husk_error *err)
{
	const struct lib_archive *lib = tar->lib;
	bool good;

	tar->opened = true;
	tar->archive = lib->read_new();
	tar->entry = lib->entry_new();
	if (!tar->archive || !tar->entry)
		return error_oom(err, tar->source.where);
	good = lib->support_filter_none(tar->archive) == ARCHIVE_OK &&
	       lib->support_format_tar(tar->archive) == ARCHIVE_OK &&
	       lib->read_open(tar->archive, tar, NULL, read_more, NULL) == ARCHIVE_OK;
	return good || (is_empty(tar) && !tar->failed) ? 0 : refused(tar, err);
}

int tar_new(const struct tar_source *source, struct tar **ret, struct husk_error *err)
{
	struct tar *tar = calloc(1, sizeof(*tar));
	int rc;

	if (!tar)
		return error_oom(err, source->where);
	tar->source = *source;
	tar_frame_init(&tar->frame, source->where);
	rc = lib_archive(&tar->lib, err);
	if (rc < 0) {
		(void)tar_free(tar);
		return rc;
	}
	*ret = tar;
	return 0;
}

struct tar *tar_free(struct tar *tar)
{
	if (!tar)
		return NULL;
	if (tar->archive)
		(void)tar->lib->read_free(tar->archive);
	if (tar->entry)
		tar->lib->entry_free(tar->entry);
	(void)tar_member_free(tar->member);
	tar_frame_deinit(&tar->frame);
	free(tar);
	return NULL;
}

/* Warnings that do not matter: what is converted or dropped is not taken from there. */
static bool warning_is_harmless(const char *text)
{
	static const char *const harmless[] = {"can't be converted",
					       "can't allocate memory for ACL", "ACL",
					       "cannot be converted"};

	for (size_t i = 0; text && i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (strstr(text, harmless[i]))
			return true;
	return false;
}

static bool is_ascii(const char *text)
{
	while (*text > 0)
		text++;
	return *text == '\0';
}

/* Are these the same name? A slash at the end says nothing. What is not ASCII libarchive
 * may have converted. */
static bool same_name(const char *ours, const char *theirs)
{
	size_t size = strlen(ours), their_size = theirs ? strlen(theirs) : 0;

	if (!theirs)
		return !is_ascii(ours);
	while (size > 0 && ours[size - 1] == '/')
		size--;
	while (their_size > 0 && theirs[their_size - 1] == '/')
		their_size--;
	if (!is_ascii(ours) || !is_ascii(theirs))
		return true;
	return size == their_size && !memcmp(ours, theirs, size);
}

/* Take the frame's member for libarchive's entry; they must be the same. */
static int match(struct tar *tar, struct husk_error *err)
{
	const char *path = tar->lib->entry_pathname(tar->entry);
	int64_t position = tar->lib->header_position(tar->archive);

	tar->member = tar_member_free(tar->member);
	tar->member = tar_frame_take(&tar->frame);
	if (!tar->member)
		return disagree(tar, path ? path : "", err);
	if (position < 0 || tar->member->position != (uint64_t)position ||
	    !same_name(tar->member->path, path))
		return disagree(tar, tar->member->path, err);
	return 0;
}

static bool has_link(const struct tar *tar, const char *theirs)
{
	const char *ours = tar->member->link;

	return theirs ? same_name(ours, theirs) : !*ours || !is_ascii(ours);
}

static int type_of(struct tar *tar, enum tar_type *ret, struct husk_error *err)
{
	const struct lib_archive *lib = tar->lib;

	if (tar->member->type == '1') {
		*ret = TAR_HARDLINK;
		return has_link(tar, lib->entry_hardlink(tar->entry))
			   ? 0
			   : disagree(tar, tar->member->path, err);
	}
	switch (lib->entry_filetype(tar->entry)) {
	case AE_IFREG:
		*ret = TAR_FILE;
		return 0;
	case AE_IFDIR:
		*ret = TAR_DIRECTORY;
		return 0;
	case AE_IFLNK:
		*ret = TAR_SYMLINK;
		return has_link(tar, lib->entry_symlink(tar->entry))
			   ? 0
			   : disagree(tar, tar->member->path, err);
	case AE_IFIFO:
		*ret = TAR_FIFO;
		return 0;
	default:
		*ret = TAR_DEVICE;
		return 0;
	}
}

/* What file systems can hold: ext4 has 34 bits. */
static int64_t clamp_time(int64_t seconds)
{
	const int64_t least = INT32_MIN, most = ((int64_t)1 << 34) - 1;

	return seconds < least ? least : seconds > most ? most : seconds;
}

static int describe(struct tar *tar, struct tar_entry *ret, struct husk_error *err)
{
	const struct lib_archive *lib = tar->lib;
	int64_t size = lib->entry_size(tar->entry);
	long nanoseconds = lib->entry_mtime_nsec(tar->entry);
	int rc = type_of(tar, &ret->type, err);
	char text[160];

	if (rc < 0)
		return rc;
	ret->path = tar->member->path;
	ret->link = tar->member->link;
	ret->mode = lib->entry_mode(tar->entry) & 07777;
	ret->mtime.tv_sec = clamp_time(lib->entry_mtime(tar->entry));
	ret->mtime.tv_nsec =
	    nanoseconds >= 0 && nanoseconds < 1000000000 ? nanoseconds : 0;
	ret->size = ret->type == TAR_FILE && size > 0 ? (uint64_t)size : 0;
	if (size < 0 || ret->size > OCI_MAX_LAYER_BYTES)
		return error_set(err, HUSK_E_TOO_BIG, tar->source.where,
				 "has a file of %lld bytes (OCI_MAX_LAYER_BYTES): %s",
				 (long long)size,
				 printable(text, sizeof(text), ret->path));
	(void)lib->entry_xattr_reset(tar->entry);
	return 0;
}

/* The end of the archive, for libarchive; it must be the frame's as well. */
static int end(struct tar *tar, struct husk_error *err)
{
	if (tar->frame.first)
		return disagree(tar, tar->frame.first->path, err);
	return tar_frame_finish(&tar->frame, err);
}

int tar_next(struct tar *tar, struct tar_entry *ret, struct husk_error *err)
{
	int code, rc = tar->opened ? 0 : open_archive(tar, err);

	if (rc < 0)
		return rc;
	code = tar->lib->next_header(tar->archive, tar->entry);
	if (tar->failed)
		return fail(tar, err);
	if (code == ARCHIVE_EOF || is_empty(tar))
		return end(tar, err);
	if (code != ARCHIVE_OK &&
	    (code != ARCHIVE_WARN ||
	     !warning_is_harmless(tar->lib->error_string(tar->archive))))
		return refused(tar, err);
	rc = match(tar, err);
	if (rc == 0)
		rc = describe(tar, ret, err);
	return rc < 0 ? rc : 1;
}

int tar_data(struct tar *tar, const void **ret, size_t *ret_size, uint64_t *ret_offset,
	     struct husk_error *err)
{
	la_int64_t offset;
	int code = tar->lib->data_block(tar->archive, ret, ret_size, &offset);

	if (tar->failed)
		return fail(tar, err);
	if (code == ARCHIVE_EOF)
		return 0;
	if (code != ARCHIVE_OK || offset < 0)
		return refused(tar, err);
	*ret_offset = (uint64_t)offset;
	return 1;
}

int tar_attribute(struct tar *tar, const char **ret_name, const void **ret_value,
		  size_t *ret_size)
{
	return tar->lib->entry_xattr_next(tar->entry, ret_name, ret_value, ret_size) ==
	       ARCHIVE_OK;
}
