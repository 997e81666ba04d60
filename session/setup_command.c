/* SPDX-License-Identifier: Apache-2.0 */
#include "session/setup_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 1 << 20 };

/* How people write it, sorted; and what runs: `pip` may be missing where python3 has the
 * module, and a Debian python3 installs to a target of one's own only. */
static const char *const pip_ways[] = {
    "pip install ",
    "pip3 install ",
    "python -m pip install ",
    "python3 -m pip install ",
};
static const char routed[] =
    "python3 -m pip install --target /workspace/.deps --no-cache-dir "
    "--disable-pip-version-check ";

/* Sorted. The same for a pip that a script or the second half of a command calls. */
static const char *const pip_env[] = {
    "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_CACHE_DIR=1",	      "PIP_NO_INPUT=1",
    "PIP_ROOT_USER_ACTION=ignore",     "PIP_TARGET=/workspace/.deps",
};

enum { PIP_ENV = sizeof(pip_env) / sizeof(pip_env[0]) };

static const char *skip_pip(const char *command)
{
	for (size_t i = 0; i < sizeof(pip_ways) / sizeof(pip_ways[0]); i++) {
		size_t size = strlen(pip_ways[i]);

		if (strncmp(command, pip_ways[i], size) == 0)
			return command + size;
	}
	return NULL;
}

/* Take one character of a command into the words. `quote` is the quote that is open, or
 * 0. -EINVAL where the shell does more with it than split words. */
static int split_one(char c, char *quote, bool *in_word, struct buffer *words)
{
	if (*quote && c == *quote) {
		*quote = 0;
		return 0;
	}
	if (!*quote && (c == '\'' || c == '"')) {
		*quote = c;
		*in_word = true;
		return 0;
	}
	if (!*quote && (c == ' ' || c == '\t')) {
		int r = *in_word ? buffer_add(words, "", 1) : 0;

		*in_word = false;
		return r;
	}
	if (*quote == '"' && strchr("$`\\", c))
		return -EINVAL;
	if (!*quote && strchr("$`\\*?[]{}()<>|&;\n\r~#!", c))
		return -EINVAL;
	*in_word = true;
	return buffer_add(words, &c, 1);
}

static int split(const char *command, struct buffer *words)
{
	bool in_word = false;
	char quote = 0;
	int r = 0;

	for (; r == 0 && *command; command++)
		r = split_one(*command, &quote, &in_word, words);
	if (r == 0 && quote)
		r = -EINVAL;
	if (r == 0 && in_word)
		r = buffer_add(words, "", 1);
	return r;
}

int setup_command_init(const char *command, struct setup_command *ret)
{
	const char *trimmed = command + strspn(command, " \t\n");
	const char *rest = skip_pip(trimmed);
	int r = 0;

	*ret = (struct setup_command){.words = BUFFER_INIT(WORDS_MAX)};
	if (!rest) {
		ret->text = strdup(command);
		return ret->text ? 0 : -ENOMEM;
	}
	if (asprintf(&ret->text, "%s%s", routed, rest) < 0) {
		ret->text = NULL;
		return -ENOMEM;
	}
	r = split(rest, &ret->words);
	ret->plain_pip = r == 0;
	return r == -ENOMEM ? r : 0;
}

void setup_command_deinit(struct setup_command *command)
{
	free(command->text);
	command->text = NULL;
	buffer_deinit(&command->words);
}

static bool is_set(char *const *env, const char *variable)
{
	size_t size = strcspn(variable, "=") + 1;

	for (size_t i = 0; env[i]; i++) {
		if (strncmp(env[i], variable, size) == 0)
			return true;
	}
	return false;
}

const char **setup_command_env(char *const *env)
{
	size_t count = 0;
	const char **all;

	while (env[count])
		count++;
	all = calloc(count + PIP_ENV + 1, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, env, count * sizeof(*all));
	for (size_t i = 0; i < PIP_ENV; i++) {
		if (!is_set(env, pip_env[i]))
			all[count++] = pip_env[i];
	}
	return all;
}
