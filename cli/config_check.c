/* SPDX-License-Identifier: Apache-2.0 */
/* A file as a whole: also what is not asked for now has to be right. */
#include "cli/config.h"

#include "cli/say.h"
#include "cli/suggest.h"

#include <string.h>

/* The settings are only tried on. */
static int check_settings(const struct cli_config_place *place, const json_t *object,
			  struct husk_error *err)
{
	CLEANUP_SETTINGS struct cli_settings settings;

	cli_settings_init(&settings);
	return cli_config_apply(&settings, CLI_VERB_ALL, place, object, "", err);
}

static int check_profiles(const struct cli_config_place *place, const json_t *object,
			  struct husk_error *err)
{
	json_t *profiles = json_is_object(object) ? (json_t *)(uintptr_t)object : NULL;
	struct cli_config_place below;
	const char *name;
	json_t *profile;
	int r;

	if (!profiles)
		return cli_config_refuse(place, err, "must be an object");
	json_object_foreach(profiles, name, profile)
	{
		below = cli_config_below(place, name);
		if (name[0] == '\0')
			return cli_config_refuse(&below, err, "a profile has no name");
		r = check_settings(&below, profile, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static const struct {
	const char *name;
	int (*check)(const struct cli_config_place *place, const json_t *object,
		     struct husk_error *err);
} sections[] = {
    {"ceilings", cli_config_check_ceilings},
    {"defaults", check_settings},
    {"profiles", check_profiles},
    {"registries", cli_config_check_registries},
};

static int check_section(const struct cli_config_place *place, const char *key,
			 const json_t *value, struct husk_error *err)
{
	struct cli_suggestion near = {.input = key};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (strcmp(sections[i].name, key) == 0)
			return sections[i].check(place, value, err);
		cli_suggestion_offer(&near, sections[i].name);
	}
	(void)cli_config_refuse(place, err, "no section has this name");
	if (near.best)
		cli_error_hint(err, "did you mean %s?", near.best);
	else
		cli_error_hint(err, "there are ceilings, defaults, profiles and "
				    "registries");
	return HUSK_E_INVALID;
}

int cli_config_check(const struct cli_config_file *file, struct husk_error *err)
{
	struct cli_config_place place = {.file = file}, below;
	const char *key;
	json_t *value;
	int r;

	if (!json_is_object(file->root))
		return cli_config_refuse(&place, err, "not a JSON object");
	json_object_foreach(file->root, key, value)
	{
		below = cli_config_below(&place, key);
		r = check_section(&below, key, value, err);
		if (r < 0)
			return r;
	}
	return 0;
}
