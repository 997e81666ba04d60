/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: a command line. The first byte chooses the command, each line is a word;
 * behind an empty line come those of an environment file.
 *
 * What is taken: words that are left are some of those given, sizes and counts are not
 * zero, mounts have absolute paths, variables a name, each once. What is refused is
 * refused with a place and a reason, which can be printed as they are escaped. Files that
 * options name are not opened by the parser.
 */
#include "tests/fuzz/cursor.h"

#include "cli/arguments.h"
#include "cli/escape.h"
#include "cli/numbers.h"

enum { WORDS = 64 };

struct line {
	char *words[WORDS + 1]; /* as given */
	char *left[WORDS + 1];	/* as parsed */
	size_t count;
};

static void read_words(struct line *line, struct cursor *c)
{
	while (line->count < WORDS && c->size > 0 && *c->data != '\n') {
		char *word = cursor_line(c);

		line->words[line->count] = line->left[line->count] = word;
		line->count++;
	}
	(void)cursor_byte(c);
}

static const struct cli_verb *choose(unsigned byte)
{
	size_t count;
	const struct cli_verb *verbs = cli_verbs(&count);

	return &verbs[byte % count];
}

static bool is_given(const struct line *line, const char *word)
{
	for (size_t i = 0; i < line->count; i++) {
		if (line->words[i] == word)
			return true;
	}
	return false;
}

static void check_mount(const struct husk_mount *mount)
{
	require(mount->source[0] == '/' && mount->target[0] == '/');
	require(!strchr(mount->source, ':') && !strchr(mount->target, ':'));
}

static void check_variables(const char *const *env)
{
	for (size_t i = 0; env && env[i]; i++) {
		const char *end = strchr(env[i], '=');

		require(end != NULL && end > env[i]);
		for (size_t k = 0; k < i; k++)
			require(strncmp(env[k], env[i], (size_t)(end - env[i]) + 1) != 0);
	}
}

static void check_good(const struct line *line, const struct cli_settings *settings,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		require(line->left[i] && is_given(line, line->left[i]));
	if (settings->help) /* behind it nothing is looked at */
		return;
	require(line->left[count] == NULL);
	for (size_t i = 0; i < settings->mount_count; i++)
		check_mount(&settings->mounts[i]);
}

/* Words are shown as they were typed; cli_say escapes them. */
static void check_refusal(int r, const struct husk_error *err)
{
	char text[4 * sizeof(err->message) + 1];

	require(r < 0 && err->code == r);
	require(err->message[0] != '\0'); /* the place may be a word that is empty */
	(void)cli_escape(text, sizeof(text), err->where, strlen(err->where), 0);
	require_printable(text);
	(void)cli_escape(text, sizeof(text), err->message, strlen(err->message), 0);
	require_printable(text);
}

static void use_variables(struct cli_settings *settings, struct cursor *c)
{
	struct husk_error err = {0};
	size_t size = c->size;
	char *text = cursor_rest(c);
	const char *const *env = NULL;
	int r = cli_environment_add_lines(&settings->environment, &settings->kept,
					  "input", text, size, size % 2 == 0, &err);

	if (r < 0)
		check_refusal(r, &err);
	r = cli_environment_merge(&settings->environment, &settings->kept, &env, &err);
	require(r == 0);
	check_variables(env);
	free(text);
}

static void use_numbers(const char *text)
{
	uint64_t value = 0;

	require(cli_number_size(text, &value) < 0 || (value > 0 && value <= INT64_MAX));
	require(cli_number_count(text, 1000, &value) < 0 || (value > 0 && value <= 1000));
	require(cli_number_milli(text, 5000, &value) < 0 || (value > 0 && value <= 5000));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = {data, size};
	const struct cli_verb *verb = choose(cursor_byte(&c));
	struct line line = {0};
	struct cli_settings settings;
	struct husk_error err = {0};
	size_t count = 0;
	int r;

	read_words(&line, &c);
	for (size_t i = 0; i < line.count; i++)
		use_numbers(line.words[i]);
	cli_settings_init(&settings);
	(void)cli_arguments_peek(verb, line.left, "profile");
	r = cli_arguments_parse(verb, &settings, line.left, &count, &err);
	if (r == 0)
		check_good(&line, &settings, count);
	else
		check_refusal(r, &err);
	use_variables(&settings, &c);
	cli_settings_deinit(&settings);
	for (size_t i = 0; i < line.count; i++)
		free(line.words[i]);
	return 0;
}
