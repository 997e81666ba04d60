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
