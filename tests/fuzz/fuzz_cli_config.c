/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a configuration file. The first byte chooses whose it is.
 * What is accepted can be applied to a box, held against its own ceilings, and has a line
 * for each of its keys. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "cli/config.h"

static const struct cli_verb *run_verb(void)
{
	const struct cli_verb *verb = NULL;

	require(cli_verb_find("run", &verb, NULL) == 0);
	return verb;
}

static void check_lines(const struct cli_config_file *file)
{
	json_t *section;
	const char *keys[2];

	json_object_foreach(file->root, keys[0], section)
	{
		json_t *below;

		require(cli_config_line(file->text, file->size, keys, 1) > 0);
		json_object_foreach(section, keys[1], below)
		{
			require(cli_config_line(file->text, file->size, keys, 2) > 0);
		}
	}
}

static void apply(struct cli_settings *settings, const struct cli_config_file *file)
{
	struct cli_config_place place = {.file = file, .keys = {"defaults"}, .depth = 1};
	const json_t *defaults = json_object_get(file->root, "defaults");
	struct husk_error err = {0};
	int rc = 0;

	cli_settings_next_layer(settings);
	if (defaults)
		require(cli_config_apply(settings, CLI_VERB_ALL, &place, defaults,
					 "profile", &err) == 0);
	cli_settings_next_layer(settings);
	rc = cli_config_hold(run_verb(), settings, &err);
	if (rc < 0)
		require(rc == err.code);
	require(cli_config_registry(settings, "registry.example/a", &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct cli_config_file file = {.path = "input", .kind = CLI_CONFIG_USER};
	struct cli_settings settings;
	struct husk_error err = {0};
	int rc;

	/* Any line of any bytes: it only has to end. */
	(void)cli_config_line(text, size, (const char *const[]){"a", "b"}, 2);
	if (size > 0 && data[0] == ' ')
		file.kind = CLI_CONFIG_ADMIN;
	file.text = malloc(size + 1);
	require(file.text != NULL);
	memcpy(file.text, text, size);
	file.text[size] = '\0';
	file.size = size;
	cli_settings_init(&settings);
	rc = cli_config_parse(&file, &err);
	if (rc == 0) {
		check_lines(&file);
		settings.config = calloc(1, sizeof(*settings.config));
		require(settings.config != NULL);
		settings.config->files[file.kind] = file;
		apply(&settings, &settings.config->files[file.kind]);
	} else {
		require_refusal(rc, &err);
		free(file.text);
		json_decref(file.root);
	}
	cli_settings_deinit(&settings);
	return 0;
}
