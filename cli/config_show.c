/* SPDX-License-Identifier: Apache-2.0 */
/* husk config show: one JSON value is made, and printed as it is or as a table. */
#include "cli/config.h"

#include "cli/escape.h"
#include "cli/json_memory.h"
#include "cli/json_text.h"
#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *text(const char *value)
{
	return value ? cli_json_text(value, strlen(value)) : json_null();
}

/* -- the value ---------------------------------------------------------------------- */

static json_t *row(const char *name, const char *value, const char *layer,
		   const char *where, const char *key)
{
	json_t *object = json_object();

	(void)json_object_set_new(object, "name", text(name));
	(void)json_object_set_new(object, "value", text(value));
	(void)json_object_set_new(object, "from", text(layer));
	(void)json_object_set_new(object, "where", text(where));
	(void)json_object_set_new(object, "key", text(key));
	return object;
}

/* An option has as many rows as values, and none where nothing is to be said. */
static void add_option(json_t *rows, const struct cli_config *config,
		       const struct cli_option *option)
{
	const char *standard = cli_option_standard(option, CLI_VERB_RUN);
	bool found = false;

	for (size_t i = 0; i < config->note_count; i++) {
		const struct cli_config_note *note = &config->notes[i];

		if (note->option != option || cli_config_overridden(config, i))
			continue;
		found = true;
		(void)json_array_append_new(
		    rows,
		    row(option->name, note->value, note->layer, note->where, note->key));
	}
	if (!found && standard)
		(void)json_array_append_new(
		    rows, row(option->name, standard, "built-in", NULL, NULL));
}

static json_t *options_json(const struct cli_config *config)
{
	json_t *rows = json_array();
	const struct cli_option *options;
	size_t count;

	options = cli_options(&count);
	for (size_t i = 0; i < count; i++) {
		if (cli_config_takes(&options[i]))
			add_option(rows, config, &options[i]);
	}
	return rows;
}

static json_t *files_json(const struct cli_config *config)
{
	json_t *rows = json_array();

	for (size_t i = CLI_CONFIG_ADMIN; i < CLI_CONFIG_FILES; i++) {
		const struct cli_config_file *file = &config->files[i];
		json_t *object = json_object();

		if (!file->path) {
			json_decref(object);
			continue;
		}
		(void)json_object_set_new(object, "path", text(file->path));
		(void)json_object_set_new(object, "present",
					  json_boolean(file->text != NULL));
		(void)json_array_append_new(rows, object);
	}
	return rows;
}

/* The entries of a section by name, those of the user's file in the place of others. */
static json_t *named_json(const struct cli_config *config, const char *section)
{
	json_t *all = json_object(), *entry;
	const char *name;

	for (size_t i = 0; i < CLI_CONFIG_FILES; i++) {
		const struct cli_config_file *file = &config->files[i];

		json_object_foreach(json_object_get(file->root, section), name, entry)
		{
			struct cli_config_place place = {
			    .file = file, .keys = {section, name}, .depth = 2};
			json_t *object = json_object();
			char where[256];

			cli_config_where(&place, where, sizeof(where));
			(void)json_object_set_new(
			    object, "where",
			    text(i == CLI_CONFIG_BUILT_IN ? "built-in" : where));
			(void)json_object_set(object, "value", entry);
			(void)json_object_set_new(all, name, object);
		}
	}
	return all;
}

static json_t *ceilings_json(const struct cli_config *config)
{
	struct cli_config_place place, below;
	json_t *all = json_object(), *value;
	const char *name;
	char where[256];

	json_object_foreach((json_t *)(uintptr_t)cli_config_ceilings(config, &place),
			    name, value)
	{
		json_t *object = json_object();

		below = cli_config_below(&place, name);
		cli_config_where(&below, where, sizeof(where));
		(void)json_object_set_new(object, "where", text(where));
		(void)json_object_set(object, "value", value);
		(void)json_object_set_new(all, name, object);
	}
	return all;
}

