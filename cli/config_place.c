/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/config.h"

#include "cli/escape.h"
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct cli_config_place cli_config_below(const struct cli_config_place *place,
					 const char *key)
{
	struct cli_config_place below = *place;

	if (below.depth < CLI_CONFIG_KEYS)
		below.keys[below.depth++] = key;
	return below;
}

void cli_config_key(const struct cli_config_place *place, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < place->depth && used < size; i++) {
		int n = snprintf(text + used, size - used, "%s%.100s", i > 0 ? "." : "",
				 place->keys[i]);

		used += n > 0 ? (size_t)n : 0;
	}
}

void cli_config_where(const struct cli_config_place *place, char *text, size_t size)
{
	const struct cli_config_file *file = place->file;
	unsigned line =
	    cli_config_line(file->text, file->size, place->keys, place->depth);
	const char *path = file->path;
	size_t length = strlen(path);
	bool cut = length + 16 > size;
	char number[16] = "";

	if (cut)
		path += length + 16 + 3 - size;
	if (line > 0)
		(void)snprintf(number, sizeof(number), ":%u", line);
	(void)snprintf(text, size, "%s%s%s", cut ? "..." : "", path, number);
}

int cli_config_refuse(const struct cli_config_place *place, struct husk_error *err,
		      const char *fmt, ...)
{
	char where[sizeof(err->where)], key[320], why[640], raw[1024];
	char text[sizeof(err->message)];
	va_list ap;

	cli_config_where(place, raw, sizeof(where));
	(void)cli_escape(where, sizeof(where), raw, strlen(raw), 0);
	cli_config_key(place, key, sizeof(key));
	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	(void)snprintf(raw, sizeof(raw), "%s%s%s", key, key[0] != '\0' ? ": " : "", why);
	(void)cli_escape(text, sizeof(text), raw, strlen(raw), 0);
	return cli_error(err, where, "%s", text);
}
