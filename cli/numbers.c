/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/numbers.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char DIGITS[] = "0123456789";

/* value * 10 + digit for each of count digits; -ERANGE past max. */
static int add_digits(const char *digits, size_t count, uint64_t max, uint64_t *value)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t digit = (uint64_t)(digits[i] - '0');

		if (digit > max || *value > (max - digit) / 10)
			return -ERANGE;
		*value = *value * 10 + digit;
	}
	return 0;
}

int cli_number_count(const char *text, uint64_t max, uint64_t *ret)
{
	size_t count = strspn(text, DIGITS);
	uint64_t value = 0;
	int r;

	if (count == 0 || text[count] != '\0')
		return -EINVAL;
	r = add_digits(text, count, max, &value);
	if (r < 0)
		return r;
	if (value == 0)
		return -ERANGE;
	*ret = value;
	return 0;
}

/* The power of two of a size's last letter, 0 for none; -EINVAL for anything else. */
static int size_shift(const char *suffix)
{
	static const struct {
		char small, large;
		int shift;
	} units[] = {{'g', 'G', 30}, {'k', 'K', 10}, {'m', 'M', 20}};

	if (suffix[0] == '\0')
		return 0;
	if (suffix[1] != '\0')
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (suffix[0] == units[i].small || suffix[0] == units[i].large)
			return units[i].shift;
	}
	return -EINVAL;
}

int cli_number_size(const char *text, uint64_t *ret_bytes)
{
	size_t count = strspn(text, DIGITS);
	uint64_t value = 0;
	int shift, r;

	shift = size_shift(text + count);
	if (count == 0 || shift < 0)
		return -EINVAL;
	r = add_digits(text, count, (uint64_t)INT64_MAX >> shift, &value);
	if (r < 0)
		return r;
	if (value == 0)
		return -ERANGE;
	*ret_bytes = value << shift;
	return 0;
}

int cli_number_milli(const char *text, uint64_t max, uint64_t *ret)
{
	size_t whole = strspn(text, DIGITS), fraction = 0;
	const char *rest = text + whole;
	uint64_t value = 0;
	char milli[] = "000";
	int r;

	if (*rest == '.') {
		fraction = strspn(++rest, DIGITS);
		if (fraction == 0)
			return -EINVAL;
	}
	if (whole + fraction == 0 || rest[fraction] != '\0')
		return -EINVAL;
	memcpy(milli, rest, fraction < 3 ? fraction : 3);
	r = add_digits(text, whole, max / 1000, &value);
	if (r == 0)
		r = add_digits(milli, 3, max, &value);
	if (r < 0)
		return r;
	if (value == 0)
		return -ERANGE;
	*ret = value;
	return 0;
}
