/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a session's boxes: husk's few, the image's, the caller's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/settings.h"

enum {
	NAME_MAX_TEXT = 64, /* of a variable, in messages */
	IMAGE_VARIABLES = 4096,
};

/* Sorted by name. Nothing of the caller's environment; a box's variables are these, then
 * the image's, then the session's. */
static const char python_path[] = "PYTHONPATH=/workspace/.deps";
static const char *const default_env[] = {
    "HOME=/tmp",
    "LANG=C.UTF-8",
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    python_path,
};

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=");
}

static int set_variable(struct settings *settings, const char *variable,
			struct husk_error *err)
{
	size_t n = name_length(variable);
	char *copy = strdup(variable);

	if (!copy)
		return error_oom(err, "environment");
	for (size_t i = 0; i < settings->env_count; i++) {
		if (settings->env[i] && strncmp(settings->env[i], variable, n + 1) == 0) {
			free(settings->env[i]);
			settings->env[i] = copy;
			return 0;
		}
	}
	settings->env[settings->env_count++] = copy;
	return 0;
}

static int check_variable(const char *variable, struct husk_error *err)
{
	size_t n = name_length(variable);
	char name[NAME_MAX_TEXT];

	(void)snprintf(name, sizeof(name), "environment variable %.*s",
		       (int)(n < 32 ? n : 32), variable);
	if (n == 0 || variable[n] != '=')
		return error_set(err, HUSK_E_INVALID, name, "it must be NAME=VALUE");
	if (strlen(variable) >= SETTINGS_STRING_MAX) {
		error_set(err, HUSK_E_INVALID, name,
			  "it is %zu bytes long; Linux takes %d", strlen(variable),
			  SETTINGS_STRING_MAX - 1);
		error_hint(err, "write the value to a workspace file and pass its path");
		return HUSK_E_INVALID;
	}
	return 0;
}

static void find_search(struct settings *settings)
{
	settings->search = "";
	for (size_t i = 0; i < settings->env_count; i++) {
		if (strncmp(settings->env[i], "PATH=", 5) == 0)
			settings->search = settings->env[i] + 5;
	}
}

int settings_env(const char *const *env, struct settings *settings,
		 struct husk_error *err)
{
	size_t defaults = sizeof(default_env) / sizeof(default_env[0]), count = 0;
	int r = 0;

	while (env && env[count])
		count++;
	settings->env_count = 0;
	settings->env = calloc(count + defaults + 1, sizeof(*settings->env));
	if (!settings->env)
		return error_oom(err, "environment");
	for (size_t i = 0; r == 0 && i < defaults; i++)
		r = set_variable(settings, default_env[i], err);
	for (size_t i = 0; r == 0 && i < count; i++) {
		r = check_variable(env[i], err);
		if (r == 0)
			r = set_variable(settings, env[i], err);
	}
	find_search(settings);
	return r;
}

static bool is_given(const char *const *given, const char *variable)
{
	size_t n = name_length(variable);

	for (size_t i = 0; given && given[i]; i++) {
		if (strncmp(given[i], variable, n + 1) == 0)
			return true;
	}
	return false;
}

/* Where setup installs must be found also where the image has places of its own. */
static int add_python_path(struct settings *settings, const char *variable,
			   struct husk_error *err)
{
	CLEANUP_FREE char *joined = NULL;

	if (asprintf(&joined, "%s:%s", python_path, strchr(variable, '=') + 1) < 0) {
		joined = NULL;
		return error_oom(err, "environment");
	}
	return set_variable(settings, joined, err);
}

static int add_variable(struct settings *settings, const char *variable,
			const char *const *given, struct husk_error *err)
{
	size_t n = name_length(variable);

	/* Of what an image says, what is no variable is nothing that could be set. */
	if (n == 0 || variable[n] != '=' || is_given(given, variable))
		return 0;
	if (strncmp(variable, "PYTHONPATH=", 11) == 0 && variable[11] != '\0')
		return add_python_path(settings, variable, err);
	return set_variable(settings, variable, err);
}

static int add_home(struct settings *settings, const char *home, const char *const *given,
		    struct husk_error *err)
{
	CLEANUP_FREE char *variable = NULL;

	if (asprintf(&variable, "HOME=%s", home) < 0) {
		variable = NULL;
		return error_oom(err, "environment");
	}
	return add_variable(settings, variable, given, err);
}

int settings_add_image(struct settings *settings, const char *const *env,
		       const char *home, const char *const *given, struct husk_error *err)
{
	size_t count = 0;
	char **grown;
	int r = 0;

	while (env[count])
		count++;
	if (count > IMAGE_VARIABLES)
		return error_set(err, HUSK_E_IMAGE, "image",
				 "it sets %zu environment variables; at most %d are "
				 "taken",
				 count, IMAGE_VARIABLES);
	grown = realloc(settings->env,
			(settings->env_count + count + 2) * sizeof(*settings->env));
	if (!grown)
		return error_oom(err, "environment");
	settings->env = grown;
	memset(grown + settings->env_count, 0, (count + 2) * sizeof(*grown));
	if (home)
		r = add_home(settings, home, given, err);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_variable(settings, env[i], given, err);
	find_search(settings);
	return r;
}
