/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration files in memory, for tests. */
#ifndef TESTS_UNIT_CLI_CONFIG_FILES_H
#define TESTS_UNIT_CLI_CONFIG_FILES_H

#include "cli/config.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_ETC "/etc/husk/config.json"

static inline void make_file(struct cli_config_file *file, enum cli_config_kind kind,
			     const char *text)
{
	memset(file, 0, sizeof(*file));
	file->kind = kind;
	file->path = kind == CLI_CONFIG_ADMIN ? CONFIG_ETC : "/u.json";
	file->text = strdup(text);
	assert_non_null(file->text);
	file->size = strlen(text);
}

/* Settings with files in memory; user NULL: none. */
static inline void set_up(struct cli_settings *settings, const char *admin,
			  const char *user)
{
	struct cli_config *config = calloc(1, sizeof(*config));
	struct husk_error err = {0};

	assert_non_null(config);
	cli_settings_init(settings);
	settings->config = config;
	make_file(&config->files[CLI_CONFIG_BUILT_IN], CLI_CONFIG_BUILT_IN,
		  cli_config_built_in);
	make_file(&config->files[CLI_CONFIG_ADMIN], CLI_CONFIG_ADMIN, admin);
	make_file(&config->files[CLI_CONFIG_USER], CLI_CONFIG_USER, user);
	for (size_t i = 0; i < CLI_CONFIG_FILES; i++)
		assert_int_equal(cli_config_parse(&config->files[i], &err), 0);
}

static inline const struct cli_verb *verb(const char *name)
{
	const struct cli_verb *found = NULL;
	struct husk_error err = {0};

	assert_int_equal(cli_verb_find(name, &found, &err), 0);
	return found;
}

/* As the command line would. */
static inline int give(struct cli_settings *settings, const char *name, const char *value)
{
	const struct cli_option *option = cli_option_by_name(name, strlen(name));
	struct husk_error err = {0};
	char where[64];
	char *word = NULL;

	assert_non_null(option);
	(void)snprintf(where, sizeof(where), "--%s", name);
	if (value)
		word = cli_keep_text(&settings->kept, value, strlen(value));
	assert_int_equal(
	    cli_config_note(settings, option, word, NULL, where, "command line", &err),
	    0);
	return option->set(option, settings, word, &err);
}

/* What begin does after the files are read, on files in memory. */
static inline void apply_all(struct cli_settings *settings, unsigned bit,
			     const char *profile)
{
	struct husk_error err = {0};
	struct cli_config_place place;
	const json_t *object;

	for (size_t i = 0; i < CLI_CONFIG_FILES; i++) {
		place = (struct cli_config_place){.file = &settings->config->files[i],
						  .keys = {"defaults"},
						  .depth = 1};
		object = json_object_get(place.file->root, "defaults");
		cli_settings_next_layer(settings);
		if (object)
			assert_int_equal(cli_config_apply(settings, bit, &place, object,
							  CLI_CONFIG_DEFAULTS, &err),
					 0);
	}
	cli_settings_next_layer(settings);
	if (profile) {
		assert_int_equal(cli_config_find_profile(settings->config, profile,
							 &place, &object, &err),
				 0);
		assert_int_equal(
		    cli_config_apply(settings, bit, &place, object, "profile", &err), 0);
	}
	cli_settings_next_layer(settings);
}

#endif
