/* SPDX-License-Identifier: Apache-2.0 */
/* The administrator's ceilings. Each is held as a weight: more is looser, and the weight
 * of a setting may not pass that of the ceiling. */
#include "cli/config.h"

#include "cli/say.h"
#include "cli/suggest.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static const char IMAGES[] = "images";

struct rule {
	const char *name; /* of the option; sorted */
	uint64_t (*weigh)(const struct cli_option *option,
			  const struct cli_settings *settings);
	/* The words that a ceiling may be, strictest first; NULL: what the option takes.
	 */
	const char *const *words;
};

static const void *at(const struct cli_option *option,
		      const struct cli_settings *settings)
{
	return (const char *)settings + option->at;
}

/* HUSK_UNLIMITED is the largest. */
static uint64_t weigh_number(const struct cli_option *option,
			     const struct cli_settings *settings)
{
	return *(const uint64_t *)at(option, settings);
}

/* Of choices whose first word is the strictest, and of flags. */
static uint64_t weigh_choice(const struct cli_option *option,
			     const struct cli_settings *settings)
{
	return (uint64_t) * (const int32_t *)at(option, settings);
}

/* Nobody knows what a profile of one's own allows. */
static uint64_t weigh_seccomp(const struct cli_option *option,
			      const struct cli_settings *settings)
{
	const char *seccomp = settings->box.seccomp;

	(void)option;
	if (!seccomp || strcmp(seccomp, "default") == 0)
		return 1;
	return strcmp(seccomp, "strict") == 0 ? 0 : 2;
}

static uint64_t weigh_mounts(const struct cli_option *option,
			     const struct cli_settings *settings)
{
	uint64_t weight = 0;

	(void)option;
	for (size_t i = 0; i < settings->mount_count; i++) {
		uint64_t own = settings->mounts[i].flags & HUSK_MOUNT_ALLOW_WRITE ? 2 : 1;

		weight = own > weight ? own : weight;
	}
	return weight;
}

static const char *const seccomp_words[] = {"strict", "default", NULL};
static const char *const volume_words[] = {"none", "ro", NULL};

static const struct rule rules[] = {
    {"cpus", weigh_number, NULL},
    {"limits", weigh_choice, NULL},
    {"max-output", weigh_number, NULL},
    {"memory", weigh_number, NULL},
    {"network", weigh_choice, NULL},
    {"pids", weigh_number, NULL},
    {"seccomp", weigh_seccomp, seccomp_words},
    {"timeout", weigh_number, NULL},
    {"tmp-size", weigh_number, NULL},
    {"volume", weigh_mounts, volume_words},
    {"writable-root", weigh_choice, NULL},
};

enum { RULES = sizeof(rules) / sizeof(rules[0]) };

static const struct cli_option *option_of(const struct rule *rule)
{
	return cli_option_by_name(rule->name, strlen(rule->name));
}

/* -- what a ceiling is -------------------------------------------------------------- */

/* A word of the rule's own list, or what the option's setter makes of it. */
static int limit(const struct rule *rule, const struct cli_config_place *place,
		 const json_t *value, uint64_t *ret_weight, struct husk_error *err)
{
	CLEANUP_SETTINGS struct cli_settings settings;
	const struct cli_option *option = option_of(rule);
	struct husk_error why = {0};
	char *word;
	int r;

	cli_settings_init(&settings);
	*ret_weight = 0;
	if (!option->argument)
		return json_is_false(value)
			   ? 0
			   : cli_config_refuse(place, err, "can only be false");
	r = cli_config_word(&settings, place, value, &word, err);
	if (r < 0)
		return r;
	if (rule->words) {
		for (uint64_t i = 0; rule->words[i]; i++) {
			if (strcmp(rule->words[i], word) == 0) {
				*ret_weight = i;
				return 0;
			}
		}
		return cli_config_refuse(place, err, "%s: neither %s nor %s", word,
					 rule->words[0], rule->words[1]);
	}
	if (option->set(option, &settings, word, &why) < 0)
		return cli_config_refuse(place, err, "%s", why.message);
	*ret_weight = rule->weigh(option, &settings);
	if (*ret_weight == HUSK_UNLIMITED)
		return cli_config_refuse(place, err, "%s: that is no ceiling", word);
	return 0;
}

