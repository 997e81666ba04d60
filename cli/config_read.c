/* SPDX-License-Identifier: Apache-2.0 */
/* Reading configuration files: whose they are, and whether they are JSON. */
#include "cli/config.h"

#include "cli/escape.h"
#include "cli/input.h"
#include "cli/json_memory.h"
#include "cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char WHAT[] = "configuration";

/* The file as a whole, in words. */
static int refuse(const struct cli_config_file *file, const char *why, const char *hint,
		  struct husk_error *err)
{
	struct cli_config_place place = {.file = file};

	(void)cli_config_refuse(&place, err, "%s", why);
	cli_error_hint(err, "%s", hint);
	return HUSK_E_INVALID;
}

/* In a user namespace in which the host's root is nobody, its files are nobody's. */
static bool is_unmapped_root(uid_t owner)
{
	FILE *map = owner == 65534 ? fopen("/proc/self/uid_map", "re") : NULL;
	unsigned long inside, outside, count;
	bool whole;

	if (!map)
		return false;
	whole = fscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
		inside == 0 && outside == 0 && count >= UINT32_MAX;
	(void)fclose(map);
	return !whole;
}

static bool is_good_owner(const struct cli_config_file *file, uid_t owner)
{
	if (owner == 0 || is_unmapped_root(owner))
		return true;
#ifdef HUSK_TEST_HOOKS
	if (cli_settings_variable("HUSK_TEST_ETC"))
		return owner == geteuid();
#endif
	return file->kind == CLI_CONFIG_USER && owner == geteuid();
}

/* Whoever can write to the file can loosen every box. */
static int check_file(const struct cli_config_file *file, const struct stat *st,
		      struct husk_error *err)
{
	bool user = file->kind == CLI_CONFIG_USER;

	if (!S_ISREG(st->st_mode))
		return refuse(file, "not a regular file", "put a JSON object there", err);
	if (!is_good_owner(file, st->st_uid))
		return refuse(
		    file, user ? "owned by neither you nor root" : "not owned by root",
		    user ? "take it over, or name another file in HUSK_CONFIG "
			   "(empty: none)"
			 : "chown root: it, or remove it",
		    err);
	if ((st->st_mode & 022) != 0)
		return refuse(file, "others than its owner can write to it",
			      "chmod go-w it", err);
	if (st->st_size > CLI_CONFIG_FILE_MAX)
		return refuse(file, "larger than 1 MiB",
			      "a configuration takes a few lines", err);
	return 0;
}

/* The size was looked at; a file that grows is cut, and then no JSON. */
static int read_fd(int fd, struct cli_config_file *file, struct husk_error *err)
{
	size_t capacity = CLI_CONFIG_FILE_MAX;
	struct stat st;
	ssize_t n = 0;

	if (fstat(fd, &st) < 0)
		return refuse(file, strerror(errno), "see that it can be read", err);
	if (check_file(file, &st, err) < 0)
		return HUSK_E_INVALID;
	capacity = (size_t)st.st_size;
	file->text = malloc(capacity + 1);
	if (!file->text)
		return cli_error_memory(err, WHAT);
	while (file->size < capacity) {
		n = read(fd, file->text + file->size, capacity - file->size);
		if (n <= 0 && !(n < 0 && errno == EINTR))
			break;
		file->size += n > 0 ? (size_t)n : 0;
	}
	file->text[file->size] = '\0';
	return n < 0 ? refuse(file, strerror(errno), "see that it can be read", err) : 0;
}

/* 0 also where there is none. */
static int read_file(struct cli_config_file *file, bool must, struct husk_error *err)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR) && !must)
		return 0;
	if (fd < 0)
		return refuse(file, strerror(errno),
			      file->kind == CLI_CONFIG_USER
				  ? "see that you can read it, or set HUSK_CONFIG to "
				    "another file (empty: none)"
				  : "ask the administrator to let everybody read it",
			      err);
	r = read_fd(fd, file, err);
	(void)close(fd);
	return r;
}

int cli_config_parse(struct cli_config_file *file, struct husk_error *err)
{
	struct cli_config_place place = {.file = file};
	char where[sizeof(err->where)], text[JSON_ERROR_TEXT_LENGTH * 2];
	json_error_t error;
	json_t *root = NULL;
	int r =
	    cli_json_read(file->text, file->size, JSON_REJECT_DUPLICATES, &root, &error);

	file->root = root;
	if (r == -ENOMEM)
		return cli_error_memory(err, WHAT);
	if (r < 0) {
		(void)cli_config_refuse(&place, err, "%s", "");
		(void)snprintf(where, sizeof(where), "%.110s:%d", err->where, error.line);
		(void)cli_escape(text, sizeof(text), error.text, strlen(error.text), 0);
		(void)cli_error(err, where, "column %d: not JSON that husk takes: %s",
				error.column, text);
		cli_error_hint(err, "one object, each key once, no comments");
		return HUSK_E_INVALID;
	}
	return cli_config_check(file, err);
}

static int load_file(struct cli_settings *settings, struct cli_config_file *file,
		     struct husk_error *err)
{
	bool must = false;
	int r = 0;

	if (file->kind == CLI_CONFIG_BUILT_IN) {
		file->path = "built-in";
		file->text = strdup(cli_config_built_in);
		file->size = strlen(cli_config_built_in);
		if (!file->text)
			return cli_error_memory(err, WHAT);
	} else {
		r = cli_config_path(settings, file->kind, &file->path, &must, err);
		if (r == 0 && file->path)
			r = read_file(file, must, err);
	}
	if (r == 0 && file->text)
		r = cli_config_parse(file, err);
	return r;
}

int cli_config_load(struct cli_settings *settings, bool needed, struct husk_error *err)
{
	struct cli_config config = {0};
	int r = 0;

	for (size_t i = CLI_CONFIG_FILES; i-- > 0 && r == 0;) {
		config.files[i].kind = (enum cli_config_kind)i;
		needed = needed || config.files[CLI_CONFIG_ADMIN].text ||
			 config.files[CLI_CONFIG_USER].text;
		if (i != CLI_CONFIG_BUILT_IN || needed)
			r = load_file(settings, &config.files[i], err);
	}
	if (r == 0 && needed) {
		settings->config = malloc(sizeof(config));
		if (settings->config) {
			*settings->config = config;
			return 0;
		}
		r = cli_error_memory(err, WHAT);
	}
	for (size_t i = 0; i < CLI_CONFIG_FILES; i++) {
		free(config.files[i].text);
		json_decref(config.files[i].root);
	}
	return r;
}

int cli_config_guard(const struct cli_settings *settings, const char *const *places,
		     struct husk_error *err)
{
	const struct cli_config *config = settings->config;

	for (size_t i = 0; config && i < CLI_CONFIG_FILES; i++) {
		const struct cli_config_file *file = &config->files[i];
		bool inside = false;
		int fd;

		if (file->kind == CLI_CONFIG_BUILT_IN || !file->text)
			continue;
		fd = cli_input_open(file->path, places, &inside);
		if (fd >= 0)
			(void)close(fd);
		if (inside)
			return refuse(file,
				      "it lies in the workspace or a volume, where a box "
				      "can change it",
				      "keep the configuration elsewhere, or use another "
				      "workspace",
				      err);
	}
	return 0;
}

void cli_config_free(struct cli_config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < CLI_CONFIG_FILES; i++) {
		free(config->files[i].text);
		json_decref(config->files[i].root);
	}
	free(config);
}
