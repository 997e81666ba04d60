/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/arguments.h"

#include "cli/config.h"
#include "cli/foreign.h"
#include "cli/options.h"
#include "cli/say.h"
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

/* Where the reading stands. */
struct reader {
	const struct cli_verb *verb;
	struct cli_settings *settings;
	char **next; /* the word after the one being read; ends with NULL */
	struct husk_error *err;
	/* To look at the words without touching anything: the option that is looked for,
	 * and where its value goes. */
	const char *wanted;
	const char **found;
};

/* `typed` (a whole word or a part of one) is no option of this command. */
static int unknown(const struct reader *reader, const char *typed, const char *name,
		   const struct cli_option *elsewhere)
{
	struct cli_suggestion near = {.input = name};
	const struct cli_option *options;
	size_t count;

	if (elsewhere)
		return cli_error(reader->err, typed, "not an option of husk %s",
				 reader->verb->name);
	options = cli_options(&count);
	for (size_t i = 0; i < count; i++) {
		if (options[i].verbs & reader->verb->bit)
			cli_suggestion_offer(&near, options[i].name);
	}
	(void)cli_error(reader->err, typed, "husk has no such option");
	if (cli_foreign_option(typed) && reader->verb->program)
		cli_error_hint(reader->err, "%s", cli_foreign_option(typed));
	else if (near.best)
		cli_error_hint(reader->err, "did you mean --%s?", near.best);
	return HUSK_E_INVALID;
}

/* Store an option. typed: as the user wrote it; attached: a value in the same word, or
 * NULL: then the next word is the value. */
static int apply(struct reader *reader, const struct cli_option *option,
		 const char *typed, char *attached)
{
	if (option->argument && !attached) {
		attached = *reader->next;
		if (!attached) {
			(void)cli_error(reader->err, typed, "needs a value: %s",
					option->argument);
			return HUSK_E_INVALID;
		}
		reader->next++;
	}
	if (reader->wanted) {
		if (strcmp(option->name, reader->wanted) == 0)
			*reader->found = attached;
		return 0;
	}
	if (cli_config_note(reader->settings, option, attached, NULL, typed,
			    "command line", reader->err) < 0)
		return reader->err->code;
	return option->set(option, reader->settings, attached, reader->err);
}

/* --name, --name=VALUE */
static int read_long(struct reader *reader, char *word)
{
	char *name = word + 2;
	size_t size = strcspn(name, "=");
	char *value = name[size] == '=' ? name + size + 1 : NULL;
	const struct cli_option *option = cli_option_by_name(name, size);
	char typed[sizeof(reader->err->where)];
	int length = size < sizeof(typed) - 3 ? (int)size : (int)sizeof(typed) - 3;

	(void)snprintf(typed, sizeof(typed), "--%.*s", length, name);
	if (!option || !(option->verbs & reader->verb->bit))
		return unknown(reader, typed, typed + 2, option);
	if (value && !option->argument && !option->words)
		return cli_error(reader->err, typed, "takes no value");
	return apply(reader, option, typed, value);
}

/* -x, -xVALUE, and flags in a bundle: -xy is -x -y */
static int read_short(struct reader *reader, char *word)
{
	for (char *at = word + 1; *at != '\0' && !reader->settings->help; at++) {
		const struct cli_option *option = cli_option_by_letter(*at);
		char typed[] = {'-', *at, '\0'};
		char *value = at[1] != '\0' ? at + 1 : NULL;
		int r;

		/* Of -json, the whole word says more than its first letter. */
		if (!option || !(option->verbs & reader->verb->bit))
			return unknown(reader, at == word + 1 ? word : typed, word + 1,
				       option);
		if (!option->argument)
			value = NULL;
		else if (value && *value == '=')
			value++;
		r = apply(reader, option, typed, value);
		if (r < 0 || option->argument)
			return r;
	}
	return 0;
}

/* All words; those that are no options are counted in *ret_count and moved to the front,
 * which is always behind the reader. */
static int read_words(struct reader *reader, size_t *ret_count)
{
	char **argv = reader->next;
	size_t count = 0;
	bool ended = false;

	while (*reader->next && !reader->settings->help) {
		char *word = *reader->next++;
		int r = 0;

		if (ended || word[0] != '-' || word[1] == '\0') {
			if (!reader->wanted)
				argv[count] = word;
			count++;
			ended = ended || reader->verb->program;
		} else if (strcmp(word, "--") == 0) {
			ended = true;
		} else {
			r = word[1] == '-' ? read_long(reader, word)
					   : read_short(reader, word);
		}
		if (r < 0)
			return r;
	}
	*ret_count = count;
	return 0;
}

int cli_arguments_parse(const struct cli_verb *verb, struct cli_settings *settings,
			char **argv, size_t *ret_count, struct husk_error *err)
{
	struct reader reader = {verb, settings, argv, err, NULL, NULL};
	size_t count;
	int r = read_words(&reader, &count);

	if (r < 0)
		return r;
	argv[count] = NULL;
	if (count > verb->max_words && !settings->help)
		return cli_error(err, argv[verb->max_words], "husk %s takes %s",
				 verb->name,
				 verb->max_words == 2	? "two arguments"
				 : verb->max_words == 0 ? "no arguments"
							: "one argument");
	*ret_count = count;
	return 0;
}

const char *cli_arguments_peek(const struct cli_verb *verb, char **argv, const char *name)
{
	struct cli_settings nothing = {0};
	struct husk_error err;
	const char *value = NULL;
	struct reader reader = {verb, &nothing, argv, &err, name, &value};
	size_t count;

	(void)read_words(&reader, &count);
	return value;
}
