/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/environment.h"

#include "cli/input.h"
#include "cli/say.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ranks of a layer lie above those of the layers below, and of one layer those of -e
 * above those of every line of every file. */
static const size_t LAYER = SIZE_MAX / 16;
static const size_t GIVEN = SIZE_MAX / 32;

static int append(struct cli_environment *environment, struct cli_keep **kept,
		  const char *text, size_t base, struct husk_error *err)
{
	struct cli_variable *variables = environment->variables;

	if (environment->count == environment->capacity) {
		size_t capacity =
		    environment->capacity > 0 ? environment->capacity * 2 : 16;

		variables = cli_keep_new(kept, capacity * sizeof(*variables));
		if (!variables)
			return cli_error_memory(err, "environment");
		if (environment->count > 0)
			memcpy(variables, environment->variables,
			       environment->count * sizeof(*variables));
		environment->variables = variables;
		environment->capacity = capacity;
	}
	variables[environment->count].text = text;
	variables[environment->count].rank =
	    environment->layer * LAYER + base + environment->count;
	environment->count++;
	return 0;
}

/* The caller's own "NAME=VALUE", or NULL. */
static const char *callers(const char *name, size_t size)
{
	for (char **entry = environ; entry && *entry; entry++) {
		if (strncmp(*entry, name, size) == 0 && (*entry)[size] == '=')
			return *entry;
	}
	return NULL;
}

/* Copy a variable of the caller; there may be none. */
static int append_callers(struct cli_environment *environment, struct cli_keep **kept,
			  const char *name, size_t base, struct husk_error *err)
{
	const char *entry = callers(name, strlen(name));

	return entry ? append(environment, kept, entry, base, err) : 0;
}

int cli_environment_add(struct cli_environment *environment, struct cli_keep **kept,
			char *text, struct husk_error *err)
{
	char *value = strchr(text, '='), *copy;

	if (text[0] == '\0' || value == text) {
		(void)cli_error(err, "--env", "there is no name");
		cli_error_hint(err,
			       "write NAME=VALUE, or NAME to copy a variable of yours");
		return HUSK_E_INVALID;
	}
	if (!value)
		return append_callers(environment, kept, text, GIVEN, err);
	copy = cli_keep_text(kept, text, strlen(text));
	if (!copy)
		return cli_error_memory(err, "--env");
	memset(value + 1, '*', strlen(value + 1));
	return append(environment, kept, copy, GIVEN, err);
}

int cli_environment_add_standard(struct cli_environment *environment,
				 struct cli_keep **kept, const char *name,
				 struct husk_error *err)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < environment->count; i++) {
		const char *text = environment->variables[i].text;

		if (strncmp(text, name, size) == 0 && text[size] == '=')
			return 0;
	}
	return append_callers(environment, kept, name, 0, err);
}

/* A box that may write the file could ask for any of the caller's secrets by its name. */
static const char copies[] = "a name without a value asks for a variable of yours, and a "
			     "box may have written it here";

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

/* One line without its line feed. What is wrong with it is said without quoting it: it
 * may hold a secret. */
static int add_line(struct cli_environment *environment, struct cli_keep **kept,
		    char *line, bool foreign, const char **ret_problem,
		    struct husk_error *err)
{
	size_t size = strlen(line), name;

	if (size > 0 && line[size - 1] == '\r')
		line[--size] = '\0';
	while (is_blank(*line)) {
		line++;
		size--;
	}
	if (size == 0 || *line == '#')
		return 0;
	name = strcspn(line, "=");
	if (line[name] == '\0') {
		while (is_blank(line[size - 1]))
			line[--size] = '\0';
		name = size;
	}
	for (size_t i = 0; i < name; i++) {
		if (is_blank(line[i]))
			*ret_problem = "the name has a blank in it";
	}
	if (name == 0)
		*ret_problem = "there is no name before the =";
	else if (foreign && line[name] == '\0')
		*ret_problem = copies;
	if (*ret_problem)
		return 0;
	if (line[name] == '\0')
		return append_callers(environment, kept, line, 0, err);
	return append(environment, kept, line, 0, err);
}

