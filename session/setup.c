/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One setup: take its outcome from the cache, or run its box.
 *
 * With a cache the box works on a directory of its own (a stage) that nothing else can
 * write to, so that what is kept is what the command made and no more: neither what was
 * in .deps before nor what another box does to the workspace meanwhile. A command that is
 * no plain pip may want to see what is in .deps already; where there is something, it
 * works there, and nothing is kept.
 */
#include "session/setup.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "session/deps.h"
#include "session/setup_cache.h"
#include "session/setup_key.h"
#include "session/spares.h"

#define DEFAULT_CACHE (UINT64_C(4) << 30)
#define MIN_MEMORY    (UINT64_C(1) << 20)
#define MAX_SIZE      (UINT64_C(1) << 60)
#define MAX_TIMEOUT_MS \
	(UINT64_C(10) * 366 * 24 * 3600 * 1000) /* ten years, as a session */

enum { WAIT_MS = 20 };

static int check(const struct husk_setup *how, const char *command,
		 struct husk_error *err)
{
	if (!command || command[strspn(command, " \t\r\n")] == '\0')
		return error_set(err, HUSK_E_INVALID, "setup", "the command is empty");
	if (how->cache_dir && how->cache_dir[0] != '/')
		return error_set(err, HUSK_E_INVALID, "setup cache",
				 "\"%.100s\" is not an absolute path", how->cache_dir);
	if (how->timeout_ms > MAX_TIMEOUT_MS)
		return error_set(err, HUSK_E_INVALID, "setup timeout",
				 "%llu ms is longer than ten years",
				 (unsigned long long)how->timeout_ms);
	if (how->memory_bytes && how->memory_bytes != HUSK_UNLIMITED &&
	    (how->memory_bytes < MIN_MEMORY || how->memory_bytes > MAX_SIZE))
		return error_set(err, HUSK_E_INVALID, "setup memory",
				 "%llu bytes is not between 1 MiB and 1 EiB",
				 (unsigned long long)how->memory_bytes);
	if (how->reserved)
		return error_set(err, HUSK_E_INVALID, "setup",
				 "a reserved member is not 0");
	return 0;
}

static int copy_error(int r, struct husk_error *err)
{
	if (r == -E2BIG)
		return error_set(
		    err, HUSK_E_SETUP, "setup",
		    "what the command left in .deps is too deep or too much");
	return error_sys(err, -r, "setup", "cannot copy what was installed into .deps");
}

/* -- showing the kept tree itself -----------------------------------------------------
 */

/* Let a mount of `deps` be what the session's boxes see. Only while no other call runs,
 * since those read the spec. */
static int show(struct husk_session *session, int deps, struct husk_error *err)
{
	struct box_mount *mount = &session->spec.mounts[0];
	struct source made = SOURCE_INIT;
	int r = source_pin_fd(deps, "setup", &made, err);

	if (r < 0)
		return r;
	spares_hold(session->spares);
	pthread_mutex_lock(&session->lock);
	if (session->running == 1) {
		source_deinit(&mount->source);
		mount->source = made;
		box_spec_changed(&session->spec);
		r = 1;
	}
	pthread_mutex_unlock(&session->lock);
	spares_renew(session->spares);
	if (r == 0)
		source_deinit(&made);
	return r;
}

/* Nothing but a session's boxes sees a private workspace, and with deps_readonly they
 * cannot write to .deps: no copy is needed. 1: it is shown; 0: copy it. */
static int share(const struct setup *setup, struct setup_entry *entry,
		 struct husk_error *err)
{
	struct husk_session *session = setup->session;
	int r;

	if (!session->workspace.temporary || !session->deps_readonly ||
	    session->deps_lock >= 0 || deps_is_empty(setup->deps) != 1)
		return 0;
	r = show(session, entry->deps, err);
	if (r == 1)
		session->deps_lock = fd_take(&entry->fd);
	return r;
}

/* An earlier setup's tree is shown and this one adds to it: they need a place of their
 * own. */
static int unshare_kept(const struct setup *setup, struct husk_error *err)
{
	struct husk_session *session = setup->session;
	int r;

	if (session->deps_lock < 0)
		return 0;
	r = deps_copy(session->spec.mounts[0].source.fd, setup->deps);
	if (r < 0)
		return copy_error(r, err);
	r = show(session, setup->deps, err);
	if (r == 0)
		return error_set(err, HUSK_E_INVALID, "setup",
				 "a second setup cannot be made while other calls run");
	if (r < 0)
		return r;
	fd_close(&session->deps_lock);
	return 0;
}

static int install(const struct setup *setup, struct setup_entry *entry,
		   struct husk_error *err)
{
	int r = share(setup, entry, err);

	if (r != 0)
		return r < 0 ? r : 0;
	r = deps_copy(entry->deps, setup->deps);
	return r < 0 ? copy_error(r, err) : 0;
}

/* -- with a cache ---------------------------------------------------------------------
 */

static int fill_stage(const struct setup *setup, const struct setup_cache *cache,
		      const char *key, struct setup_stage *stage, struct husk_error *err)
{
	struct setup_entry entry = SETUP_ENTRY_INIT;
	bool other = false;
	uint64_t bytes;
	int r = setup_box_run(setup, stage->deps, &other, err);

	if (r < 0)
		return r;
	r = setup_stage_seal(stage, &bytes);
	if (r < 0)
		return copy_error(r, err);
	if (!other && setup_cache_publish(cache, key, bytes, stage, &entry) == 1) {
		r = install(setup, &entry, err);
		setup_entry_deinit(&entry);
		return r;
	}
	r = deps_copy(stage->deps, setup->deps);
	return r < 0 ? copy_error(r, err) : 0;
}

