/* SPDX-License-Identifier: Apache-2.0 */
/* Values of JSON as words of the command line. */
#include "cli/config.h"

#include "cli/say.h"

#include <stdio.h>
#include <string.h>

/* Larger numbers than any setting can have. */
static const double NUMBER_MAX = 1e18;

int cli_config_word(struct cli_settings *settings, const struct cli_config_place *place,
		    const json_t *value, char **ret_word, struct husk_error *err)
{
	char number[64];
	const char *text = number;
	size_t size;

	if (json_is_string(value))
		text = json_string_value(value);
	else if (json_is_integer(value))
		(void)snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
			       json_integer_value(value));
	else if (json_is_real(value) && json_real_value(value) < NUMBER_MAX &&
		 json_real_value(value) > -NUMBER_MAX)
		/* No option is finer than thousandths. */
		(void)snprintf(number, sizeof(number), "%.3f", json_real_value(value));
	else
		return cli_config_refuse(place, err, "must be a string or a number");
	size = strlen(text);
	*ret_word = cli_keep_text(&settings->kept, text, size);
	return *ret_word ? 0 : cli_error_memory(err, "configuration");
}
