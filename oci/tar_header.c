/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tar_header.h"

#include <errno.h>
#include <string.h>

static int base_256(const unsigned char *field, size_t size, uint64_t *ret)
{
	uint64_t value = 0;

	if (field[0] != 0x80)
		return -EINVAL;
	for (size_t i = 1; i < size; i++) {
		if (value >> 55)
			return -EINVAL;
		value = value << 8 | field[i];
	}
	*ret = value;
	return 0;
}

int tar_number(const unsigned char *field, size_t size, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i = 0;

	if (field[0] & 0x80)
		return base_256(field, size, ret);
	while (i < size && field[i] == ' ')
		i++;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(field[i] - '0');
	for (; i < size; i++)
		if (field[i] != ' ' && field[i] != '\0')
			return -EINVAL;
	*ret = value;
	return 0;
}

bool tar_sum_is_right(const unsigned char header[TAR_BLOCK])
{
	int64_t plain = 0, with_sign = 0;
	uint64_t told;

	if (tar_number(header + TAR_AT_SUM, TAR_SUM, &told) < 0)
		return false;
	for (int i = 0; i < TAR_BLOCK; i++) {
		bool own = i >= TAR_AT_SUM && i < TAR_AT_SUM + TAR_SUM;

		plain += own ? ' ' : header[i];
		with_sign += own ? ' ' : (signed char)header[i];
	}
	return (int64_t)told == plain || (int64_t)told == with_sign;
}

bool tar_is_zero(const unsigned char block[TAR_BLOCK])
{
	for (int i = 0; i < TAR_BLOCK; i++)
		if (block[i] != 0)
			return false;
	return true;
}

const unsigned char *tar_prefix(const unsigned char header[TAR_BLOCK])
{
	bool posix = memcmp(header + TAR_AT_MAGIC, "ustar", sizeof("ustar")) == 0;

	return posix && header[TAR_AT_PREFIX] != '\0' ? header + TAR_AT_PREFIX : NULL;
}
