/* SPDX-License-Identifier: Apache-2.0 */
/* Open, enter, leave, close; the file API's public names. */
#include "session/session.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "session/files.h"
#include "session/spares.h"

enum { WAIT_MAX_S = 1 << 30 }; /* of one wait, so that no sum overflows */

/* All that a session holds but its memory. */
static void let_go(struct husk_session *session)
{
	session->spares = spares_free(session->spares);
	box_spec_deinit(&session->spec);
	image_root_deinit(&session->root);
	diff_deinit(&session->diff);
	settings_deinit(&session->settings);
	(void)workspace_deinit(&session->workspace, NULL);
	fd_close(&session->closing_fd);
	fd_close(&session->deps_lock);
}

static void release(struct husk_session *session)
{
	free(session->path);
	free(session->temp_dir);
	shortage_deinit(&session->shortage);
	pthread_cond_destroy(&session->idle);
	pthread_mutex_destroy(&session->lock);
	free(session);
}

static void idle_init(pthread_cond_t *idle)
{
	pthread_condattr_t attr;

	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(idle, &attr);
	(void)pthread_condattr_destroy(&attr);
}

static husk_session *session_new(void)
{
	husk_session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	pthread_mutex_init(&session->lock, NULL);
	idle_init(&session->idle);
	shortage_init(&session->shortage);
	session->workspace = WORKSPACE_INIT;
	session->spec = BOX_SPEC_INIT;
	session->root = IMAGE_ROOT_INIT;
	session->deps_lock = -1;
	session->closing_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	diff_init(&session->diff, -1);
	return session;
}

/* The first session of a process with a temporary workspace is the one to remove what
 * killed ones left: by the end of its first call. */
static bool sweeps(const struct husk_options *options)
{
	static atomic_flag done = ATOMIC_FLAG_INIT;

	return !options->workspace && !atomic_flag_test_and_set(&done);
}

int husk_session_open(const struct husk_options *options, husk_session **ret_session,
		      struct husk_error *err)
{
	struct husk_options known;
	husk_session *session;
	int r = settings_options(options, &known, err);

	if (r < 0)
		return r;
	session = session_new();
	if (!session)
		return error_oom(err, "session");
	if (session->closing_fd < 0)
		r = error_sys(err, errno, "session", "cannot make an event descriptor");
	if (r == 0)
		r = settings_init(&known, &session->settings, err);
	session->workdir_given = known.workdir != NULL;
	if (r == 0 && known.workspace)
		r = source_check_new(known.workspace, err);
	if (r == 0 && known.temp_dir) {
		session->temp_dir = strdup(known.temp_dir);
		if (!session->temp_dir)
			r = error_oom(err, "session");
	}
	if (r == 0 && sweeps(&known))
		session->leftovers = LEFTOVERS_DUE;
	if (r == 0)
		r = workspace_open(known.workspace, known.temp_dir, &session->workspace,
				   err);
	if (r == 0) {
		session->path = strdup(session->workspace.path);
		if (!session->path)
			r = error_oom(err, "session");
	}
	if (r == 0)
		r = session_make_spec(&known, session, err);
	if (r == 0) {
		diff_deinit(&session->diff);
		diff_init(&session->diff, session->workspace.fd);
		r = spares_new(session, &session->spares, err);
	}
	if (r < 0) {
		let_go(session);
		release(session);
		return r;
	}
	*ret_session = session;
	return 0;
}

int husk_options_check(const struct husk_options *options, struct husk_error *err)
{
	struct box_spec spec = BOX_SPEC_INIT;
	struct settings settings;
	struct husk_options known;
	int r = settings_options(options, &known, err);

	if (r == 0)
		r = settings_init(&known, &settings, err);
	if (r < 0)
		return r;
	r = session_check_spec(&known, &spec, err);
	box_spec_deinit(&spec);
	settings_deinit(&settings);
	return r;
}

