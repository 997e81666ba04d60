/* SPDX-License-Identifier: Apache-2.0 */
/* What was set by which layer. */
#include "cli/config.h"

#include "cli/say.h"

#include <string.h>

static struct cli_config_note *add(struct cli_settings *settings)
{
	struct cli_config *config = settings->config;
	struct cli_config_note *notes = config->notes;

	if (config->note_count == config->note_capacity) {
		size_t capacity =
		    config->note_capacity > 0 ? config->note_capacity * 2 : 16;

		notes = cli_keep_new(&settings->kept, capacity * sizeof(*notes));
		if (!notes)
			return NULL;
		if (config->note_count > 0)
			memcpy(notes, config->notes, config->note_count * sizeof(*notes));
		config->notes = notes;
		config->note_capacity = capacity;
	}
	return &notes[config->note_count++];
}

static const char *keep(struct cli_settings *settings, const char *text)
{
	return cli_keep_text(&settings->kept, text, strlen(text));
}

int cli_config_note(struct cli_settings *settings, const struct cli_option *option,
		    const char *value, const struct cli_config_place *place,
		    const char *where, const char *layer, struct husk_error *err)
{
	struct cli_config_note *note;
	char text[512], key[320];

	if (!settings->config)
		return 0;
	note = add(settings);
	if (!note)
		return cli_error_memory(err, "configuration");
	if (place) {
		cli_config_where(place, text, sizeof(text));
		cli_config_key(place, key, sizeof(key));
		note->key = keep(settings, key);
		where = text;
	}
	note->where = keep(settings, where);
	note->value = value ? keep(settings, value) : NULL;
	note->layer = layer;
	if (!note->where || (place && !note->key) || (value && !note->value))
		return cli_error_memory(err, "configuration");
	note->option = option;
	return 0;
}

const struct cli_config_note *cli_config_noted(const struct cli_config *config,
					       const struct cli_option *option)
{
	for (size_t i = config->note_count; i-- > 0;) {
		if (config->notes[i].option == option)
			return &config->notes[i];
	}
	return NULL;
}

/* The part of a value by which a later one replaces it: a variable's name, a mount's
 * target. */
static const char *identity(const struct cli_config_note *note, size_t *ret_size)
{
	const char *value = note->value ? note->value : "";

	if (strcmp(note->option->name, "volume") == 0) {
		value += strcspn(value, ":");
		value += *value == ':';
		*ret_size = strcspn(value, ":");
	} else {
		*ret_size =
		    strcspn(value, strcmp(note->option->name, "env") == 0 ? "=" : "");
	}
	return value;
}

bool cli_config_overridden(const struct cli_config *config, size_t index)
{
	const struct cli_config_note *note = &config->notes[index], *later;
	size_t size, later_size;
	const char *own = identity(note, &size), *other;

	for (size_t i = index + 1; i < config->note_count; i++) {
		later = &config->notes[i];
		if (later->option != note->option)
			continue;
		if (!cli_option_repeats(note->option))
			return true;
		other = identity(later, &later_size);
		if (size == later_size && memcmp(own, other, size) == 0)
			return true;
	}
	return false;
}

void cli_config_forget(struct cli_config *config, const struct cli_option *option)
{
	for (size_t i = 0; config && i < config->note_count; i++) {
		if (config->notes[i].option == option)
			config->notes[i].option = NULL;
	}
}