static json_t *show_json(const struct cli_config *config)
{
	json_t *all = json_object();

	(void)json_object_set_new(all, "files", files_json(config));
	(void)json_object_set_new(all, "profile", text(config->profile));
	(void)json_object_set_new(all, "options", options_json(config));
	(void)json_object_set_new(all, "ceilings", ceilings_json(config));
	(void)json_object_set_new(all, "profiles", named_json(config, "profiles"));
	(void)json_object_set_new(all, "registries", named_json(config, "registries"));
	return all;
}

/* -- the table ---------------------------------------------------------------------- */

/* Padded, and fit for a terminal. */
static void put(FILE *out, int width, const char *value)
{
	size_t size = strlen(value);
	char *printed = malloc(4 * size + 1);

	if (!printed)
		return;
	(void)cli_escape(printed, 4 * size + 1, value, size, CLI_ESCAPE_EXACT);
	(void)fprintf(out, "%-*s", width, printed);
	free(printed);
}

static const char *member(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static void put_options(FILE *out, const json_t *rows)
{
	const json_t *option;
	size_t i;

	(void)fprintf(out, "%-14s %-24s %s\n", "OPTION", "VALUE", "FROM");
	json_array_foreach(rows, i, option)
	{
		const char *where = member(option, "where");

		put(out, 15, member(option, "name"));
		put(out, 24, member(option, "value"));
		put(out, 0, " ");
		put(out, 0, member(option, "from"));
		put(out, 0, where[0] != '\0' ? ", " : "");
		put(out, 0, where);
		(void)fputc('\n', out);
	}
}

static void put_named(FILE *out, const char *title, const json_t *all)
{
	const char *name;
	json_t *entry;

	if (json_object_size(all) == 0)
		return;
	(void)fprintf(out, "\n%-14s %-24s %s\n", title, "VALUE", "FROM");
	json_object_foreach((json_t *)(uintptr_t)all, name, entry)
	{
		char *value =
		    cli_json_dump(json_object_get(entry, "value"), JSON_ENCODE_ANY);

		put(out, 14, name);
		put(out, 0, " ");
		put(out, 24, value ? value : "");
		put(out, 0, " ");
		put(out, 0, member(entry, "where"));
		(void)fputc('\n', out);
		free(value);
	}
}

static void put_files(FILE *out, const json_t *rows)
{
	const json_t *file;
	size_t i;

	json_array_foreach(rows, i, file)
	{
		put(out, 0, member(file, "path"));
		(void)fprintf(out, " %s\n",
			      json_is_true(json_object_get(file, "present"))
				  ? "(read)"
				  : "(not there)");
	}
	(void)fputc('\n', out);
}

static void put_all(FILE *out, const json_t *all)
{
	put_files(out, json_object_get(all, "files"));
	put_options(out, json_object_get(all, "options"));
	put_named(out, "CEILING", json_object_get(all, "ceilings"));
	put_named(out, "PROFILE", json_object_get(all, "profiles"));
	put_named(out, "REGISTRY", json_object_get(all, "registries"));
}

static char *as_text(const json_t *all, bool json)
{
	char *printed = NULL;
	size_t size = 0;
	bool whole;
	FILE *out;

	if (json)
		return cli_json_dump(all, JSON_INDENT(2));
	out = open_memstream(&printed, &size);
	if (!out)
		return NULL;
	put_all(out, all);
	whole = !ferror(out) && !cli_json_lost();
	if (fclose(out) == 0 && whole)
		return printed;
	free(printed);
	return NULL;
}

int cli_config_show(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0}, passed = {0};
	const struct cli_verb *run = NULL;
	char *printed;
	size_t size;
	json_t *all;
	int r, held;

	(void)count;
	(void)words;
	held = cli_verb_find("run", &run, &passed);
	if (held == 0)
		held = cli_config_hold(run, settings, &passed);
	all = show_json(settings->config);
	printed = as_text(all, settings->json != 0);
	json_decref(all);
	if (!printed) {
		(void)cli_error_memory(&err, "config show");
		return cli_say_error(&err);
	}
	size = strlen(printed);
	if (settings->json)
		printed[size++] = '\n'; /* in the place of the NUL */
	r = cli_print(printed, size);
	free(printed);
	/* What `husk run` would say to these settings. */
	return held < 0 && r == CLI_EXIT_OK ? cli_say_error(&passed) : r;
}
