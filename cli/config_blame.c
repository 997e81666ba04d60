/* SPDX-License-Identifier: Apache-2.0 */
/* Whose value it is that the library has refused. */
#include "cli/config.h"

#include "cli/escape.h"

#include <stdio.h>
#include <string.h>

void cli_config_name_place(struct husk_error *err, const char *where, const char *what)
{
	char raw[2 * sizeof(err->message) + 256], text[sizeof(err->message)];
	bool mount = strncmp(err->where, "mount ", 6) == 0;

	(void)snprintf(raw, sizeof(raw), "%.200s: %s%s%s", what, mount ? err->where : "",
		       mount ? ": " : "", err->message);
	(void)cli_escape(text, sizeof(text), raw, strlen(raw), 0);
	(void)snprintf(err->message, sizeof(err->message), "%s", text);
	(void)cli_escape(text, sizeof(err->where), where, strlen(where), 0);
	(void)snprintf(err->where, sizeof(err->where), "%.*s",
		       (int)sizeof(err->where) - 1, text);
}

/* The library calls a setting by its name or by its value, a mount by its source or
 * target, and what is refused of a workspace by the part of its path that is. */
static bool is_about(const struct husk_error *err, const struct cli_config_note *note)
{
	char part[1024];
	size_t size;

	if (strcmp(err->where, note->option->name) == 0 ||
	    (note->value && strcmp(err->where, note->value) == 0))
		return true;
	if (note->value && strcmp(note->option->name, "workspace") == 0)
		return strncmp(err->where, "mount of ", 9) == 0 &&
		       strncmp(note->value, err->where + 9, strlen(err->where + 9)) == 0;
	if (!note->value || strcmp(note->option->name, "volume") != 0 ||
	    strncmp(err->where, "mount ", 6) != 0)
		return false;
	size = strcspn(note->value, ":");
	(void)snprintf(part, sizeof(part), "%.*s", (int)size, note->value);
	if (part[0] == '/' && (strstr(err->where, part) || strstr(err->message, part)))
		return true;
	size = note->value[size] == ':' ? strcspn(note->value + size + 1, ":") : 0;
	(void)snprintf(part, sizeof(part), "mount target %.*s", (int)size,
		       strchr(note->value, ':') ? strchr(note->value, ':') + 1 : "");
	return strcmp(err->where, part) == 0;
}

void cli_config_blame(const struct cli_settings *settings, struct husk_error *err)
{
	const struct cli_config *config = settings->config;
	const char *image = cli_settings_variable("HUSK_IMAGE");

	for (size_t i = 0; config && i < config->note_count; i++) {
		const struct cli_config_note *note = &config->notes[i];

		if (!note->option || !note->key || cli_config_overridden(config, i) ||
		    !is_about(err, note))
			continue;
		cli_config_name_place(err, note->where, note->key);
		return;
	}
	if (image && settings->box.image == image &&
	    (strcmp(err->where, "image") == 0 || strcmp(err->where, image) == 0))
		cli_config_name_place(err, "HUSK_IMAGE", image);
}
