/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tar_frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "oci/bounds.h"
#include "oci/tar_header.h"

void tar_frame_init(struct tar_frame *frame, const char *where)
{
	*frame = (struct tar_frame){
	    .where = where,
	    .collected = BUFFER_INIT(TAR_MAX_EXTENSION),
	    .path = BUFFER_INIT(TAR_MAX_EXTENSION),
	    .link = BUFFER_INIT(TAR_MAX_EXTENSION),
	};
	frame->last = &frame->first;
}

struct tar_member *tar_member_free(struct tar_member *member)
{
	if (member)
		free(member->path);
	free(member);
	return NULL;
}

void tar_frame_deinit(struct tar_frame *frame)
{
	struct tar_member *member;

	while ((member = tar_frame_take(frame)))
		(void)tar_member_free(member);
	buffer_deinit(&frame->collected);
	buffer_deinit(&frame->path);
	buffer_deinit(&frame->link);
}

struct tar_member *tar_frame_take(struct tar_frame *frame)
{
	struct tar_member *member = frame->first;

	if (!member)
		return NULL;
	frame->first = member->next;
	if (!frame->first)
		frame->last = &frame->first;
	member->next = NULL;
	return member;
}

static uint64_t padded(uint64_t size)
{
	return (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
}

static int damaged(const struct tar_frame *frame, struct husk_error *err, const char *why)
{
	return error_set(err, HUSK_E_IMAGE, frame->where,
			 "is not a sound tar archive: %s at byte %llu", why,
			 (unsigned long long)(frame->at - TAR_BLOCK));
}

/* -- extension headers ------------------------------------------------------------ */

static void forget(struct tar_frame *frame)
{
	frame->begun = frame->have_pax = frame->have_size = false;
	frame->path.size = frame->link.size = 0;
	frame->path_from = frame->link_from = 0;
	frame->sparse = (struct pax_sparse){0};
}

static int begin_extension(struct tar_frame *frame, char type, int64_t size,
			   struct husk_error *err)
{
	bool pax = type == 'x' || type == 'X';

	if (size > TAR_MAX_EXTENSION)
		return error_set(err, HUSK_E_TOO_BIG, frame->where,
				 "has an extension header of %lld bytes at byte %llu; "
				 "%d are allowed (TAR_MAX_EXTENSION)",
				 (long long)size,
				 (unsigned long long)(frame->at - TAR_BLOCK),
				 TAR_MAX_EXTENSION);
	if ((pax && frame->have_pax) || (type == 'L' && frame->path_from == 1) ||
	    (type == 'K' && frame->link_from == 1))
		return damaged(frame, err, "two extension headers of one kind in a row");
	frame->have_pax |= pax;
	frame->extension = type;
	frame->extension_size = (size_t)size;
	frame->skip = padded((uint64_t)size);
	frame->collected.size = 0;
	frame->state = frame->skip ? FRAME_EXTENSION : FRAME_HEADER;
	return 0;
}

/* Keep a name where none stronger is known. */
static int keep(struct tar_frame *frame, struct buffer *to, int *from, int strength,
		const char *data, size_t size, struct husk_error *err)
{
	if (*from > strength)
		return 0;
	if (memchr(data, '\0', size))
		return damaged(frame, err, "a name with a NUL");
	to->size = 0;
	*from = strength;
	return buffer_add(to, data, size) < 0 ? error_oom(err, frame->where) : 0;
}

struct pax_use {
	struct tar_frame *frame;
	struct husk_error *err;
	bool global;
	unsigned seen;
};

/* What decides which bytes belong to which name, and may be said once only. */
static const struct {
	const char *key;
	int strength; /* of a name; 0: not one */
	bool link;
} pax_keys[] = {
    {"size", 0, false},
    {"path", 2, false},
    {"linkpath", 2, true},
    {"GNU.sparse.name", 3, false},
};

static int use_pax(void *user, const char *key, const char *value, size_t size)
{
	struct pax_use *use = user;
	struct tar_frame *frame = use->frame;
	size_t i = 0, count = sizeof(pax_keys) / sizeof(pax_keys[0]);

	while (i < count && strcmp(key, pax_keys[i].key) != 0)
		i++;
	if (use->global && (i < count || !strncmp(key, "GNU.sparse.", 11)))
		return damaged(frame, use->err,
			       "a global header that renames or resizes entries");
	if (pax_sparse_take(&frame->sparse, key, value, size) < 0)
		return damaged(frame, use->err,
			       "a pax header of a sparse file that is none");
	if (i == count)
		return 0;
	if (use->seen & 1U << i)
		return damaged(frame, use->err, "a pax header that says one thing twice");
	use->seen |= 1U << i;
	if (i > 0)
		return keep(frame, pax_keys[i].link ? &frame->link : &frame->path,
			    pax_keys[i].link ? &frame->link_from : &frame->path_from,
			    pax_keys[i].strength, value, size, use->err);
	frame->have_size = true;
	if (pax_number(value, size, &frame->size) < 0)
		return damaged(frame, use->err, "a size in a pax header that is none");
	return 0;
}

static int end_extension(struct tar_frame *frame, struct husk_error *err)
{
	const char *data = frame->collected.data;
	size_t size = frame->extension_size;
	struct pax_use use = {frame, err, frame->extension == 'g', 0};
	int rc;

	frame->state = FRAME_HEADER;
	if (frame->extension == 'L')
		return keep(frame, &frame->path, &frame->path_from, 1, data,
			    strnlen(data, size), err);
	if (frame->extension == 'K')
		return keep(frame, &frame->link, &frame->link_from, 1, data,
			    strnlen(data, size), err);
	rc = pax_parse(data, size, use_pax, &use);
	return rc == -EINVAL ? damaged(frame, err, "a damaged pax header") : rc;
}

/* -- headers ---------------------------------------------------------------------- */

static struct tar_member *member_new(const struct tar_frame *frame, const char *path,
				     size_t path_size, const char *link, size_t link_size)
{
	struct tar_member *member = calloc(1, sizeof(*member));

	if (!member)
		return NULL;
	member->path = malloc(path_size + link_size + 2);
	if (!member->path) {
		free(member);
		return NULL;
	}
	memcpy(member->path, path, path_size);
	member->path[path_size] = '\0';
	member->link = member->path + path_size + 1;
	memcpy(member->link, link, link_size);
	member->link[link_size] = '\0';
	member->position = frame->position;
	member->type = (char)frame->block[TAR_AT_TYPE];
	return member;
}

/* The name in the header itself: prefix/name, the prefix in POSIX's format only. */
static size_t short_name(const unsigned char *block, char out[TAR_NAME + TAR_PREFIX + 1])
{
	const char *name = (const char *)block + TAR_AT_NAME;
	const char *prefix = (const char *)tar_prefix(block);
	size_t size = 0, name_size = strnlen(name, TAR_NAME);

	if (prefix) {
		size = strnlen(prefix, TAR_PREFIX);
		memcpy(out, prefix, size);
		out[size++] = '/';
	}
	memcpy(out + size, name, name_size);
	return size + name_size;
}

static int add_member(struct tar_frame *frame, struct husk_error *err)
{
	const char *link = (const char *)frame->block + TAR_AT_LINK;
	char name[TAR_NAME + TAR_PREFIX + 1];
	size_t size = short_name(frame->block, name);
	struct tar_member *member;

	member =
	    member_new(frame, frame->path_from ? frame->path.data : name,
		       frame->path_from ? frame->path.size : size,
		       frame->link_from ? frame->link.data : link,
		       frame->link_from ? frame->link.size : strnlen(link, TAR_NAME));
	if (!member)
		return error_oom(err, frame->where);
	*frame->last = member;
	frame->last = &member->next;
	frame->count++;
	if (frame->count > OCI_MAX_ENTRIES)
		return error_set(err, HUSK_E_TOO_BIG, frame->where,
				 "has more than %d entries (OCI_MAX_ENTRIES)",
				 OCI_MAX_ENTRIES);
	return 0;
}

/* Count what the pieces of a GNU sparse map hold. */
static int count_pieces(struct tar_frame *frame, const unsigned char *piece, int count,
			struct husk_error *err)
{
	for (; count > 0 && piece[0]; count--, piece += 2 * TAR_NUMBER) {
		uint64_t size;

		if (tar_number(piece + TAR_NUMBER, TAR_NUMBER, &size) < 0 ||
		    size > OCI_MAX_LAYER_BYTES)
			return damaged(frame, err, "a sparse map that is none");
		frame->mapped += size;
	}
	return 0;
}

/* The map is complete; readers differ where it does not fit the content. */
static int end_map(struct tar_frame *frame, struct husk_error *err)
{
	frame->skip = frame->after;
	frame->state = frame->skip ? FRAME_SKIP : FRAME_HEADER;
	return frame->mapped == frame->stored
		   ? 0
		   : damaged(frame, err, "a sparse map that does not fit its content");
}

static int begin_map(struct tar_frame *frame, uint64_t content, struct husk_error *err)
{
	int rc;

	frame->after = frame->skip;
	frame->stored = content;
	frame->mapped = 0;
	rc = count_pieces(frame, frame->block + TAR_AT_SPARSE, 4, err);
	if (rc < 0)
		return rc;
	frame->state = FRAME_SPARSE;
	return frame->block[TAR_AT_SPARSE_MORE] ? 0 : end_map(frame, err);
}

static int more_map(struct tar_frame *frame, struct husk_error *err)
{
	int rc = count_pieces(frame, frame->block, 21, err);

	if (rc < 0 || frame->block[TAR_AT_SPARSE_AGAIN])
		return rc;
	return end_map(frame, err);
}

static int begin_member(struct tar_frame *frame, uint64_t size, struct husk_error *err)
{
	char type = (char)frame->block[TAR_AT_TYPE];
	uint64_t content = frame->have_size ? frame->size : size;
	int rc;

	/* Links, devices, directories and FIFOs have no content, whatever they say. */
	if (type >= '1' && type <= '6')
		content = 0;
	if (content > OCI_MAX_LAYER_BYTES || frame->sparse.size > OCI_MAX_LAYER_BYTES)
		return error_set(err, HUSK_E_TOO_BIG, frame->where,
				 "has an entry of more than %llu bytes "
				 "(OCI_MAX_LAYER_BYTES)",
				 (unsigned long long)OCI_MAX_LAYER_BYTES);
	if (pax_sparse_check(&frame->sparse, content) < 0)
		return damaged(frame, err, "an incomplete description of a sparse file");
	rc = add_member(frame, err);
	forget(frame);
	frame->skip = padded(content);
	frame->padding = (size_t)(frame->skip - content);
	frame->state = frame->skip ? FRAME_SKIP : FRAME_HEADER;
	if (rc == 0 && type == 'S')
		rc = begin_map(frame, content, err);
	return rc;
}

static int header(struct tar_frame *frame, struct husk_error *err)
{
	char type = (char)frame->block[TAR_AT_TYPE];
	uint64_t size;

	if (tar_is_zero(frame->block)) {
		if (frame->begun)
			return damaged(frame, err,
				       "an extension header without an entry");
		frame->state = FRAME_END;
		return 0;
	}
	if (!tar_sum_is_right(frame->block))
		return damaged(frame, err, "a header with a wrong checksum");
	if (tar_number(frame->block + TAR_AT_SIZE, TAR_NUMBER, &size) < 0)
		return damaged(frame, err, "a size that is none");
	if (!frame->begun)
		frame->position = frame->at - TAR_BLOCK;
	frame->begun = true;
	if (strchr("xXgLK", type) && type)
		return begin_extension(frame, type, size, err);
	if (strchr("DMNV", type) && type)
		return damaged(frame, err,
			       "a part of a GNU backup (dump directory, volume)");
	return begin_member(frame, size, err);
}

/* -- the stream ------------------------------------------------------------------- */

static size_t fill_block(struct tar_frame *frame, const unsigned char *data, size_t size)
{
	size_t n = TAR_BLOCK - frame->filled;

	if (n > size)
		n = size;
	memcpy(frame->block + frame->filled, data, n);
	frame->filled += n;
	return n;
}

/* Take some of data; a whole block makes something happen. */
static ssize_t take(struct tar_frame *frame, const unsigned char *data, size_t size,
		    struct husk_error *err)
{
	size_t n = size;
	int rc = 0;

	switch (frame->state) {
	case FRAME_END:
		break;
	case FRAME_SKIP:
	case FRAME_EXTENSION:
		if (n > frame->skip)
			n = (size_t)frame->skip;
		if (frame->state == FRAME_EXTENSION &&
		    buffer_add(&frame->collected, data, n) < 0)
			return error_oom(err, frame->where);
		frame->skip -= n;
		break;
	default:
		n = fill_block(frame, data, size);
		break;
	}
	frame->at += n;
	if (frame->state == FRAME_EXTENSION && frame->skip == 0)
		rc = end_extension(frame, err);
	else if (frame->state == FRAME_SKIP && frame->skip == 0)
		frame->state = FRAME_HEADER;
	if (frame->filled == TAR_BLOCK) {
		frame->filled = 0;
		rc = frame->state == FRAME_HEADER ? header(frame, err)
						  : more_map(frame, err);
	}
	return rc < 0 ? rc : (ssize_t)n;
}

int tar_frame_feed(struct tar_frame *frame, const void *data, size_t size,
		   struct husk_error *err)
{
	const unsigned char *at = data;

	while (size > 0) {
		ssize_t n = take(frame, at, size, err);

		if (n < 0)
			return (int)n;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

size_t tar_frame_missing(const struct tar_frame *frame)
{
	bool content_is_there =
	    frame->state == FRAME_SKIP && frame->skip <= frame->padding;

	return content_is_there ? (size_t)frame->skip : 0;
}

int tar_frame_finish(const struct tar_frame *frame, struct husk_error *err)
{
	if (frame->state == FRAME_END ||
	    (frame->state == FRAME_HEADER && frame->filled == 0 && !frame->begun))
		return 0;
	return error_set(err, HUSK_E_IMAGE, frame->where,
			 "is truncated: its tar archive ends in the middle of an entry");
}
