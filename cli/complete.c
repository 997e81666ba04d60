/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/complete.h"

#include "cli/config.h"
#include "cli/options.h"
#include "cli/running.h"
#include "cli/verbs.h"

#include <husk/image.h>

#include <stdbool.h>
#include <string.h>

/* A command line that is being typed. */
struct line {
	struct cli_settings *settings;
	const struct cli_verb *verb;   /* NULL: it is being typed */
	const char *typed;	       /* the last word */
	const struct cli_option *open; /* the option whose value is being typed */
	size_t place;	 /* how many words besides options stand before the last */
	bool only_words; /* options are over */
	FILE *out;
};

static void offer(const struct line *line, const char *word, const char *about)
{
	if (strncmp(word, line->typed, strlen(line->typed)) != 0)
		return;
	if (about)
		(void)fprintf(line->out, "%s\t%s\n", word, about);
	else
		(void)fprintf(line->out, "%s\n", word);
}

/* -- what is known of this machine -------------------------------------------------- */

static void offer_images(const struct line *line)
{
	struct husk_error err = {0};
	husk_images *images = NULL;

	if (cli_settings_finish(line->settings, &err) < 0 ||
	    husk_image_list(&line->settings->images, &images, &err) < 0)
		return;
	for (size_t i = 0; i < husk_images_count(images); i++)
		offer(line, husk_image_name(husk_images_get(images, i)), NULL);
	(void)husk_images_free(images);
}

static void offer_references(const struct line *line)
{
	offer(line, "host", "the host's own programs");
	offer(line, "dir:", "a directory that holds a root file system");
	offer(line, "oci:", "an OCI layout");
	offer(line, "oci-archive:", "an OCI layout in a tar");
	offer(line, "docker-archive:", "what docker save writes");
	offer_images(line);
}

/* A file that is wrong has no profiles to offer. */
static void offer_profiles(const struct line *line)
{
	struct husk_error err;
	const char *name;
	json_t *ignored;

	if (cli_config_load(line->settings, true, &err) < 0)
		return;
	for (size_t i = 0; i < CLI_CONFIG_FILES; i++) {
		const struct cli_config_file *file = &line->settings->config->files[i];

		json_object_foreach(json_object_get(file->root, "profiles"), name,
				    ignored)
		{
			offer(line, name,
			      i == CLI_CONFIG_BUILT_IN ? "built in" : file->path);
		}
	}
}

static void offer_running(const struct line *line)
{
	json_t *list = cli_running_list(), *row;
	size_t i;

	json_array_foreach(list, i, row)
	{
		offer(line, json_string_value(json_object_get(row, "name")),
		      json_string_value(json_object_get(row, "command")));
	}
	json_decref(list);
}

/* -- commands and options ----------------------------------------------------------- */

/* The commands of a table; those of a second level without the first. */
static void offer_verbs(const struct line *line, const struct cli_verb *verbs,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *space = strchr(verbs[i].name, ' ');

		offer(line, space ? space + 1 : verbs[i].name, verbs[i].summary);
	}
}

static void offer_first_verbs(const struct line *line)
{
	size_t count;
	const struct cli_verb *verbs = cli_verbs(&count);

	offer_verbs(line, verbs, count);
}

static void offer_options(const struct line *line)
{
	size_t count;
	const struct cli_option *options = cli_options(&count);
	char text[64];

	for (size_t i = 0; i < count; i++) {
		if (!(options[i].verbs & line->verb->bit))
			continue;
		(void)snprintf(text, sizeof(text), "--%s", options[i].name);
		offer(line, text, options[i].help);
		if (options[i].letter == '\0')
			continue;
		(void)snprintf(text, sizeof(text), "-%c", options[i].letter);
		offer(line, text, options[i].help);
	}
}

static void offer_value(const struct line *line)
{
	const struct cli_option *option = line->open;
	const char *argument = option->argument;

	for (size_t i = 0; option->words && option->words[i]; i++)
		offer(line, option->words[i], NULL);
	if (option->words)
		return;
	if (strcmp(argument, "REF") == 0)
		offer_references(line);
	else if (strcmp(argument, "DIR") == 0)
		(void)fputs(":dirs\n", line->out);
	else if (strstr(argument, "FILE") || strncmp(argument, "SRC", 3) == 0)
		(void)fputs(":files\n", line->out);
	if (strcmp(option->name, "seccomp") == 0) {
		offer(line, "default", "a denylist");
		offer(line, "strict", "an allowlist");
	}
	if (strcmp(option->name, "profile") == 0)
		offer_profiles(line);
	if (strcmp(option->name, "language") == 0) {
		offer(line, "python", NULL);
		offer(line, "bash", NULL);
		offer(line, "node", NULL);
	}
}

