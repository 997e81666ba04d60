/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tar_scan.h"

#include "oci/bounds.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAP_BLOCKS_MAX = 65536, /* of one sparse file */
	RECORDS_MAX = 1 << 20,	/* bytes of the pax records of one member */
	JOINTS_MAX = 64,	/* tars one after another */
	ZEROS_MAX = 2048,	/* blocks between two of them */
	EXTRAS_MAX = 16,	/* headers that only say something about the next one */
};

#define TAR_SIZE_MAX ((uint64_t)1 << 62)

struct tar_scan {
	struct tar_input input;
	uint64_t at; /* of the next header */
	bool any;
	bool ended;
	struct tar_joint joints[JOINTS_MAX];
	size_t joint_count;
	bool has_name, has_link, has_size; /* from headers before the member's own */
	uint64_t size;
	char name[OCI_MAX_PATH + 1];
	char link[OCI_MAX_PATH + 1];
	char records[RECORDS_MAX + 1];
};

int tar_scan_new(const struct tar_input *input, struct tar_scan **ret,
		 struct husk_error *err)
{
	struct tar_scan *scan = calloc(1, sizeof(*scan));

	if (!scan)
		return error_oom(err, input->where);
	scan->input = *input;
	*ret = scan;
	return 0;
}

struct tar_scan *tar_scan_free(struct tar_scan *scan)
{
	free(scan);
	return NULL;
}

static int bad(const struct tar_scan *scan, const char *why, struct husk_error *err)
{
	return error_set(err, HUSK_E_IMAGE, scan->input.where, "%s", why);
}

static int too_big(const struct tar_scan *scan, const char *what, struct husk_error *err)
{
	return error_set(err, HUSK_E_TOO_BIG, scan->input.where,
			 "a %s is larger than husk takes", what);
}

/* All of size bytes, or HUSK_E_IMAGE. */
static int read_whole(struct tar_scan *scan, uint64_t offset, void *data, size_t size,
		      struct husk_error *err)
{
	ssize_t n = scan->input.read(scan->input.user, offset, data, size, err);

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : bad(scan, "the tar is cut short", err);
}

size_t tar_scan_joints(const struct tar_scan *scan, const struct tar_joint **ret)
{
	*ret = scan->joints;
	return scan->joint_count;
}

/* After an end marker: is there another tar behind it? 1 and its first header, or 0. What
 * is no header there is no matter: other readers do not look. */
static int find_next_tar(struct tar_scan *scan, unsigned char header[TAR_BLOCK],
			 struct husk_error *err)
{
	uint64_t at = scan->at;

	for (int i = 0; i < ZEROS_MAX; i++) {
		ssize_t n;

		at += TAR_BLOCK;
		n = scan->input.read(scan->input.user, at, header, TAR_BLOCK, err);
		if (n < 0)
			return (int)n;
		if (n < TAR_BLOCK)
			return 0;
		if (tar_is_zero(header))
			continue;
		if (!tar_sum_is_right(header))
			return 0;
		if (scan->joint_count == JOINTS_MAX)
			return too_big(scan, "number of tars in one file", err);
		scan->joints[scan->joint_count++] =
		    (struct tar_joint){.end = scan->at, .next = at};
		scan->at = at;
		return 1;
	}
	return 0;
}

/* 1 and a header, 0 at the end. */
static int read_header(struct tar_scan *scan, unsigned char header[TAR_BLOCK],
		       struct husk_error *err)
{
	ssize_t n = scan->input.read(scan->input.user, scan->at, header, TAR_BLOCK, err);

	if (n < 0)
		return (int)n;
	if (n == 0 && scan->any)
		return 0; /* no end marker, as some writers have it */
	if (n < TAR_BLOCK)
		return bad(scan, scan->any ? "the tar is cut short" : "is not a tar",
			   err);
	if (tar_is_zero(header))
		return find_next_tar(scan, header, err);
	if (!tar_sum_is_right(header))
		return bad(scan,
			   scan->any ? "the tar is damaged: a header's checksum is wrong"
				     : "is not a tar",
			   err);
	return 1;
}

