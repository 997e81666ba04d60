/* SPDX-License-Identifier: Apache-2.0 */
/* The husk command: a client of the library's public headers. main() finds the command in
 * its table (cli/verbs.c), reads the options by theirs (cli/options.c), and calls it. */
#include "cli/arguments.h"
#include "cli/config.h"
#include "cli/json_memory.h"
#include "cli/say.h"
#include "cli/settings.h"
#include "cli/verbs.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A process may be started without descriptors 0 to 2. The next file to be opened would
 * then become "stdout", so they are filled up first. */
static int fill_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		int got = fd;

		/* The lowest free number is this one; it has to survive no exec. */
		if (fcntl(fd, F_GETFD) < 0)
			got = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (got != fd)
			return -1;
	}
	return 0;
}

/* `husk -h` and the like; NULL where word is no such option. */
static const char *verb_of_option(const char *word)
{
	static const struct {
		const char *option, *verb;
	} aliases[] = {{"--help", "help"}, {"--version", "version"}, {"-h", "help"}};

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (strcmp(aliases[i].option, word) == 0)
			return aliases[i].verb;
	}
	return NULL;
}

static int find_verb(char *const *words, const struct cli_verb **ret_verb,
		     size_t *ret_used, struct husk_error *err)
{
	const char *alias, *word = words[0];

	if (!word)
		return cli_error(err, "usage", "no command is given");
	alias = verb_of_option(word);
	if (!alias && word[0] == '-')
		return cli_error(err, word, "options follow the command: husk COMMAND %s",
				 word);
	if (!alias)
		return cli_verb_find_words(words, ret_verb, ret_used, err);
	*ret_used = 1;
	return cli_verb_find(alias, ret_verb, err);
}

static int run_verb(const struct cli_verb *verb, char **words)
{
	CLEANUP_SETTINGS struct cli_settings settings;
	struct husk_error err = {0}, config_err = {0};
	size_t count = 0;
	int config;

	cli_settings_init(&settings);
	config = cli_config_begin(
	    verb, &settings, cli_arguments_peek(verb, words, "profile"), &config_err);
	if (cli_arguments_parse(verb, &settings, words, &count, &err) < 0)
		return cli_say_usage(&err, verb->name);
	if (settings.help)
		return cli_help_verb(verb);
	if (config < 0)
		return cli_say_error(&config_err);
	if (cli_config_hold(verb, &settings, &err) < 0)
		return cli_say_error(&err);
	return verb->run(&settings, count, words);
}

int main(int argc, char **argv)
{
	const struct cli_verb *verb = NULL;
	struct husk_error err = {0};
	size_t used = 0;

	if (fill_standard_fds() < 0)
		return CLI_EXIT_CANNOT;
	cli_json_watch();
	/* A reader that has gone is seen as EPIPE, where one can still clean up. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc > 0)
		argv++;
	if (find_verb(argv, &verb, &used, &err) < 0)
		return cli_say_usage(&err, verb ? verb->name : NULL);
	return run_verb(verb, argv + used);
}