static int make(const struct setup *setup, const struct setup_cache *cache,
		const char *key, struct husk_error *err)
{
	struct setup_stage stage = SETUP_STAGE_INIT;
	int r = setup_stage_new(cache, &stage);

	if (r < 0)
		return error_sys(err, -r, "setup cache", "cannot make a directory in it");
	r = fill_stage(setup, cache, key, &stage, err);
	setup_stage_remove(cache, &stage);
	return r;
}

/* Wait until the tree is there (1, with the entry) or nobody else makes it (0, with the
 * lock, or without one where that cannot be had). */
static int find_or_lock(const struct setup *setup, const struct setup_cache *cache,
			const char *key, struct setup_entry *entry, int *lock,
			struct husk_error *err)
{
	for (;;) {
		int r = setup_cache_find(cache, key, entry);

		if (r != 0 || *lock >= 0)
			return r > 0;
		*lock = setup_cache_try_lock(cache, key);
		if (*lock >= 0)
			continue; /* it may have been finished meanwhile */
		if (*lock != -EWOULDBLOCK)
			return 0;
		if (setup_is_stopped(setup, WAIT_MS)) {
			error_set(
			    err, HUSK_E_SETUP, "setup",
			    "cancelled: stopped while another process makes the same "
			    "setup");
			if (err)
				err->sys_errno = ECANCELED;
			return HUSK_E_SETUP;
		}
	}
}

static int with_cache(const struct setup *setup, const struct setup_cache *cache,
		      const char *key, int32_t *cached, struct husk_error *err)
{
	struct setup_entry entry = SETUP_ENTRY_INIT;
	int lock = -1;
	int r = find_or_lock(setup, cache, key, &entry, &lock, err);

	if (r == 1) {
		*cached = 1;
		r = install(setup, &entry, err);
	} else if (r == 0) {
		r = make(setup, cache, key, err);
	}
	setup_entry_deinit(&entry);
	setup_cache_unlock(cache, key, &lock);
	return r;
}

/* -- all ------------------------------------------------------------------------------
 */

/* May the outcome be kept, and under which key? */
static int find_key(const struct setup *setup, const struct setup_cache *cache,
		    char key[SETUP_KEY_SIZE], struct husk_error *err)
{
	const struct husk_session *session = setup->session;
	bool online = session->spec.host_network || !setup->how.offline;
	int r;

	if (cache->fd < 0)
		return 0;
	if (!session->deps_readonly && deps_is_covered(&session->spec))
		return 0;
	if (!setup->command.plain_pip && deps_is_empty(setup->deps) != 1)
		return 0;
	r = setup_key_make(session, &setup->command, online, key);
	return r < 0 ? error_oom(err, "setup") : r;
}

/* Without: in the workspace's .deps itself, which must be the same afterwards. */
static int in_place(const struct setup *setup, struct husk_error *err)
{
	CLEANUP_FD int after = -1;
	struct stat now, then;
	bool other = false;
	int r = setup_box_run(setup, -1, &other, err);

	if (r == 0 && setup->session->deps_readonly)
		r = deps_open(setup->session->workspace.fd, &after, err);
	if (r < 0 || after < 0)
		return r;
	if (fstat(after, &now) < 0 || fstat(setup->deps, &then) < 0)
		return error_sys(err, errno, "setup", "cannot look at .deps");
	if (now.st_dev == then.st_dev && now.st_ino == then.st_ino)
		return 0;
	return error_set(err, HUSK_E_PATH, "the workspace's .deps",
			 "another directory was put in its place");
}

static int run_setup(struct setup *setup, int32_t *cached, struct husk_error *err)
{
	struct setup_cache cache = SETUP_CACHE_INIT;
	const struct husk_setup *how = &setup->how;
	char key[SETUP_KEY_SIZE];
	int r = unshare_kept(setup, err);

	if (r == 0 && how->cache_dir)
		r = setup_cache_open(how->cache_dir,
				     how->cache_bytes ? how->cache_bytes : DEFAULT_CACHE,
				     &cache, err);
	if (r == 0)
		r = find_key(setup, &cache, key, err);
	if (r == 1)
		r = with_cache(setup, &cache, key, cached, err);
	else if (r == 0)
		r = in_place(setup, err);
	setup_cache_close(&cache);
	return r;
}

int husk_session_setup(husk_session *session, const char *command,
		       const struct husk_setup *how, int32_t *ret_cached,
		       struct husk_error *err)
{
	struct setup setup = {.session = session, .deps = -1};
	int32_t cached = 0;
	int r = session_enter(session, err);

	if (r < 0)
		return r;
	r = settings_setup(how, &setup.how, err);
	if (r == 0)
		r = check(&setup.how, command, err);
	if (r == 0 && setup_command_init(command, &setup.command) < 0)
		r = error_oom(err, "setup");
	if (r == 0)
		r = deps_open(session->workspace.fd, &setup.deps, err);
	if (r == 0)
		r = run_setup(&setup, &cached, err);
	/* What waits has perhaps read what is another now. */
	spares_hold(session->spares);
	spares_renew(session->spares);
	fd_close(&setup.deps);
	setup_command_deinit(&setup.command);
	session_leave(session);
	if (r == 0 && ret_cached)
		*ret_cached = cached;
	return r;
}