/* A field that need not end in NUL, appended to text. */
static void add_field(char *text, const unsigned char *field, size_t size)
{
	size_t used = strlen(text), n = strnlen((const char *)field, size);

	memcpy(text + used, field, n);
	text[used + n] = '\0';
}

/* GNU's long name or link: the content is the text. */
static int take_long(struct tar_scan *scan, uint64_t size, bool link,
		     struct husk_error *err)
{
	char *to = link ? scan->link : scan->name;
	int r;

	if (size == 0 || size > OCI_MAX_PATH)
		return too_big(scan, "member's name", err);
	r = read_whole(scan, scan->at + TAR_BLOCK, to, (size_t)size, err);
	if (r < 0)
		return r;
	to[size] = '\0';
	*(link ? &scan->has_link : &scan->has_name) = true;
	return 0;
}

static int take_text(struct tar_scan *scan, const char *value, size_t size, bool link,
		     struct husk_error *err)
{
	char *to = link ? scan->link : scan->name;

	if (size > OCI_MAX_PATH)
		return too_big(scan, "member's name", err);
	if (memchr(value, '\0', size))
		return bad(scan, "a member's name holds a NUL", err);
	memcpy(to, value, size);
	to[size] = '\0';
	*(link ? &scan->has_link : &scan->has_name) = true;
	return 0;
}

static int take_size(struct tar_scan *scan, const char *value, size_t size,
		     struct husk_error *err)
{
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++) {
		if (value[i] < '0' || value[i] > '9')
			return bad(scan, "a member's size is no number", err);
		if (number > TAR_SIZE_MAX / 16)
			return too_big(scan, "member's size", err);
		number = number * 10 + (uint64_t)(value[i] - '0');
	}
	scan->size = number;
	scan->has_size = true;
	return 0;
}

static int take_record(struct tar_scan *scan, const char *key, size_t key_size,
		       const char *value, size_t size, struct husk_error *err)
{
	if (key_size == 4 && memcmp(key, "path", 4) == 0)
		return take_text(scan, value, size, false, err);
	if (key_size == 8 && memcmp(key, "linkpath", 8) == 0)
		return take_text(scan, value, size, true, err);
	if (key_size == 4 && memcmp(key, "size", 4) == 0)
		return take_size(scan, value, size, err);
	return 0;
}

/* Records are "LENGTH KEY=VALUE\n", where LENGTH counts itself. */
static int take_records(struct tar_scan *scan, uint64_t size, struct husk_error *err)
{
	static const char wrong[] = "a member's pax records are damaged";
	const char *at = scan->records, *end;
	int r;

	if (size > RECORDS_MAX)
		return too_big(scan, "member's pax header", err);
	r = read_whole(scan, scan->at + TAR_BLOCK, scan->records, (size_t)size, err);
	end = at + size;
	while (r == 0 && at < end) {
		size_t length = 0;
		const char *key = at, *equals;

		while (key < end && *key >= '0' && *key <= '9' && length < RECORDS_MAX)
			length = length * 10 + (size_t)(*key++ - '0');
		if (key == at || key == end || *key != ' ' ||
		    length > (size_t)(end - at) || at + length <= key + 1 ||
		    at[length - 1] != '\n')
			return bad(scan, wrong, err);
		key++;
		equals = memchr(key, '=', (size_t)(at + length - key));
		if (!equals)
			return bad(scan, wrong, err);
		r = take_record(scan, key, (size_t)(equals - key), equals + 1,
				(size_t)(at + length - 1 - (equals + 1)), err);
		at += length;
	}
	return r;
}

/* In place: no "." component, no slash but between components. */
static void normalise(char *name)
{
	char *to = name;
	const char *at = name;

	while (*at != '\0') {
		size_t n = strcspn(at, "/");

		if (n > 0 && !(n == 1 && at[0] == '.')) {
			if (to != name)
				*to++ = '/';
			memmove(to, at, n);
			to += n;
		}
		at += n;
		at += strspn(at, "/");
	}
	*to = '\0';
}