int cli_environment_add_lines(struct cli_environment *environment, struct cli_keep **kept,
			      const char *name, char *text, size_t size, bool foreign,
			      struct husk_error *err)
{
	char *end = text + size;
	size_t number = 0;

	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	while (text < end) {
		char *line = text, *stop = memchr(text, '\n', (size_t)(end - text));
		const char *problem = NULL;
		int r = 0;

		number++;
		if (!stop)
			stop = end;
		*stop = '\0';
		text = stop + 1;
		if (strlen(line) != (size_t)(stop - line))
			problem = "there is a NUL byte";
		else
			r = add_line(environment, kept, line, foreign, &problem, err);
		if (r < 0)
			return r;
		if (!problem)
			continue;
		(void)cli_error(err, "--env-file", "%s: line %zu: %s", name, number,
				problem);
		if (problem == copies)
			cli_error_hint(err,
				       "give it with -e NAME, or keep the file out of "
				       "the workspace and of the volumes that a box can "
				       "write to");
		return HUSK_E_INVALID;
	}
	return 0;
}

int cli_environment_add_file(struct cli_environment *environment, struct cli_keep **kept,
			     const char *path, const char *where, const char *key,
			     struct husk_error *err)
{
	struct cli_environment_file **end = &environment->files;
	struct cli_environment_file *file = cli_keep_new(kept, sizeof(*file));

	if (!file)
		return cli_error_memory(err, "--env-file");
	*file = (struct cli_environment_file){NULL, path, environment->layer, where, key};
	while (*end)
		end = &(*end)->next;
	*end = file;
	return 0;
}

static int read_file(struct cli_environment *environment, struct cli_keep **kept,
		     const char *path, const char *const *places, struct husk_error *err)
{
	char *text, *copy;
	bool foreign;
	size_t size;

	if (cli_input_read("--env-file", path, places, CLI_ENV_FILE_MAX, &text, &size,
			   &foreign, err) < 0)
		return err->code;
	copy = cli_keep_text(kept, text, size);
	free(text);
	if (!copy)
		return cli_error_memory(err, "--env-file");
	return cli_environment_add_lines(environment, kept, path, copy, size, foreign,
					 err);
}

int cli_environment_read(struct cli_environment *environment, struct cli_keep **kept,
			 const char *const *places,
			 const struct cli_environment_file **ret_file,
			 struct husk_error *err)
{
	size_t layer = environment->layer;
	int r = 0;

	while (environment->files && r == 0) {
		*ret_file = environment->files;
		environment->files = environment->files->next;
		environment->layer = (*ret_file)->layer;
		r = read_file(environment, kept, (*ret_file)->path, places, err);
	}
	environment->layer = layer;
	return r;
}

void cli_environment_clear_below(struct cli_environment *environment)
{
	size_t used = 0;

	for (size_t i = 0; i < environment->count; i++) {
		if (environment->variables[i].rank >= environment->layer * LAYER)
			environment->variables[used++] = environment->variables[i];
	}
	environment->count = used;
	while (environment->files && environment->files->layer < environment->layer)
		environment->files = environment->files->next;
}

/* By name, and of one name the highest rank first. */
static int compare(const void *left, const void *right)
{
	const struct cli_variable *a = left, *b = right;
	size_t a_name = strcspn(a->text, "="), b_name = strcspn(b->text, "=");
	int r = memcmp(a->text, b->text, a_name < b_name ? a_name : b_name);

	if (r == 0 && a_name != b_name)
		return a_name < b_name ? -1 : 1;
	if (r == 0)
		return a->rank > b->rank ? -1 : 1;
	return r;
}

static bool same_name(const char *a, const char *b)
{
	size_t size = strcspn(a, "=");

	return strncmp(a, b, size + 1) == 0;
}

int cli_environment_merge(struct cli_environment *environment, struct cli_keep **kept,
			  const char *const **ret_env, struct husk_error *err)
{
	struct cli_variable *variables = environment->variables;
	const char **env;
	size_t used = 0;

	*ret_env = NULL;
	if (environment->count == 0)
		return 0;
	env = cli_keep_new(kept, (environment->count + 1) * sizeof(*env));
	if (!env)
		return cli_error_memory(err, "environment");
	qsort(variables, environment->count, sizeof(*variables), compare);
	for (size_t i = 0; i < environment->count; i++) {
		if (used == 0 || !same_name(env[used - 1], variables[i].text))
			env[used++] = variables[i].text;
	}
	*ret_env = env;
	return 0;
}
