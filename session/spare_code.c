/* SPDX-License-Identifier: Apache-2.0 */
#include "session/spare_code.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/memory.h"
#include "session/deps.h"
#include "session/spare_python.h"
#include "session/walk.h"

enum {
	ENTRIES_MAX = 20000, /* of a directory that is compared with names */
	NAME_BYTES_MAX = 256,
	SETTLED_MS = 100, /* so long after a change, another one gets another time */
};

#define WORKSPACE "/workspace"

/* -- by the session -------------------------------------------------------------------
 */

enum spare_kind spare_code_kind(const char *language)
{
	return strcmp(language, "python") == 0 ? SPARE_PYTHON : SPARE_PROGRAM;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Is path `at` or below it? */
static bool is_below(const char *path, const char *at)
{
	size_t n = strlen(at);

	return strncmp(path, at, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* May a program be looked for there, or files be read from there, before the call? */
static bool is_calm(const struct husk_session *session, const char *path)
{
	if (path[0] != '/' || strstr(path, "//") || strstr(path, "/./") ||
	    strstr(path, "/../") || is_below(path, WORKSPACE) || is_below(path, "/proc"))
		return false;
	for (size_t i = 0; i < session->spec.mount_count; i++) {
		if (is_below(path + 1, session->spec.mounts[i].target))
			return false;
	}
	return true;
}

static bool is_calm_list(const struct husk_session *session, const char *list)
{
	char path[4096];

	for (;;) {
		size_t n = strcspn(list, ":");

		if (n >= sizeof(path))
			return false;
		memcpy(path, list, n);
		path[n] = '\0';
		if (!is_calm(session, path))
			return false;
		if (list[n] == '\0')
			return true;
		list += n + 1;
	}
}

/* Sorted. Variables that an interpreter obeys while it starts and that run nothing. */
static const char *const harmless[] = {
    "PYTHONDONTWRITEBYTECODE=", "PYTHONHASHSEED=",   "PYTHONIOENCODING=",
    "PYTHONNOUSERSITE=",	"PYTHONUNBUFFERED=", "PYTHONUTF8=",
};

/* Sorted. Prefixes of those that may make it read or run more than it does by itself. */
static const char *const obeyed[] = {
    "GCONV_PATH=",
    "LD_",
    "LOCPATH=",
    "PYTHON",
};

/* What is imported on request may read or run whatever a variable leads it to. */
static bool mentions_places(const struct husk_session *session, const char *variable)
{
	char place[PATH_MAX];

	if (strstr(variable, WORKSPACE))
		return true;
	for (size_t i = 0; i < session->spec.mount_count; i++) {
		(void)snprintf(place, sizeof(place), "/%s",
			       session->spec.mounts[i].target);
		if (strstr(variable, place))
			return true;
	}
	return false;
}

static bool is_calm_variable(const struct husk_session *session, const char *variable)
{
	if (begins_with(variable, "PATH="))
		return is_calm_list(session, variable + 5);
	if (begins_with(variable, "HOME="))
		return is_calm(session, variable + 5);
	if (strcmp(variable, "PYTHONPATH=" SPARE_PYTHON_DEPS) == 0)
		return true;
	/* The zone's file is read when an interpreter starts, whatever it runs. */
	if ((session->settings.preload || begins_with(variable, "TZ")) &&
	    mentions_places(session, variable))
		return false;
	/* PYTHON_VERSION and the like are labels of an image. */
	if (begins_with(variable, "PYTHON_"))
		return !begins_with(variable, "PYTHON_PRESITE=");
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
		if (begins_with(variable, harmless[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof(obeyed) / sizeof(obeyed[0]); i++) {
		if (begins_with(variable, obeyed[i]))
			return false;
	}
	return true;
}

/* Sorted. Where an interpreter's own files are. */
static const char *const system_dirs[] = {
    "bin", "etc", "home", "lib", "lib32", "lib64", "libx32", "opt", "root", "sbin", "usr",
};

static bool is_calm_mount(const struct box_mount *mount)
{
	for (size_t i = 0; i < sizeof(system_dirs) / sizeof(system_dirs[0]); i++) {
		if (is_below(mount->target, system_dirs[i]))
			return false;
	}
	return true;
}

bool spare_code_allowed(const struct husk_session *session, enum spare_kind kind)
{
	const struct settings *settings = &session->settings;
	bool path = false;

	if (kind != SPARE_PYTHON || strcmp(settings->workdir, WORKSPACE) != 0)
		return false;
	for (size_t i = 0; settings->env[i]; i++) {
		if (!is_calm_variable(session, settings->env[i]))
			return false;
		path |= begins_with(settings->env[i], "PYTHONPATH=");
	}
	for (size_t i = 0; i < session->spec.mount_count; i++) {
		if (!is_calm_mount(&session->spec.mounts[i]))
			return false;
	}
	return path;
}

bool spare_code_fits(const struct husk_call *call, const char *code, size_t size)
{
	(void)code;
	return size <= SPARE_PYTHON_SIZE && call->stdin_kind == HUSK_STDIN_EMPTY &&
	       !call->terminal && !call->workdir;
}

/* -- starting one ---------------------------------------------------------------------
 */

static void take_stamp(int dir, struct spare_stamp *ret)
{
	struct stat stat;

	memset(ret, 0, sizeof(*ret));
	if (dir < 0 || fstat(dir, &stat) < 0)
		return;
	ret->there = true;
	ret->dev = stat.st_dev;
	ret->ino = stat.st_ino;
	ret->seconds = stat.st_ctim.tv_sec;
	ret->nanoseconds = stat.st_ctim.tv_nsec;
}

static bool same_stamp(const struct spare_stamp *a, const struct spare_stamp *b)
{
	return a->there == b->there && a->dev == b->dev && a->ino == b->ino &&
	       a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

/* Kernels before 6.13 put the same time on two changes that follow each other closely. */
static bool is_settled(const struct spare_stamp *stamp)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - stamp->seconds) * 1000 +
		   (now.tv_nsec - stamp->nanoseconds) / 1000000 >
	       SETTLED_MS;
}

/* The boxes' .deps: a descriptor to be closed; -ENOENT where there is none; another
 * -errno where something else is in its place. */
static int open_deps(const struct husk_session *session)
{
	int fd;

	if (session->deps_readonly)
		fd = openat(session->spec.mounts[0].source.fd, ".",
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	else
		fd = openat(session->workspace.fd, DEPS_NAME,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool reads_deps(const struct husk_session *session)
{
	return session->deps_readonly && session->settings.preload;
}

/* The session's variables, but for where Python looks for our module. */
static const char **variables(const struct husk_session *session)
{
	char *const *env = session->settings.env;
	size_t count = session->settings.env_count;
	const char **list = calloc(count + 1, sizeof(*list));

	for (size_t i = 0; list && i < count; i++)
		list[i] = begins_with(env[i], "PYTHONPATH=") ? "PYTHONPATH=" BOX_CODE_DIR
							     : env[i];
	return list;
}

static int park_python(struct husk_session *session, const char **env,
		       struct spare_slot *slot, struct husk_error *err)
{
	char token[SPARE_PYTHON_SIZE + 1];
	const char *argv[] = {"python3", "-c", token, NULL};
	struct buffer module = BUFFER_INIT(1 << 20);
	struct box_hold hold = {
	    .argv = argv,
	    .envp = env,
	    .search = session->settings.search,
	    .workdir = "/", /* it goes to the workspace when it has a source */
	    .code_name = "sitecustomize.py",
	};
	int r;

	spare_python_token(token);
	r = spare_python_module(session->settings.preload, reads_deps(session), token,
				&module);
	if (r < 0) {
		r = error_oom(err, "spare box");
	} else {
		hold.code = module.data;
		hold.code_size = module.size;
		r = box_park(&session->spec, &hold, &slot->box, err);
	}
	buffer_deinit(&module);
	return r;
}

int spare_code_park(struct husk_session *session, struct spare_slot *slot,
		    struct husk_error *err)
{
	CLEANUP_FD int deps = open_deps(session);
	const char **env = variables(session);
	int r;

	take_stamp(deps, &slot->born_with);
	if (!env)
		return error_oom(err, "spare box");
	r = park_python(session, env, slot, err);
	free(env);
	return r;
}

/* -- by the call ----------------------------------------------------------------------
 */

/* The line of what the interpreter said that begins with a label; *ret_size without the
 * newline. */
static const char *find_line(const struct spare_slot *slot, const char *label,
			     size_t *ret_size)
{
	const char *at = box_spare_said(slot->box);

	while (at && *at) {
		size_t n = strcspn(at, "\n");

		if (begins_with(at, label)) {
			*ret_size = n;
			return at;
		}
		at += n + (at[n] == '\n');
	}
	*ret_size = 0;
	return "";
}

void spare_code_ready(const struct spare_slot *slot, char *trouble, size_t size)
{
	size_t n;
	const char *line = find_line(slot, "trouble ", &n);

	trouble[0] = '\0';
	if (n > 8)
		(void)snprintf(trouble, size, "%.*s", (int)(n - 8), line + 8);
}

/* Does an entry of a directory hide a module that is in the list " a b c "? */
static bool hides(const char *entry, const char *names, size_t size)
{
	char word[NAME_BYTES_MAX + 3];
	size_t n = strcspn(entry, ".");

	if (n == 0 || n > NAME_BYTES_MAX)
		return false;
	(void)snprintf(word, sizeof(word), " %.*s ", (int)n, entry);
	return memmem(names, size, word, n + 2) || strcmp(word, " sitecustomize ") == 0 ||
	       strcmp(word, " usercustomize ") == 0;
}

/* Would a new interpreter find another module here than the one that waits has? */
static bool hides_any(int dir, const char *names, size_t size)
{
	CLEANUP_WALK struct walk walk = WALK_INIT;
	struct walk_entry entry;
	int r = walk_init(&walk, dir, false), count = 0;

	if (r < 0)
		return true;
	while ((r = walk_next(&walk, &entry)) > 0) {
		if (++count > ENTRIES_MAX || hides(entry.name, names, size))
			return true;
	}
	return r < 0;
}

/* The same where it was looked at before and has not changed: then it is not read. */
static bool looks_same(int dir, struct spare_stamp *known, const char *names, size_t size)
{
	struct spare_stamp now;

	take_stamp(dir, &now);
	if (same_stamp(&now, known))
		return true;
	if (hides_any(dir, names, size))
		return false;
	if (is_settled(&now))
		*known = now;
	return true;
}

static bool deps_look_same(const struct husk_session *session, struct spare_slot *slot)
{
	CLEANUP_FD int deps = open_deps(session);
	struct spare_stamp now;
	size_t size;
	const char *base;

	if (deps == -ENOENT && !slot->born_with.there)
		return true;
	take_stamp(deps, &now);
	if (deps < 0 && deps != -ENOENT)
		return false;
	if (reads_deps(session) && !same_stamp(&now, &slot->born_with))
		return false;
	if (deps < 0)
		return true;
	base = find_line(slot, "base ", &size);
	if (!looks_same(deps, &slot->deps, base, size))
		return false;
	base = find_line(slot, "extra ", &size);
	return size < 8 || !hides_any(deps, base, size);
}

bool spare_code_fresh(const struct husk_session *session, struct spare_slot *slot)
{
	size_t size;
	const char *extra = find_line(slot, "extra ", &size);

	if (!deps_look_same(session, slot))
		return false;
	/* What any interpreter has loaded by then never comes from the workspace itself;
	 * what was loaded on request would. */
	return size < 8 || looks_same(session->workspace.fd, &slot->place, extra, size);
}