/* Old GNU sparse files: their map goes on in blocks after the header. */
static int skip_map(struct tar_scan *scan, const unsigned char *header, uint64_t *offset,
		    struct husk_error *err)
{
	unsigned char block[TAR_BLOCK];
	bool more = header[TAR_AT_SPARSE_MORE] != 0;

	for (int i = 0; more; i++) {
		int r = read_whole(scan, *offset, block, sizeof(block), err);

		if (r < 0)
			return r;
		if (i == MAP_BLOCKS_MAX)
			return too_big(scan, "member's sparse map", err);
		*offset += TAR_BLOCK;
		more = block[TAR_AT_SPARSE_AGAIN] != 0;
	}
	return 0;
}

/* Only these have a content after them, whatever their size field says. */
static bool has_content(char type, bool pax_size)
{
	return (type == '1' && pax_size) || type < '1' || type > '6';
}

static uint64_t padded(uint64_t size)
{
	return (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
}

static int finish_entry(struct tar_scan *scan, const unsigned char *header, uint64_t size,
			struct tar_entry *ret, struct husk_error *err)
{
	char type = (char)header[TAR_AT_TYPE];
	uint64_t offset = scan->at + TAR_BLOCK;
	const unsigned char *prefix = tar_prefix(header);
	size_t end;
	int r = 0;

	if (!scan->has_name) {
		scan->name[0] = '\0';
		if (prefix) {
			add_field(scan->name, prefix, TAR_PREFIX);
			add_field(scan->name, (const unsigned char *)"/", 1);
		}
		add_field(scan->name, header + TAR_AT_NAME, TAR_NAME);
	}
	if (!scan->has_link) {
		scan->link[0] = '\0';
		if (type == '1' || type == '2')
			add_field(scan->link, header + TAR_AT_LINK, TAR_NAME);
	}
	end = strlen(scan->name);
	if (type == '\0' || type == '7' || type == '0') /* a slash: a directory of old */
		type = end > 0 && scan->name[end - 1] == '/' ? '5' : '0';
	if (type == 'S')
		r = skip_map(scan, header, &offset, err);
	if (r < 0)
		return r;
	if (!has_content(type, scan->has_size))
		size = 0;
	normalise(scan->name);
	*ret = (struct tar_entry){.name = scan->name,
				  .link = scan->link,
				  .type = type,
				  .offset = offset,
				  .size = size};
	scan->at = offset + padded(size);
	return 1;
}

/* 1: the header was one of those that only speak of the next. */
static int take_extra(struct tar_scan *scan, char type, uint64_t size,
		      struct husk_error *err)
{
	int r;

	switch (type) {
	case 'L':
	case 'K':
		r = take_long(scan, size, type == 'K', err);
		break;
	case 'x':
		r = take_records(scan, size, err);
		break;
	case 'g':
	case 'V':
		r = 0;
		break;
	default:
		return 0;
	}
	if (r < 0)
		return r;
	scan->at += TAR_BLOCK + padded(size);
	return 1;
}

int tar_scan_next(struct tar_scan *scan, struct tar_entry *ret, struct husk_error *err)
{
	unsigned char header[TAR_BLOCK];
	uint64_t size;
	int r;

	scan->has_name = scan->has_link = scan->has_size = false;
	for (int extras = 0; !scan->ended; extras++) {
		r = read_header(scan, header, err);
		if (r <= 0) {
			scan->ended = true;
			return r;
		}
		scan->any = true;
		if (tar_number(header + TAR_AT_SIZE, TAR_NUMBER, &size) < 0 ||
		    size > TAR_SIZE_MAX)
			return bad(scan, "a member's size is no number", err);
		r = take_extra(scan, (char)header[TAR_AT_TYPE], size, err);
		if (r < 0)
			return r;
		if (r == 0)
			return finish_entry(scan, header,
					    scan->has_size ? scan->size : size, ret, err);
		if (extras == EXTRAS_MAX)
			return bad(scan, "too many headers before one member", err);
	}
	return 0;
}
