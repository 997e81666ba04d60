/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/language.h"

#include "cli/say.h"
#include "cli/suggest.h"

#include <stdbool.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct cli_language languages[] = {
    {"bash", "bash", "-c"},
    {"node", "node", "-e"},
    {"python", "python3", "-c"},
};

/* A name and the language that it stands for. */
struct mark {
	const char *name;
	const char *language;
};

static const struct mark endings[] = {
    {".bash", "bash"}, {".cjs", "node"},  {".js", "node"},
    {".mjs", "node"},  {".py", "python"}, {".sh", "bash"},
};

static const struct mark interpreters[] = {
    {"bash", "bash"},	{"dash", "bash"},    {"node", "node"},
    {"nodejs", "node"}, {"pypy3", "python"}, {"sh", "bash"},
};

static const struct cli_language *by_name(const char *name)
{
	for (size_t i = 0; i < COUNT(languages); i++) {
		if (strcmp(languages[i].name, name) == 0)
			return &languages[i];
	}
	return NULL;
}

int cli_language_find(const char *name, const struct cli_language **ret_language,
		      struct husk_error *err)
{
	struct cli_suggestion near = {.input = name};

	*ret_language = by_name(name);
	if (*ret_language)
		return 0;
	for (size_t i = 0; i < COUNT(languages); i++)
		cli_suggestion_offer(&near, languages[i].name);
	(void)cli_error(err, "--language", "%s: not a language: python, bash or node",
			name);
	if (near.best)
		cli_error_hint(err, "did you mean %s?", near.best);
	return HUSK_E_INVALID;
}

static const struct cli_language *by_ending(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < COUNT(endings); i++) {
		if (strcmp(endings[i].name, dot) == 0)
			return by_name(endings[i].language);
	}
	return NULL;
}

/* The next word of a line that is cut up, or NULL at its end. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t\r");
	size_t size = strcspn(word, " \t\r");

	if (size == 0)
		return NULL;
	*rest = word + size;
	if (**rest != '\0')
		*(*rest)++ = '\0';
	return word;
}

/* The program that a #! line runs, without its directory: behind env, the first word that
 * is neither an option nor an assignment. NULL where there is none. */
static char *interpreter(char *line)
{
	char *word = next_word(&line);
	char *slash = word ? strrchr(word, '/') : NULL;

	if (slash)
		word = slash + 1;
	if (!word || strcmp(word, "env") != 0)
		return word;
	do
		word = next_word(&line);
	while (word && (word[0] == '-' || strchr(word, '=')));
	slash = word ? strrchr(word, '/') : NULL;
	return slash ? slash + 1 : word;
}

/* Of python every version counts: python, python3, python3.12. */
static const struct cli_language *by_interpreter(const char *name)
{
	for (size_t i = 0; i < COUNT(interpreters); i++) {
		if (strcmp(interpreters[i].name, name) == 0)
			return by_name(interpreters[i].language);
	}
	if (strncmp(name, "python", 6) == 0 &&
	    name[6 + strspn(name + 6, "0123456789.")] == '\0')
		return by_name("python");
	return NULL;
}

/* The #! line without its mark; false where there is none. */
static bool first_line(const char *code, size_t size, char *line, size_t capacity)
{
	size_t length;

	if (size >= 3 && memcmp(code, "\xef\xbb\xbf", 3) == 0) {
		code += 3;
		size -= 3;
	}
	if (size < 2 || memcmp(code, "#!", 2) != 0)
		return false;
	code += 2;
	size -= 2;
	length = size < capacity - 1 ? size : capacity - 1;
	memcpy(line, code, length);
	line[length] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return true;
}

int cli_language_guess(const char *path, const char *code, size_t size,
		       const struct cli_language **ret_language, struct husk_error *err)
{
	const struct cli_language *found = path ? by_ending(path) : NULL;
	char line[256]; /* as much of a #! line as the kernel looks at */
	const char *name;

	if (!found && first_line(code, size, line, sizeof(line))) {
		name = interpreter(line);
		found = name ? by_interpreter(name) : NULL;
		if (!found) {
			(void)cli_error(
			    err, path ? path : "stdin",
			    "its first line names %s, not python, bash or node",
			    name ? name : "nothing");
			cli_error_hint(err, "give the language with --language");
			return HUSK_E_INVALID;
		}
	}
	*ret_language = found ? found : by_name("python");
	return 0;
}