static void offer_shells(const struct line *line)
{
	offer(line, "bash", NULL);
	offer(line, "fish", NULL);
	offer(line, "zsh", NULL);
}

static void offer_nothing(const struct line *line)
{
	(void)line;
}

static void offer_files(const struct line *line)
{
	(void)fputs(":files\n", line->out);
}

static void offer_commands(const struct line *line)
{
	(void)fputs(line->place == 0 ? ":commands\n" : ":files\n", line->out);
}

static void offer_export(const struct line *line)
{
	if (line->place == 0)
		offer_images(line);
	else
		offer_files(line);
}

/* What is not in a row takes no words. */
static const struct {
	const char *verb;
	void (*offer)(const struct line *line);
} places[] = {
    {"code", offer_files},	   {"completion", offer_shells},
    {"help", offer_first_verbs},   {"image export", offer_export},
    {"image import", offer_files}, {"image inspect", offer_images},
    {"image rm", offer_images},	   {"pull", offer_nothing},
    {"run", offer_commands},	   {"setup", offer_nothing},
    {"stop", offer_running},
};

static void offer_words(const struct line *line)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (strcmp(places[i].verb, line->verb->name) == 0)
			places[i].offer(line);
	}
}

/* -- what was typed ----------------------------------------------------------------- */

static const struct cli_verb *find(const struct cli_verb *verbs, size_t count,
				   const char *word)
{
	for (size_t i = 0; i < count; i++) {
		const char *space = strchr(verbs[i].name, ' ');

		if (strcmp(space ? space + 1 : verbs[i].name, word) == 0)
			return &verbs[i];
	}
	return NULL;
}

/* One whole word after the command. */
static void pass(struct line *line, const char *word)
{
	const struct cli_option *option = NULL;

	if (line->open) {
		line->open = NULL;
		return;
	}
	if (line->only_words || word[0] != '-' || word[1] == '\0') {
		line->place++;
		line->only_words = line->only_words || line->verb->program;
		return;
	}
	if (strcmp(word, "--") == 0) {
		line->only_words = true;
		return;
	}
	if (word[1] == '-')
		option = cli_option_by_name(word + 2, strlen(word + 2));
	else
		option = cli_option_by_letter(word[strlen(word) - 1]);
	if (option && option->argument && option->verbs & line->verb->bit)
		line->open = option;
}

/* "--image=ho" is a value that is typed, and is offered with its beginning in shells that
 * take it for one word. */
static bool offer_joined(struct line *line)
{
	const char *equals = strchr(line->typed, '=');

	if (strncmp(line->typed, "--", 2) != 0 || !equals)
		return false;
	line->open =
	    cli_option_by_name(line->typed + 2, (size_t)(equals - line->typed - 2));
	line->typed = equals + 1;
	if (line->open && (line->open->argument || line->open->words))
		offer_value(line);
	return true;
}

static void offer_next(struct line *line)
{
	if (line->open)
		offer_value(line);
	else if (!line->only_words && line->typed[0] == '-' && offer_joined(line))
		return;
	else if (!line->only_words && line->typed[0] == '-')
		offer_options(line);
	else
		offer_words(line);
}

void cli_complete(struct cli_settings *settings, size_t count, char **words, FILE *out)
{
	struct line line = {.settings = settings, .typed = "", .out = out};
	size_t verb_count, at = 0;
	const struct cli_verb *verbs = cli_verbs(&verb_count);

	if (count > 0)
		line.typed = words[count - 1];
	while (at + 1 < count) {
		line.verb = find(verbs, verb_count, words[at++]);
		if (!line.verb)
			return;
		if (!line.verb->below)
			break;
		verbs = line.verb->below(&verb_count);
	}
	if (line.verb && line.verb->below && line.typed[0] == '-') {
		offer_options(&line);
		return;
	}
	if (!line.verb || line.verb->below) {
		offer_verbs(&line, verbs, verb_count);
		return;
	}
	for (; at + 1 < count; at++) {
		/* bash takes = for a word of its own. */
		if (strcmp(words[at], "=") != 0)
			pass(&line, words[at]);
	}
	if (line.open && strcmp(line.typed, "=") == 0)
		line.typed = "";
	offer_next(&line);
}