static int check_images(const struct cli_config_place *place, const json_t *list,
			struct husk_error *err)
{
	const json_t *pattern;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) == 0)
		return cli_config_refuse(place, err, "must be a list of patterns");
	json_array_foreach(list, i, pattern)
	{
		if (!json_is_string(pattern) || json_string_length(pattern) == 0)
			return cli_config_refuse(place, err,
						 "must be a list of patterns");
	}
	return 0;
}

static int check_rule(const struct cli_config_place *place, const char *key,
		      const json_t *value, struct husk_error *err)
{
	struct cli_suggestion near = {.input = key};
	uint64_t weight;

	if (strcmp(key, IMAGES) == 0)
		return check_images(place, value, err);
	for (size_t i = 0; i < RULES; i++) {
		if (strcmp(rules[i].name, key) == 0)
			return limit(&rules[i], place, value, &weight, err);
		cli_suggestion_offer(&near, rules[i].name);
	}
	cli_suggestion_offer(&near, IMAGES);
	(void)cli_config_refuse(place, err, "no ceiling has this name");
	if (near.best)
		cli_error_hint(err, "did you mean %s?", near.best);
	return HUSK_E_INVALID;
}

int cli_config_check_ceilings(const struct cli_config_place *place, const json_t *object,
			      struct husk_error *err)
{
	json_t *ceilings = json_is_object(object) ? (json_t *)(uintptr_t)object : NULL;
	struct cli_config_place below;
	const char *key;
	json_t *value;
	int r;

	if (place->file->kind == CLI_CONFIG_USER) {
		(void)cli_config_refuse(place, err,
					"only the administrator's file may "
					"set ceilings");
		cli_error_hint(err, "put them into /etc/husk/config.json");
		return HUSK_E_INVALID;
	}
	if (!ceilings)
		return cli_config_refuse(place, err, "must be an object");
	json_object_foreach(ceilings, key, value)
	{
		below = cli_config_below(place, key);
		r = check_rule(&below, key, value, err);
		if (r < 0)
			return r;
	}
	return 0;
}

const json_t *cli_config_ceilings(const struct cli_config *config,
				  struct cli_config_place *ret_place)
{
	const struct cli_config_file *file = &config->files[CLI_CONFIG_ADMIN];

	*ret_place =
	    (struct cli_config_place){.file = file, .keys = {"ceilings"}, .depth = 1};
	return json_object_get(file->root, "ceilings");
}

/* -- holding settings against them -------------------------------------------------- */

/* `what` passes the ceiling at place: said where the value was given. */
static int passed(const struct cli_config_note *note, const char *name, const char *what,
		  const struct cli_config_place *place, const char *limit_text,
		  struct husk_error *err)
{
	char where[sizeof(err->where)];

	cli_config_where(place, where, sizeof(where));
	(void)cli_error(err, note ? note->where : "--image",
			"%s%s%.200s: not within the ceiling of %.100s (ceilings.%s in "
			"%s)",
			note && note->key ? note->key : "", note && note->key ? ": " : "",
			what, limit_text, name, where);
	cli_error_hint(err, "the administrator of this host has set it");
	return HUSK_E_INVALID;
}

/* What holds where nobody has said anything. */
static int weigh_standard(const struct rule *rule, const struct cli_verb *verb,
			  const struct cli_settings *given, uint64_t *ret_weight,
			  struct husk_error *err)
{
	CLEANUP_SETTINGS struct cli_settings settings;
	const struct cli_option *option = option_of(rule);
	const char *standard = cli_option_standard(option, verb->bit);
	char *word;
	int r = 0;

	cli_settings_init(&settings);
	if (!standard) {
		*ret_weight = rule->weigh(option, given);
		return 0;
	}
	word = cli_keep_text(&settings.kept, standard, strlen(standard));
	r = word ? option->set(option, &settings, word, err)
		 : cli_error_memory(err, "configuration");
	*ret_weight = rule->weigh(option, &settings);
	return r;
}

static int lower(const struct rule *rule, struct cli_settings *settings,
		 const struct cli_config_place *place, const json_t *value,
		 struct husk_error *err)
{
	const struct cli_option *option = option_of(rule);
	char *word;
	int r = cli_config_word(settings, place, value, &word, err);