static int enter(struct husk_session *session, struct husk_error *err)
{
	int r = 0;

	if (!session)
		return error_set(err, HUSK_E_INVALID, "session", "it is NULL");
	pthread_mutex_lock(&session->lock);
	if (session->closing)
		r = error_set(err, HUSK_E_CLOSED, "session", "it is being closed");
	else
		session->running++;
	pthread_mutex_unlock(&session->lock);
	return r;
}

int session_enter(struct husk_session *session, struct husk_error *err)
{
	int r = enter(session, err);

	if (r < 0)
		return r;
	r = workspace_check(&session->workspace, err);
	if (r < 0)
		session_leave(session);
	return r;
}

void session_leave(struct husk_session *session)
{
	pthread_mutex_lock(&session->lock);
	if (--session->running == 0)
		pthread_cond_broadcast(&session->idle);
	shortage_call_ended(&session->shortage);
	pthread_mutex_unlock(&session->lock);
}

/* The lock is held, and given up meanwhile. wait_ms UINT64_MAX: as long as it takes. */
static bool wait_until_idle(struct husk_session *session, uint64_t wait_ms)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	if (wait_ms / 1000 < WAIT_MAX_S) {
		until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
		until.tv_sec += (time_t)(wait_ms / 1000) + until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} else {
		until.tv_sec += WAIT_MAX_S;
	}
	while (session->running > 0 || session->end == END_BEGUN) {
		if (wait_ms == 0 || pthread_cond_timedwait(&session->idle, &session->lock,
							   &until) == ETIMEDOUT)
			return false;
	}
	return true;
}

int husk_session_end(husk_session *session, uint64_t wait_ms)
{
	static const uint64_t one = 1;
	bool idle, mine;

	if (!session)
		return 1;
	pthread_mutex_lock(&session->lock);
	if (!session->closing)
		(void)!write(session->closing_fd, &one, sizeof(one));
	session->closing = true;
	idle = wait_until_idle(session, wait_ms);
	mine = idle && session->end == END_NOT;
	if (mine)
		session->end = END_BEGUN;
	pthread_mutex_unlock(&session->lock);
	if (!mine)
		return idle;
	session_remove_leftovers(session);
	let_go(session);
	pthread_mutex_lock(&session->lock);
	session->end = END_DONE;
	pthread_cond_broadcast(&session->idle);
	pthread_mutex_unlock(&session->lock);
	return 1;
}

husk_session *husk_session_close(husk_session *session)
{
	if (!session)
		return NULL;
	while (husk_session_end(session, UINT64_MAX) == 0)
		continue;
	release(session);
	return NULL;
}

void husk_session_spares(husk_session *session, struct husk_spares *ret)
{
	struct husk_spares full = {0};
	size_t size = ret->size < sizeof(full) ? ret->size : sizeof(full);

	if (session && enter(session, NULL) == 0) {
		spares_count(session->spares, &full);
		session_leave(session);
	}
	full.size = ret->size;
	memcpy(ret, &full, size);
}

const char *husk_session_workspace(const husk_session *session)
{
	return session ? session->path : NULL;
}

int husk_session_write(husk_session *session, const char *path, const void *data,
		       size_t size, struct husk_error *err)
{
	int r = session_enter(session, err);

	if (r < 0)
		return r;
	r = files_write(&session->workspace, path, data, size, err);
	session_leave(session);
	return r;
}

int husk_session_read(husk_session *session, const char *path, uint64_t max_bytes,
		      void **ret_data, size_t *ret_size, struct husk_error *err)
{
	int r = session_enter(session, err);

	if (r < 0)
		return r;
	r = files_read(&session->workspace, path, max_bytes, ret_data, ret_size, err);
	session_leave(session);
	return r;
}

int husk_session_list(husk_session *session, const char *subdir,
		      husk_listing **ret_listing, struct husk_error *err)
{
	int r = session_enter(session, err);

	if (r < 0)
		return r;
	r = files_list(&session->workspace, subdir, ret_listing, err);
	session_leave(session);
	return r;
}
