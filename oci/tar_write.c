/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tar_write.h"

#include "base/fd.h"
#include "oci/tar_header.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The largest size that eleven octal digits hold; past it the number is in base 256,
 * which every reader of today takes. */
#define OCTAL_MAX (((uint64_t)1 << 33) - 1)

enum { RECORD_BLOCKS = 20 };

static int put(struct tar_out *out, const void *data, size_t size, struct husk_error *err)
{
	int r = fd_may_write((size_t)(out->at + size));

	if (r == 0)
		r = fd_write_all(out->fd, data, size);
	if (r < 0)
		return error_sys(err, -r, out->where, "cannot write");
	out->at += size;
	return 0;
}

static void put_size(char *field, uint64_t size)
{
	if (size <= OCTAL_MAX) {
		(void)snprintf(field, 12, "%011llo", (unsigned long long)size);
		return;
	}
	memset(field, 0, 12);
	field[0] = (char)0x80;
	for (int i = 11; size > 0; i--, size >>= 8)
		field[i] = (char)(size & 0xff);
}

static void make_header(const char *name, char type, uint64_t size, char block[TAR_BLOCK])
{
	unsigned sum = 0;

	memset(block, 0, TAR_BLOCK);
	memcpy(block, name, strnlen(name, TAR_NAME));
	memcpy(block + 100, type == '5' ? "0000755" : "0000644", 7);
	memcpy(block + 108, "0000000", 7);
	memcpy(block + 116, "0000000", 7);
	put_size(block + TAR_AT_SIZE, size);
	memcpy(block + 136, "00000000000", 11);
	memset(block + TAR_AT_SUM, ' ', TAR_SUM);
	block[TAR_AT_TYPE] = type;
	memcpy(block + TAR_AT_MAGIC, "ustar\00000", 8);
	memcpy(block + 329, "0000000", 7);
	memcpy(block + 337, "0000000", 7);
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)block[i];
	(void)snprintf(block + TAR_AT_SUM, 8, "%06o", sum);
	block[TAR_AT_SUM + 7] = ' ';
}

/* The name of a sha512 does not fit the header: a pax record before it has it whole. */
static int put_long_name(struct tar_out *out, const char *name, struct husk_error *err)
{
	char block[TAR_BLOCK], record[TAR_BLOCK] = {0};
	size_t size = strlen(name) + sizeof("123 path=\n") - 1;
	int r;

	(void)snprintf(record, sizeof(record), "%3zu path=%s\n", size, name);
	make_header("long-name", 'x', size, block);
	r = put(out, block, sizeof(block), err);
	return r < 0 ? r : put(out, record, sizeof(record), err);
}

static int put_header(struct tar_out *out, const char *name, char type,
		      struct husk_error *err)
{
	char block[TAR_BLOCK];
	int r = 0;

	if (strlen(name) >= sizeof(out->name))
		return error_set(err, HUSK_E_INVALID, out->where,
				 "a member's name is too long: %s", name);
	if (strlen(name) > TAR_NAME)
		r = put_long_name(out, name, err);
	if (r < 0)
		return r;
	out->member = out->at;
	make_header(name, type, 0, block);
	return put(out, block, sizeof(block), err);
}

int tar_out_directory(struct tar_out *out, const char *name, struct husk_error *err)
{
	return put_header(out, name, '5', err);
}

int tar_out_begin(struct tar_out *out, const char *name, struct husk_error *err)
{
	(void)snprintf(out->name, sizeof(out->name), "%s", name);
	return put_header(out, name, '0', err);
}

int tar_out_data(struct tar_out *out, const void *data, size_t size,
		 struct husk_error *err)
{
	return put(out, data, size, err);
}

int tar_out_end(struct tar_out *out, struct husk_error *err)
{
	static const char zeros[TAR_BLOCK];
	uint64_t size = out->at - out->member - TAR_BLOCK;
	char block[TAR_BLOCK];
	ssize_t n;

	make_header(out->name, '0', size, block);
	do {
		n = pwrite(out->fd, block, sizeof(block), (off_t)out->member);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(block))
		return error_sys(err, n < 0 ? errno : EIO, out->where, "cannot write");
	return put(out, zeros, (size_t)(-size % TAR_BLOCK), err);
}

int tar_out_file(struct tar_out *out, const char *name, const void *data, size_t size,
		 struct husk_error *err)
{
	int r = tar_out_begin(out, name, err);

	if (r == 0)
		r = tar_out_data(out, data, size, err);
	return r < 0 ? r : tar_out_end(out, err);
}

int tar_out_finish(struct tar_out *out, struct husk_error *err)
{
	static const char zeros[TAR_BLOCK];
	uint64_t record = (uint64_t)RECORD_BLOCKS * TAR_BLOCK;
	int r = 0;

	for (int i = 0; r == 0 && (i < 2 || out->at % record != 0); i++)
		r = put(out, zeros, sizeof(zeros), err);
	return r;
}
