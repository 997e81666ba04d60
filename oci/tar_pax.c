/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tar_pax.h"

#include <string.h>

int pax_number(const char *value, size_t size, uint64_t *ret)
{
	uint64_t number = 0;

	if (size == 0 || size > 19)
		return -EINVAL;
	for (size_t i = 0; i < size; i++) {
		if (value[i] < '0' || value[i] > '9')
			return -EINVAL;
		number = number * 10 + (uint64_t)(value[i] - '0');
	}
	if (number > INT64_MAX)
		return -EINVAL;
	*ret = number;
	return 0;
}

/* One record; *ret_size is its length. */
static int record(const char *data, size_t size, size_t *ret_size, char key[PAX_KEY],
		  const char **ret_value, size_t *ret_value_size)
{
	const char *blank = memchr(data, ' ', size < 20 ? size : 20), *equal;
	uint64_t length;
	size_t key_size;

	if (!blank || pax_number(data, (size_t)(blank - data), &length) < 0)
		return -EINVAL;
	if (length > size || length < (size_t)(blank - data) + 3 ||
	    data[length - 1] != '\n')
		return -EINVAL;
	blank++;
	equal = memchr(blank, '=', (size_t)(data + length - blank));
	if (!equal || equal == blank)
		return -EINVAL;
	key_size = (size_t)(equal - blank);
	if (memchr(blank, '\0', key_size))
		return -EINVAL;
	if (key_size >= PAX_KEY)
		key_size = PAX_KEY - 1;
	memcpy(key, blank, key_size);
	key[key_size] = '\0';
	*ret_value = equal + 1;
	*ret_value_size = (size_t)(data + length - 1 - (equal + 1));
	*ret_size = length;
	return 0;
}

int pax_parse(const char *data, size_t size,
	      int (*each)(void *user, const char *key, const char *value, size_t size),
	      void *user)
{
	char key[PAX_KEY];

	while (size > 0) {
		const char *value;
		size_t used, value_size;
		int rc = record(data, size, &used, key, &value, &value_size);

		if (rc == 0)
			rc = each(user, key, value, value_size);
		if (rc < 0)
			return rc;
		data += used;
		size -= used;
	}
	return 0;
}

/* -- sparse files ------------------------------------------------------------------ */

static const char *const sparse_keys[] = {"major",     "minor", "realsize", "size",
					  "numblocks", "map",	"offset",   "numbytes"};
enum { MAJOR, MINOR, REALSIZE, SIZE, NUMBLOCKS, MAP, OFFSET, NUMBYTES, SPARSE_KEYS };

static int add_mapped(struct pax_sparse *sparse, const char *text, size_t size)
{
	uint64_t number;

	if (pax_number(text, size, &number) < 0 || number > INT64_MAX - sparse->mapped)
		return -EINVAL;
	sparse->mapped += number;
	return 0;
}

/* "OFFSET,SIZE,OFFSET,SIZE" */
static int take_map(struct pax_sparse *sparse, const char *value, size_t size)
{
	const char *end = value + size;
	int rc = 0;

	for (int index = 0; value < end && rc == 0; index++) {
		const char *comma = memchr(value, ',', (size_t)(end - value));
		size_t length = (size_t)((comma ? comma : end) - value);
		uint64_t offset;

		rc = index % 2 ? add_mapped(sparse, value, length)
			       : pax_number(value, length, &offset);
		if (index % 2 == 0 && !comma)
			return -EINVAL;
		value += length + (comma ? 1 : 0);
	}
	return rc;
}

int pax_sparse_take(struct pax_sparse *sparse, const char *key, const char *value,
		    size_t size)
{
	uint64_t number;
	int which = 0;

	if (strncmp(key, "GNU.sparse.", 11) != 0)
		return 0;
	while (which < SPARSE_KEYS && strcmp(key + 11, sparse_keys[which]) != 0)
		which++;
	if (which == SPARSE_KEYS)
		return 0;
	/* Version 0.0 says the last two once for every piece. */
	if (sparse->seen & 1U << which && which != OFFSET && which != NUMBYTES)
		return -EINVAL;
	sparse->seen |= 1U << which;
	if (which == MAP)
		return take_map(sparse, value, size);
	if (which == NUMBYTES)
		return add_mapped(sparse, value, size);
	if (pax_number(value, size, &number) < 0)
		return -EINVAL;
	if (which == REALSIZE || which == SIZE)
		sparse->size = number;
	return 0;
}

int pax_sparse_check(const struct pax_sparse *sparse, uint64_t stored)
{
	const unsigned one = 1U << MAJOR | 1U << MINOR | 1U << REALSIZE;
	const unsigned old = 1U << SIZE | 1U << NUMBLOCKS;
	unsigned seen = sparse->seen, map = seen & (1U << MAP | 1U << NUMBYTES);

	/* Version 1.0 has its map in the content. */
	if (seen == 0 || seen == one)
		return 0;
	seen &= ~(1U << MAP | 1U << OFFSET | 1U << NUMBYTES);
	return seen == old && map && sparse->mapped == stored ? 0 : -EINVAL;
}
