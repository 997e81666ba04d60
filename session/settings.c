/* SPDX-License-Identifier: Apache-2.0 */
#include "session/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/cancel.h"

#define DEFAULT_TIMEOUT_MS UINT64_C(30000)
#define MAX_TIMEOUT_MS	   (UINT64_C(10) * 366 * 24 * 3600 * 1000) /* ten years */
#define DEFAULT_OUTPUT	   (UINT64_C(64) << 20)
#define MAX_OUTPUT	   (UINT64_C(16) << 30)
#define MIN_MEMORY	   (UINT64_C(1) << 20)
#define MAX_SIZE	   (UINT64_C(1) << 60)

enum {
	EXEC_MAX = 2048 << 10, /* a quarter of the stack limit that boxes get */
};

static int adopt(const void *from, size_t size, void *to, size_t known, const char *what,
		 struct husk_error *err)
{
	const char *tail = (const char *)from + known;

	if (size < sizeof(size_t) || size > 1 << 20)
		return error_set(err, HUSK_E_INVALID, what,
				 "its size member is not set; declare it with its macro");
	for (size_t i = known; i < size; i++, tail++) {
		if (*tail != 0)
			return error_set(
			    err, HUSK_E_INVALID, what,
			    "it uses members that this version of the library does "
			    "not know");
	}
	memset(to, 0, known);
	memcpy(to, from, size < known ? size : known);
	memcpy(to, &known, sizeof(known));
	return 0;
}

int settings_options(const struct husk_options *options, struct husk_options *ret,
		     struct husk_error *err)
{
	HUSK_OPTIONS(defaults);

	if (!options)
		options = &defaults;
	return adopt(options, options->size, ret, sizeof(*ret), "options", err);
}

int settings_setup(const struct husk_setup *setup, struct husk_setup *ret,
		   struct husk_error *err)
{
	HUSK_SETUP(defaults);

	if (!setup)
		setup = &defaults;
	return adopt(setup, setup->size, ret, sizeof(*ret), "setup", err);
}

int settings_call(const struct husk_call *call, struct husk_call *ret,
		  struct husk_error *err)
{
	HUSK_CALL(defaults);

	if (!call)
		call = &defaults;
	return adopt(call, call->size, ret, sizeof(*ret), "call", err);
}

int settings_images(const struct husk_image_options *images,
		    struct husk_image_options *ret, int *ret_cancel,
		    struct husk_error *err)
{
	HUSK_IMAGE_OPTIONS(defaults);
	int r;

	if (!images)
		images = &defaults;
	r = adopt(images, images->size, ret, sizeof(*ret), "image options", err);
	if (r < 0)
		return r;
	if (ret->reserved != 0)
		return error_set(err, HUSK_E_INVALID, "image options",
				 "a reserved member is not 0");
	if (ret->store && ret->store[0] != '/')
		return error_set(err, HUSK_E_INVALID, "image store",
				 "\"%.100s\" is not an absolute path", ret->store);
	*ret_cancel = cancel_fd(ret->cancel);
	return 0;
}

int settings_host(const struct husk_host_options *options, struct husk_host_options *ret,
		  struct husk_error *err)
{
	HUSK_HOST_OPTIONS(defaults);
	int r;

	if (!options)
		options = &defaults;
	r = adopt(options, options->size, ret, sizeof(*ret), "host options", err);
	if (r == 0 && ret->reserved != 0)
		r = error_set(err, HUSK_E_INVALID, "host options",
			      "a reserved member is not 0");
	if (r == 0 && ret->store && ret->store[0] != '/')
		r = error_set(err, HUSK_E_INVALID, "image store",
			      "\"%.100s\" is not an absolute path", ret->store);
	return r;
}

static int check_range(const char *what, uint64_t value, uint64_t min, uint64_t max,
		       const char *unit, struct husk_error *err)
{
	if (value >= min && value <= max)
		return 0;
	return error_set(err, HUSK_E_INVALID, what,
			 "%llu is not between %llu and %llu %s",
			 (unsigned long long)value, (unsigned long long)min,
			 (unsigned long long)max, unit);
}

static int check_numbers(const struct husk_options *o, struct husk_error *err)
{
	int r = 0;

	if (o->memory_bytes && o->memory_bytes != HUSK_UNLIMITED)
		r = check_range("memory", o->memory_bytes, MIN_MEMORY, MAX_SIZE, "bytes",
				err);
	if (r == 0 && o->pids && o->pids != HUSK_UNLIMITED)
		r = check_range("pids", o->pids, 1, 1 << 22, "tasks", err);
	if (r == 0 && o->cpu_milli && o->cpu_milli != HUSK_UNLIMITED)
		r = check_range("cpus", o->cpu_milli, 1, 1000 << 13, "thousandths", err);
	if (r == 0 && o->timeout_ms)
		r = check_range("timeout", o->timeout_ms, 1, MAX_TIMEOUT_MS, "ms", err);
	if (r == 0 && o->max_output_bytes)
		r = check_range("max output", o->max_output_bytes, 1, MAX_OUTPUT, "bytes",
				err);
	if (r == 0 && o->tmp_bytes)
		r = check_range("tmp size", o->tmp_bytes, 4096, MAX_SIZE, "bytes", err);
	if (r == 0 && o->limits != HUSK_LIMITS_ENFORCE &&
	    o->limits != HUSK_LIMITS_BEST_EFFORT)
		r = error_set(err, HUSK_E_INVALID, "limits",
			      "%d is neither enforce nor best-effort", o->limits);
	if (r == 0 && (o->pull < HUSK_PULL_MISSING || o->pull > HUSK_PULL_ALWAYS))
		r = error_set(err, HUSK_E_INVALID, "pull",
			      "%d is none of missing, never and always", o->pull);
	if (r == 0 && o->prewarm)
		r = check_range("prewarm", o->prewarm, 1, HUSK_PREWARM_MAX, "boxes", err);
	return r;
}

