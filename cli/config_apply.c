/* SPDX-License-Identifier: Apache-2.0 */
/* One layer: the options of an object, through the setters of the option table. */
#include "cli/config.h"

#include "cli/escape.h"
#include "cli/say.h"
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

/* What goes along with every option of a layer. */
struct layer {
	struct cli_settings *settings;
	const char *name;
	struct husk_error *err;
};

bool cli_config_takes(const struct cli_option *option)
{
	return (option->verbs & CLI_OPTION_IN_FILES) != 0;
}

static bool is_named(const struct cli_option *option, const char *name)
{
	return strcmp(option->name, name) == 0;
}

static int unknown(const struct cli_config_place *place, const char *key,
		   const struct cli_option *elsewhere, struct husk_error *err)
{
	struct cli_suggestion near = {.input = key};
	const struct cli_option *options;
	size_t count;

	if (elsewhere)
		return cli_config_refuse(place, err,
					 "can stand on the command line only");
	options = cli_options(&count);
	for (size_t i = 0; i < count; i++) {
		if (cli_config_takes(&options[i]))
			cli_suggestion_offer(&near, options[i].name);
	}
	(void)cli_config_refuse(place, err, "no setting has this name");
	if (near.best)
		cli_error_hint(err, "did you mean %s?", near.best);
	return HUSK_E_INVALID;
}

/* A file is read from wherever husk is started, and must not mean another one there. */
static int check_path(const struct cli_config_place *place,
		      const struct cli_option *option, const char *word,
		      struct husk_error *err)
{
	bool is_word = is_named(option, "seccomp") &&
		       (strcmp(word, "default") == 0 || strcmp(word, "strict") == 0);

	if (is_word || word[0] == '/' ||
	    !(is_named(option, "seccomp") || is_named(option, "env-file")))
		return 0;
	return cli_config_refuse(place, err, "%s: must be an absolute path here", word);
}

/* One word through the option's setter; its refusal with this place's name. */
static int set(const struct layer *layer, const struct cli_config_place *place,
	       const struct cli_option *option, char *word)
{
	struct cli_settings *settings = layer->settings;
	struct husk_error err = {0};
	char hint[sizeof(err.hint)];
	int r;

	if (check_path(place, option, word, layer->err) < 0)
		return HUSK_E_INVALID;
	r = cli_config_note(settings, option, word, place, NULL, layer->name, layer->err);
	if (r < 0)
		return r;
	r = option->set(option, settings, word, &err);
	if (r == 0)
		return 0;
	(void)cli_config_refuse(place, layer->err, "%s", err.message);
	layer->err->code = err.code;
	(void)cli_escape(hint, sizeof(hint), err.hint, strlen(err.hint), 0);
	cli_error_hint(layer->err, "%s", hint);
	return r;
}

static int set_flag(const struct layer *layer, const struct cli_config_place *place,
		    const struct cli_option *option, const json_t *value)
{
	bool on = json_is_true(value);

	if (!json_is_boolean(value))
		return cli_config_refuse(place, layer->err, "must be true or false");
	cli_option_clear(option, layer->settings);
	if (on && option->set(option, layer->settings, NULL, layer->err) < 0)
		return layer->err->code;
	return cli_config_note(layer->settings, option, on ? "true" : "false", place,
			       NULL, layer->name, layer->err);
}

/* An empty list takes back what the layers below have given. */
static void clear(const struct layer *layer, const struct cli_option *option)
{
	static const char *const both[] = {"env", "env-file"};

	cli_option_clear(option, layer->settings);
	cli_config_forget(layer->settings->config, option);
	for (size_t i = 0; i < 2 && strncmp(option->name, "env", 3) == 0; i++)
		cli_config_forget(layer->settings->config,
				  cli_option_by_name(both[i], strlen(both[i])));
}

static int set_list(const struct layer *layer, const struct cli_config_place *place,
		    const struct cli_option *option, const json_t *list)
{
	const json_t *item;
	char *word;
	size_t i;
	int r;

	json_array_foreach(list, i, item)
	{
		if (!json_is_string(item))
			return cli_config_refuse(place, layer->err,
						 "must be a list of strings");
		r = cli_config_word(layer->settings, place, item, &word, layer->err);
		if (r == 0)
			r = set(layer, place, option, word);
		if (r < 0)
			return r;
	}
	return 0;
}

/* {"NAME": "VALUE"} as NAME=VALUE. */
static int set_variables(const struct layer *layer, const struct cli_config_place *place,
			 const struct cli_option *option, json_t *object)
{
	struct cli_config_place below;
	const char *name, *text;
	json_t *value;
	size_t size;
	char *word;
	int r;

	json_object_foreach(object, name, value)
	{
		below = *place;
		if (name[0] == '\0' || strchr(name, '='))
			return cli_config_refuse(&below, layer->err,
						 "%s: no name of a variable",
						 name[0] == '\0' ? "(empty)" : name);
		text = json_string_value(value);
		if (!text)
			return cli_config_refuse(&below, layer->err,
						 "%s: must be a string", name);
		size = strlen(name) + strlen(text) + 2;
		word = cli_keep_new(&layer->settings->kept, size);
		if (!word)
			return cli_error_memory(layer->err, "configuration");
		(void)snprintf(word, size, "%s=%s", name, text);
		r = set(layer, &below, option, word);
		if (r < 0)
			return r;
	}
	return 0;
}

static int apply_option(const struct layer *layer, const struct cli_config_place *place,
			const struct cli_option *option, json_t *value)
{
	bool repeats = cli_option_repeats(option);
	char *word;
	int r;

	if (!option->argument)
		return set_flag(layer, place, option, value);
	if (repeats && (json_is_array(value) || json_is_object(value)) &&
	    json_array_size(value) + json_object_size(value) == 0)
		clear(layer, option);
	if (repeats && json_is_array(value))
		return set_list(layer, place, option, value);
	if (is_named(option, "env") && json_is_object(value))
		return set_variables(layer, place, option, value);
	if (repeats && !json_is_string(value))
		return cli_config_refuse(place, layer->err,
					 is_named(option, "env")
					     ? "must be an object or a list of strings"
					     : "must be a list of strings");
	r = cli_config_word(layer->settings, place, value, &word, layer->err);
	return r < 0 ? r : set(layer, place, option, word);
}

/* An installation needs a network and a shell hours: what is the default for boxes in
 * general is not meant for commands that have a default of their own. */
static bool has_own_default(const struct cli_option *option, unsigned verb,
			    const char *layer)
{
	return strcmp(layer, CLI_CONFIG_DEFAULTS) == 0 &&
	       cli_option_standard(option, verb) != option->standard;
}

int cli_config_apply(struct cli_settings *settings, unsigned verbs,
		     const struct cli_config_place *place, const json_t *object,
		     const char *layer, struct husk_error *err)
{
	struct layer all = {settings, layer, err};
	json_t *value;
	const char *key;
	void *at;

	if (!json_is_object(object))
		return cli_config_refuse(place, err, "must be an object");
	for (at = json_object_iter((json_t *)(uintptr_t)object); at;
	     at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
		const struct cli_option *option;
		struct cli_config_place below;
		int r = 0;

		key = json_object_iter_key(at);
		value = json_object_iter_value(at);
		below = cli_config_below(place, key);
		option = cli_option_by_name(key, strlen(key));
		if (!option || !cli_config_takes(option))
			return unknown(&below, key, option, err);
		if (option->verbs & verbs && !has_own_default(option, verbs, layer))
			r = apply_option(&all, &below, option, value);
		if (r < 0)
			return r;
	}
	return 0;
}
