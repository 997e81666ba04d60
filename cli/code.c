/* SPDX-License-Identifier: Apache-2.0 */
/* husk code */
#include "cli/box.h"
#include "cli/input.h"
#include "cli/language.h"
#include "cli/reach.h"
#include "cli/say.h"
#include "cli/verbs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As much as the library takes. */
enum { CODE_MAX = 256 << 20 };

/* Where the code comes from: -c, FILE or - has to be there, and one of them only. */
static int check_source(const struct cli_settings *settings, size_t count, char **words,
			struct husk_error *err)
{
	if (settings->code && count > 0)
		return cli_error(err, words[0], "there is -c already");
	if (settings->code)
		return 0;
	if (count == 0) {
		(void)cli_error(err, "usage", "no code is given");
		cli_error_hint(err, "give -c CODE, a file, or - for stdin");
		return HUSK_E_INVALID;
	}
	if (strcmp(words[0], "-") == 0 && settings->stdin_open)
		return cli_error(
		    err, "-i", "stdin holds the code and cannot be the box's stdin too");
	return 0;
}

static int run_code(struct cli_settings *settings, const char *code, size_t size)
{
	const struct cli_language *language = settings->language;
	const char *argv[] = {language->program, language->flag, code, NULL};
	struct cli_box box = {.verb = "code",
			      .argv = argv,
			      .language = language->name,
			      .code = code,
			      .size = size};

	return cli_box_run(settings, &box);
}

int cli_code(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};
	const char *const *places = NULL;
	const char *path = NULL;
	char *code = NULL;
	size_t size;
	int r;

	if (check_source(settings, count, words, &err) < 0)
		return cli_say_usage(&err, "code");
	if (settings->code) {
		if (!settings->language)
			(void)cli_language_guess(NULL, "", 0, &settings->language, &err);
		return run_code(settings, settings->code, strlen(settings->code));
	}
	if (strcmp(words[0], "-") != 0)
		path = words[0];
	if (cli_reach_places(settings, &places, &err) < 0 ||
	    cli_input_read("code", path, places, CODE_MAX, &code, &size, NULL, &err) <
		0) {
		if (path && access(path, F_OK) < 0)
			cli_error_hint(&err,
				       "give the path of a file, or the code itself "
				       "after -c: husk code -c CODE");
		return cli_say_error(&err);
	}
	r = settings->language
		? 0
		: cli_language_guess(path, code, size, &settings->language, &err);
	r = r < 0 ? cli_say_usage(&err, "code") : run_code(settings, code, size);
	free(code);
	return r;
}
