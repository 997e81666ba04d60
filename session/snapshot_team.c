/* SPDX-License-Identifier: Apache-2.0 */
#include "session/snapshot_team.h"

#include "base/clock.h"
#include "base/fd.h"
#include "session/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct snapshot_team {
	const struct snapshot *old;
	int64_t until;
	struct snapshot_file *found; /* a slot for each file of old */
	pthread_t helpers[TEAM_HELPERS_MAX];
	int helper_count;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t more;  /* there is work, or there will be none any more */
	pthread_cond_t less;  /* a piece is done */
	struct buffer pieces; /* of struct team_piece; pieces are only added */
	uint32_t taken;	      /* pieces that somebody has begun */
	uint32_t done;
	bool over;
};

static struct team_piece *piece_at(const struct snapshot_team *team, uint32_t index)
{
	return (struct team_piece *)(void *)team->pieces.data + index;
}

static uint32_t piece_count(const struct snapshot_team *team)
{
	return (uint32_t)(team->pieces.size / sizeof(struct team_piece));
}

/* -- the work ---------------------------------------------------------------------------
 */

static int look_at(struct snapshot_team *team, int dir, uint32_t index)
{
	const struct snapshot_file *old = snapshot_files(team->old) + index;
	struct snapshot_file *found = team->found + index;
	struct stat st;

	found->name = SNAPSHOT_NONE;
	if (fstatat(dir, snapshot_name(team->old, old->name), &st, AT_SYMLINK_NOFOLLOW) <
	    0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISREG(st.st_mode))
		*found = (struct snapshot_file){
		    .name = old->name,
		    .ino = st.st_ino,
		    .size = (uint64_t)st.st_size,
		    .mtime = stamp_from(&st.st_mtim),
		    .ctime = stamp_from(&st.st_ctim),
		};
	return 0;
}

static void look_at_all(struct snapshot_team *team, int dir, struct team_piece *piece)
{
	for (uint32_t i = 0; i < piece->count && piece->error == 0; i++)
		piece->error = look_at(team, dir, piece->first + i);
}

/* Begin the next piece and do it; false where none is waiting. The lock is held, and
 * given up meanwhile: the array may move, the slots do not. */
static bool do_one(struct snapshot_team *team)
{
	uint32_t index = team->taken;
	struct team_piece piece;

	if (index >= piece_count(team))
		return false;
	team->taken++;
	piece = *piece_at(team, index);
	(void)pthread_mutex_unlock(&team->lock);
	look_at_all(team, piece.fd, &piece);
	fd_close(&piece.fd);
	(void)pthread_mutex_lock(&team->lock);
	*piece_at(team, index) = piece;
	team->done++;
	(void)pthread_cond_signal(&team->less);
	return true;
}

static void *helper_main(void *user)
{
	struct snapshot_team *team = user;

	(void)pthread_mutex_lock(&team->lock);
	for (;;) {
		if (do_one(team))
			continue;
		if (team->over)
			break;
		(void)pthread_cond_wait(&team->more, &team->lock);
	}
	(void)pthread_mutex_unlock(&team->lock);
	return NULL;
}

/* -- the team ---------------------------------------------------------------------------
 */