	if (r == 0)
		r = option->set(option, settings, word, err);
	if (r == 0)
		r = cli_config_note(settings, option, word, place, NULL, "ceiling", err);
	return r;
}

/* The note that a refusal is about: of volumes, one that may be written to where there is
 * one. */
static const struct cli_config_note *blamed(const struct cli_config *config,
					    const struct cli_option *option)
{
	const struct cli_config_note *note = cli_config_noted(config, option);

	for (size_t i = 0; i < config->note_count && cli_option_repeats(option); i++) {
		const char *value = config->notes[i].value;
		size_t size = value ? strlen(value) : 0;

		if (config->notes[i].option == option &&
		    !cli_config_overridden(config, i) &&
		    (size < 3 || strcmp(value + size - 3, ":ro") != 0))
			note = &config->notes[i];
	}
	return note;
}

static int hold(const struct rule *rule, const struct cli_verb *verb,
		struct cli_settings *settings, const struct cli_config_place *place,
		const json_t *value, struct husk_error *err)
{
	const struct cli_option *option = option_of(rule);
	const struct cli_config_note *note = cli_config_noted(settings->config, option);
	const char *text = json_string_value(value);
	uint64_t most, weight;
	char *word = NULL;
	int r;

	if (!(option->verbs & verb->bit))
		return 0;
	r = limit(rule, place, value, &most, err);
	if (r < 0)
		return r;
	if (!note) {
		r = weigh_standard(rule, verb, settings, &weight, err);
		return r < 0 || weight <= most ? r
					       : lower(rule, settings, place, value, err);
	}
	if (rule->weigh(option, settings) <= most)
		return 0;
	if (!text && !json_is_boolean(value) &&
	    cli_config_word(settings, place, value, &word, err) == 0)
		text = word;
	note = blamed(settings->config, option);
	return passed(note, rule->name, note->value ? note->value : "given", place,
		      text ? text : "false", err);
}

/* A path that climbs could leave the directory that a pattern names. */
bool cli_config_image_allowed(const json_t *patterns, const char *reference)
{
	const json_t *pattern;
	size_t i;

	json_array_foreach(patterns, i, pattern)
	{
		const char *text = json_string_value(pattern);

		if (strcmp(text, reference) == 0)
			return true;
		if (!strstr(reference, "..") && fnmatch(text, reference, 0) == 0)
			return true;
	}
	return false;
}

static int hold_image(struct cli_settings *settings, const struct cli_config_place *place,
		      const json_t *patterns, struct husk_error *err)
{
	const struct cli_option *option = cli_option_by_name("image", strlen("image"));
	const struct cli_config_note *note = cli_config_noted(settings->config, option);
	const char *image = cli_settings_image(settings);
	char list[200] = "";

	image = image ? image : "host";
	if (cli_config_image_allowed(patterns, image))
		return 0;
	for (size_t i = 0; i < json_array_size(patterns); i++) {
		size_t used = strlen(list);

		(void)snprintf(list + used, sizeof(list) - used, "%s%s",
			       i > 0 ? ", " : "",
			       json_string_value(json_array_get(patterns, i)));
	}
	return passed(note, IMAGES, image, place, list, err);
}

int cli_config_hold(const struct cli_verb *verb, struct cli_settings *settings,
		    struct husk_error *err)
{
	const struct cli_option *image = cli_option_by_name("image", strlen("image"));
	struct cli_config_place place, below;
	const json_t *ceilings, *value;
	int r = 0;

	ceilings =
	    settings->config ? cli_config_ceilings(settings->config, &place) : NULL;
	if (!ceilings)
		return 0;
	for (size_t i = 0; i < RULES && r == 0; i++) {
		value = json_object_get(ceilings, rules[i].name);
		below = cli_config_below(&place, rules[i].name);
		if (value)
			r = hold(&rules[i], verb, settings, &below, value, err);
	}
	value = json_object_get(ceilings, IMAGES);
	below = cli_config_below(&place, IMAGES);
	if (r == 0 && value && image->verbs & verb->bit)
		r = hold_image(settings, &below, value, err);
	return r;
}
