/* SPDX-License-Identifier: Apache-2.0 */
/* All layers below the command line, one after the other. */
#include "cli/config.h"

#include <string.h>

static int apply_defaults(const struct cli_verb *verb, struct cli_settings *settings,
			  struct husk_error *err)
{
	int r = 0;

	for (size_t i = 0; i < CLI_CONFIG_FILES && r == 0; i++) {
		struct cli_config_place place = {.file = &settings->config->files[i],
						 .keys = {"defaults"},
						 .depth = 1};
		json_t *defaults = json_object_get(place.file->root, "defaults");

		cli_settings_next_layer(settings);
		if (defaults)
			r = cli_config_apply(settings, verb->bit, &place, defaults,
					     CLI_CONFIG_DEFAULTS, err);
	}
	return r;
}

static int apply_profile(const struct cli_verb *verb, struct cli_settings *settings,
			 const char *name, struct husk_error *err)
{
	struct cli_config_place place;
	const json_t *object;
	int r;

	cli_settings_next_layer(settings);
	r = cli_config_find_profile(settings->config, name, &place, &object, err);
	if (r < 0)
		return r;
	settings->config->profile = name;
	return cli_config_apply(settings, verb->bit, &place, object, "profile", err);
}

static int apply_environment(struct cli_settings *settings, struct husk_error *err)
{
	const struct cli_option *option = cli_option_by_name("image", strlen("image"));
	const char *image = cli_settings_variable("HUSK_IMAGE");

	if (!image)
		return 0;
	settings->box.image = image;
	return cli_config_note(settings, option, image, NULL, "HUSK_IMAGE", "environment",
			       err);
}

/* `husk config show` shows what holds for `husk run`. */
static const struct cli_verb *shown(const struct cli_verb *verb)
{
	const struct cli_verb *run = verb;
	struct husk_error ignored;

	if (verb->bit == CLI_VERB_CONFIG_SHOW && cli_verb_find("run", &run, &ignored) < 0)
		return verb;
	return run;
}

int cli_config_begin(const struct cli_verb *verb, struct cli_settings *settings,
		     const char *profile, struct husk_error *err)
{
	const struct cli_option *option =
	    cli_option_by_name("profile", strlen("profile"));
	unsigned all = option->verbs | CLI_VERB_PULL;
	bool show = verb->bit == CLI_VERB_CONFIG_SHOW;
	int r;

	if (!(verb->bit & all))
		return 0;
	r = cli_config_load(settings, show || profile, err);
	if (r < 0 || !settings->config || verb->bit == CLI_VERB_PULL)
		return r;
	r = apply_defaults(shown(verb), settings, err);
	if (r == 0 && profile)
		r = apply_profile(shown(verb), settings, profile, err);
	if (r == 0)
		r = apply_environment(settings, err);
	cli_settings_next_layer(settings);
	return r;
}