int settings_check_workdir(const char *workdir, struct husk_error *err)
{
	if (workdir[0] != '/')
		return error_set(err, HUSK_E_INVALID, "workdir",
				 "\"%.100s\" is not an absolute path in the box",
				 workdir);
	if (strlen(workdir) > 4095)
		return error_set(err, HUSK_E_INVALID, "workdir",
				 "it is longer than 4,095 bytes");
	return 0;
}

int settings_init(const struct husk_options *options, struct settings *ret,
		  struct husk_error *err)
{
	const char *workdir = options->workdir ? options->workdir : "/workspace";
	int r;

	memset(ret, 0, sizeof(*ret));
	r = check_numbers(options, err);
	if (r == 0)
		r = settings_check_workdir(workdir, err);
	if (r == 0)
		r = settings_env(options->env, ret, err);
	if (r == 0) {
		ret->workdir = strdup(workdir);
		if (!ret->workdir)
			r = error_oom(err, "workdir");
	}
	if (r == 0)
		r = settings_preload(options, ret, err);
	ret->prewarm = options->prewarm;
	ret->timeout_us =
	    (options->timeout_ms ? options->timeout_ms : DEFAULT_TIMEOUT_MS) * 1000;
	ret->max_output =
	    options->max_output_bytes ? options->max_output_bytes : DEFAULT_OUTPUT;
	if (r < 0)
		settings_deinit(ret);
	return r;
}

void settings_deinit(struct settings *settings)
{
	for (size_t i = 0; settings->env && settings->env[i]; i++)
		free(settings->env[i]);
	free(settings->env);
	for (size_t i = 0; settings->preload && settings->preload[i]; i++)
		free(settings->preload[i]);
	free(settings->preload);
	free(settings->workdir);
	memset(settings, 0, sizeof(*settings));
}

/* Digits only, no sign, no space, at most 4294967294 ((uid_t)-1 means "no id"). */
static const char *read_id(const char *text, uint32_t *ret)
{
	uint64_t value = 0;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++) {
		value = value * 10 + (uint64_t)(*at - '0');
		if (value > UINT32_MAX - 1)
			return NULL;
	}
	*ret = (uint32_t)value;
	return at == text ? NULL : at;
}

/* What useradd takes, and no more: a name that is an odd one in a file of an image is
 * never what a caller means. */
static const char *skip_name(const char *at)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char more[] = "0123456789.-$";
	size_t n = strspn(at, letters);

	if (n == 0)
		return NULL;
	for (at += n; *at && (strchr(letters, *at) || strchr(more, *at)); at++)
		;
	return at;
}

static const char *skip_id_or_name(const char *at, bool *ret_name)
{
	uint32_t id;
	const char *end = read_id(at, &id);

	if (end)
		return end;
	*ret_name = true;
	return skip_name(at);
}

bool settings_user_is_name(const char *user)
{
	bool name = false;
	const char *at = skip_id_or_name(user, &name);

	if (at && *at == ':')
		at = skip_id_or_name(at + 1, &name);
	return at && *at == '\0' && name;
}

int settings_user(const char *user, uint32_t *ret_uid, uint32_t *ret_gid,
		  struct husk_error *err)
{
	const char *at;

	*ret_uid = *ret_gid = 0;
	if (!user)
		return 0;
	at = read_id(user, ret_uid);
	if (at && *at == ':')
		at = read_id(at + 1, ret_gid);
	if (!at || *at != '\0')
		return error_set(err, HUSK_E_INVALID, "user",
				 "\"%.60s\" is not UID or UID:GID with numbers from 0 to "
				 "4294967294, or NAME or NAME:GROUP of an image",
				 user);
	return 0;
}

static int check_string(const char *text, const char *what, size_t *total,
			struct husk_error *err)
{
	size_t size = strlen(text) + 1;

	if (size > SETTINGS_STRING_MAX) {
		error_set(err, HUSK_E_INVALID, what,
			  "a string is %zu bytes long; Linux takes %d", size - 1,
			  SETTINGS_STRING_MAX - 1);
		error_hint(
		    err,
		    "write it to a workspace file and pass its path; code of any size "
		    "may be given to run_code");
		return HUSK_E_INVALID;
	}
	*total += size + sizeof(char *);
	return 0;
}

int settings_check_exec(const char *const *argv, char *const *env, struct husk_error *err)
{
	size_t total = 0;
	int r = 0;

	if (!argv || !argv[0])
		return error_set(err, HUSK_E_INVALID, "command", "it is empty");
	if (argv[0][0] == '\0')
		return error_set(err, HUSK_E_INVALID, "command",
				 "the program's name is empty");
	for (size_t i = 0; r == 0 && argv[i]; i++)
		r = check_string(argv[i], "argument", &total, err);
	for (size_t i = 0; r == 0 && env[i]; i++)
		r = check_string(env[i], "environment variable", &total, err);
	if (r == 0 && total > EXEC_MAX) {
		error_set(err, HUSK_E_INVALID, "arguments and environment",
			  "they take %zu bytes together; Linux takes %d in a box", total,
			  EXEC_MAX);
		error_hint(err,
			   "write what is large to a workspace file and pass its path");
		return HUSK_E_INVALID;
	}
	return r;
}
