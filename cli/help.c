/* SPDX-License-Identifier: Apache-2.0 */
/* husk help: everything it says comes from the tables of commands and options. */
#include "cli/options.h"
#include "cli/say.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXT_COLUMN = 30, /* where explanations begin */
	WIDTH = 80
};

/* Words of text from TEXT_COLUMN on, over as many lines as it takes. `at` is the column
 * reached so far. */
static void put_wrapped(FILE *out, int at, const char *text)
{
	if (at > TEXT_COLUMN - 2) {
		(void)fputc('\n', out);
		at = 0;
	}
	(void)fprintf(out, "%*s", TEXT_COLUMN - at, "");
	at = TEXT_COLUMN;
	while (*text) {
		int size = (int)strcspn(text, " ");

		if (at > TEXT_COLUMN && at + 1 + size > WIDTH) {
			(void)fprintf(out, "\n%*s", TEXT_COLUMN, "");
			at = TEXT_COLUMN;
		}
		at += fprintf(out, "%s%.*s", at > TEXT_COLUMN ? " " : "", size, text);
		text += size;
		text += strspn(text, " ");
	}
	(void)fputc('\n', out);
}

static void put_option(FILE *out, const struct cli_option *option, unsigned verb)
{
	const char *standard = cli_option_standard(option, verb);
	char text[512];
	int at;

	if (option->letter != '\0')
		at = fprintf(out, "  -%c, --%s", option->letter, option->name);
	else
		at = fprintf(out, "      --%s", option->name);
	if (option->argument)
		at += fprintf(out, " %s", option->argument);
	(void)snprintf(text, sizeof(text), standard ? "%s (default: %s)" : "%s",
		       option->help, standard);
	put_wrapped(out, at, text);
}

static void put_indented(FILE *out, const char *lines)
{
	while (*lines) {
		int size = (int)strcspn(lines, "\n");

		(void)fprintf(out, "  %.*s\n", size, lines);
		lines += size;
		lines += *lines == '\n';
	}
}

/* prefix: how much of the names is known already. */
static void put_verbs(FILE *out, const struct cli_verb *verbs, size_t count,
		      size_t prefix)
{
	for (size_t i = 0; i < count; i++)
		(void)fprintf(out, "  %-11s%s\n", verbs[i].name + prefix,
			      verbs[i].summary);
}

static void put_verb(FILE *out, const struct cli_verb *verb)
{
	const struct cli_option *options;
	size_t count;

	(void)fprintf(out, "usage: husk %s%s%s\n\n%s.\n\n", verb->name,
		      verb->usage[0] != '\0' ? " " : "", verb->usage, verb->summary);
	if (verb->below) {
		const struct cli_verb *below = verb->below(&count);

		(void)fprintf(out, "commands:\n");
		put_verbs(out, below, count, strlen(verb->name) + 1);
		(void)fputc('\n', out);
	}
	(void)fprintf(out, "options:\n");
	options = cli_options(&count);
	for (size_t i = 0; i < count; i++) {
		if (options[i].verbs & verb->bit)
			put_option(out, &options[i], verb->bit);
	}
	(void)fprintf(out, "\nexit codes:\n");
	put_indented(out, verb->status);
	(void)fprintf(out, "\nexample:\n  %s\n", verb->example);
}

static void put_overview(FILE *out)
{
	const struct cli_verb *verbs;
	size_t count;

	(void)fprintf(
	    out,
	    "usage: husk COMMAND [OPTIONS] [ARG...]\n\n"
	    "Run code that nobody should trust blindly in a fresh kernel sandbox.\n\n"
	    "commands:\n");
	verbs = cli_verbs(&count);
	put_verbs(out, verbs, count, 0);
	(void)fprintf(out, "\n`husk help COMMAND` lists the options of a command.\n");
}

/* The text is made whole before any of it is printed. verb NULL: the overview. */
int cli_help_verb(const struct cli_verb *verb)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int r = CLI_EXIT_CANNOT;

	if (out && verb)
		put_verb(out, verb);
	else if (out)
		put_overview(out);
	if (out && fclose(out) == 0)
		r = cli_print(text, size);
	else
		cli_say("help", "out of memory", NULL);
	free(text);
	return r;
}

int cli_help(struct cli_settings *settings, size_t count, char **words)
{
	const struct cli_verb *verb = NULL;
	struct husk_error err = {0};
	size_t used = count;

	(void)settings;
	if (count > 0 && cli_verb_find_words(words, &verb, &used, &err) < 0)
		return cli_say_usage(&err, verb ? verb->name : NULL);
	if (used < count) {
		(void)cli_error(&err, words[used], "husk %s has no commands of its own",
				verb->name);
		return cli_say_usage(&err, verb->name);
	}
	return cli_help_verb(verb);
}