static int helpers_wanted(const struct snapshot *old)
{
	cpu_set_t cpus;
	int helpers;

	if (old->file_count < TEAM_FILES_MIN ||
	    sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return 0;
	helpers = CPU_COUNT(&cpus) - 1;
	return helpers < TEAM_HELPERS_MAX ? helpers : TEAM_HELPERS_MAX;
}

/* Helpers take no signal: those are the caller's, on its own threads. */
static void start_helpers(struct snapshot_team *team, int wanted)
{
	pthread_attr_t attr;
	sigset_t all;

	(void)sigfillset(&all);
	if (pthread_attr_init(&attr) != 0)
		return;
	if (pthread_attr_setsigmask_np(&attr, &all) == 0)
		while (team->helper_count < wanted &&
		       pthread_create(&team->helpers[team->helper_count], &attr,
				      helper_main, team) == 0)
			team->helper_count++;
	(void)pthread_attr_destroy(&attr);
}

struct snapshot_team *snapshot_team_new(const struct snapshot *old, int64_t until)
{
	int wanted = helpers_wanted(old);
	struct snapshot_team *team = wanted > 0 ? calloc(1, sizeof(*team)) : NULL;

	if (!team)
		return NULL;
	team->old = old;
	team->until = until;
	team->pieces = BUFFER_INIT(SIZE_MAX / 2);
	(void)pthread_mutex_init(&team->lock, NULL);
	(void)pthread_cond_init(&team->more, NULL);
	(void)pthread_cond_init(&team->less, NULL);
	team->found = malloc(old->file_count * sizeof(*team->found));
	if (team->found)
		start_helpers(team, wanted);
	return team->helper_count > 0 ? team : snapshot_team_free(team);
}

struct snapshot_team *snapshot_team_free(struct snapshot_team *team)
{
	if (!team)
		return NULL;
	snapshot_team_finish(team);
	buffer_deinit(&team->pieces);
	free(team->found);
	(void)pthread_cond_destroy(&team->less);
	(void)pthread_cond_destroy(&team->more);
	(void)pthread_mutex_destroy(&team->lock);
	free(team);
	return NULL;
}

/* -- giving out and taking in -----------------------------------------------------------
 */

/* Wait until fewer than `max` pieces are waiting or being done, helping. The lock is
 * held.
 */
static void settle(struct snapshot_team *team, uint32_t max)
{
	while (piece_count(team) - team->done >= max)
		if (!do_one(team))
			(void)pthread_cond_wait(&team->less, &team->lock);
}

static int give_piece(struct snapshot_team *team, const struct team_piece *piece)
{
	int r;

	(void)pthread_mutex_lock(&team->lock);
	settle(team, TEAM_WAITING_MAX);
	r = buffer_add(&team->pieces, piece, sizeof(*piece));
	(void)pthread_cond_signal(&team->more);
	(void)pthread_mutex_unlock(&team->lock);
	return r;
}

/* There is no descriptor to give out: do the piece here, and let the others get done with
 * theirs. */
static int do_here(struct snapshot_team *team, int dir, struct team_piece *piece)
{
	int r;

	look_at_all(team, dir, piece);
	(void)pthread_mutex_lock(&team->lock);
	settle(team, 1);
	r = buffer_add(&team->pieces, piece, sizeof(*piece));
	if (r == 0) {
		team->taken++;
		team->done++;
	}
	(void)pthread_mutex_unlock(&team->lock);
	return r;
}

int snapshot_team_give(struct snapshot_team *team, int dir_fd, uint32_t dir,
		       uint32_t first, uint32_t count)
{
	int r = 0;

	for (uint32_t at = 0; r == 0 && at < count; at += TEAM_CHUNK) {
		struct team_piece piece = {
		    .fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3),
		    .dir = dir,
		    .first = first + at,
		    .count = count - at < TEAM_CHUNK ? count - at : TEAM_CHUNK,
		};

		if (clock_ns() >= team->until) {
			fd_close(&piece.fd);
			return -EFBIG;
		}
		if (piece.fd < 0) {
			r = do_here(team, dir_fd, &piece);
			continue;
		}
		r = give_piece(team, &piece);
		if (r < 0)
			fd_close(&piece.fd);
	}
	return r;
}

void snapshot_team_finish(struct snapshot_team *team)
{
	(void)pthread_mutex_lock(&team->lock);
	team->over = true;
	(void)pthread_cond_broadcast(&team->more);
	while (do_one(team))
		;
	(void)pthread_mutex_unlock(&team->lock);
	while (team->helper_count > 0)
		(void)pthread_join(team->helpers[--team->helper_count], NULL);
}

uint32_t snapshot_team_count(const struct snapshot_team *team)
{
	return piece_count(team);
}

const struct team_piece *snapshot_team_piece(const struct snapshot_team *team,
					     uint32_t index)
{
	return piece_at(team, index);
}

const struct snapshot_file *snapshot_team_file(const struct snapshot_team *team,
					       uint32_t old)
{
	return team->found[old].name == SNAPSHOT_NONE ? NULL : team->found + old;
}
