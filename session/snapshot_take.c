/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a snapshot: a walk, depth first, with the directories that are yet to be gone
 * into in the snapshot itself. */
#include "session/snapshot.h"

#include "base/clock.h"
#include "base/temp_file.h"
#include "session/snapshot_team.h"
#include "session/stamp.h"
#include "session/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Taking a snapshot: where it is, and what it works with. Pointers into the arrays do not
 * outlive an addition; indexes do. */
struct taker {
	const struct snapshot_how *how;
	struct snapshot *snap;
	struct walk walk;
	uint32_t cur; /* the directory where the walk stands */
	/* Looks at the files whose names are known, or NULL. They are added at the end.
	 */
	struct snapshot_team *team;
};

static struct snapshot_dir *dir_at(const struct taker *t, uint32_t dir)
{
	return snapshot_dirs(t->snap) + dir;
}

static const struct snapshot_dir *twin_of(const struct taker *t, uint32_t dir)
{
	uint32_t twin = dir_at(t, dir)->twin;

	return twin == SNAPSHOT_NONE ? NULL : snapshot_dirs(t->how->old) + twin;
}

/* Add the file `name` of the directory where the walk stands; whatever else it is by now
 * is passed over. */
static int add_file_by_name(struct taker *t, const char *name, bool *ret_is_dir)
{
	struct snapshot_file file;
	struct stat st;

	*ret_is_dir = false;
	if (fstatat(walk_fd(&t->walk), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	*ret_is_dir = S_ISDIR(st.st_mode);
	if (!S_ISREG(st.st_mode))
		return 0;
	/* Not the workspace's: a writer of ours was killed before it could rename it. */
	if (temp_file_is(TEMP_FILE_WORKSPACE, name) &&
	    temp_file_sweep(walk_fd(&t->walk), name))
		return 0;
	file = (struct snapshot_file){
	    .ino = st.st_ino,
	    .size = (uint64_t)st.st_size,
	    .mtime = stamp_from(&st.st_mtim),
	    .ctime = stamp_from(&st.st_ctim),
	};
	return snapshot_add_file(t->snap, name, &file);
}

/* Directories are added after the files: both must stand together. Their names wait here.
 */
static int read_entries(struct taker *t, struct buffer *dirs)
{
	const bool is_top = t->cur == 0 && t->how->skip_deps;
	struct walk_entry entry;
	int r;

	walk_rewind(&t->walk);
	while ((r = walk_next(&t->walk, &entry)) > 0) {
		bool is_dir = entry.type == DT_DIR;

		r = 0;
		if (entry.type == DT_REG || entry.type == DT_UNKNOWN)
			r = add_file_by_name(t, entry.name, &is_dir);
		if (r == 0 && is_dir && !(is_top && strcmp(entry.name, ".deps") == 0))
			r = buffer_add(dirs, entry.name, strlen(entry.name) + 1);
		if (r < 0)
			return r == -EFBIG ? snapshot_full(t->snap) : r;
	}
	return r;
}

static int by_name(const void *a, const void *b, void *names)
{
	const uint32_t *x = a, *y = b; /* the first member of either struct */

	return strcmp((const char *)names + *x, (const char *)names + *y);
}

/* Find the twins of the directories of `dir` among those of its own twin. */
static void pair_dirs(struct taker *t, uint32_t dir)
{
	const struct snapshot_dir *self = dir_at(t, dir), *twin = twin_of(t, dir);
	uint32_t i = 0, j = 0;

	while (twin && i < self->dir_count && j < twin->dir_count) {
		struct snapshot_dir *mine = dir_at(t, self->first_dir + i);
		const struct snapshot_dir *old =
		    snapshot_dirs(t->how->old) + twin->first_dir + j;
		int order = strcmp(snapshot_name(t->snap, mine->name),
				   snapshot_name(t->how->old, old->name));

		if (order == 0)
			mine->twin = twin->first_dir + j;
		i += order <= 0;
		j += order >= 0;
	}
}

/* Read the directory where the walk stands from the disk. */
static int read_dir(struct taker *t)
{
	CLEANUP_BUFFER struct buffer names = BUFFER_INIT(SNAPSHOT_NAMES_MAX);
	struct snapshot *snap = t->snap;
	uint32_t first_file = snap->file_count, first_dir = snap->dir_count;
	struct snapshot_dir *dir;
	int r = read_entries(t, &names);

	for (size_t at = 0; r == 0 && at < names.size; at += strlen(names.data + at) + 1)
		r = snapshot_add_dir(snap, t->cur, names.data + at, SNAPSHOT_NONE);
	dir = dir_at(t, t->cur);
	dir->first_file = first_file;
	dir->file_count = snap->file_count - first_file;
	dir->first_dir = first_dir;
	dir->dir_count = snap->dir_count - first_dir;
	if (dir->file_count > 1)
		qsort_r(snapshot_files(snap) + first_file, dir->file_count,
			sizeof(struct snapshot_file), by_name, snap->names.data);
	if (dir->dir_count > 1)
		qsort_r(snapshot_dirs(snap) + first_dir, dir->dir_count,
			sizeof(struct snapshot_dir), by_name, snap->names.data);
	pair_dirs(t, t->cur);
	return r;
}

/* Take over one file of the twin; its state is read again unless only names are wanted.
 */
static int copy_file(struct taker *t, const struct snapshot_file *old)
{
	const char *name = snapshot_name(t->how->old, old->name);
	struct snapshot_file file = *old;
	bool is_dir;

	return t->how->names_only ? snapshot_add_file(t->snap, name, &file)
				  : add_file_by_name(t, name, &is_dir);
}

/* Take the names of `dir` from its twin, which has the same. */
static int copy_dir(struct taker *t, uint32_t dir)
{
	const struct snapshot *old = t->how->old;
	const struct snapshot_dir twin = *twin_of(t, dir);
	uint32_t first_file = t->snap->file_count, first_dir = t->snap->dir_count;
	struct snapshot_dir *self;
	int r = 0;

	if (t->team)
		r = snapshot_team_give(t->team, walk_fd(&t->walk), dir, twin.first_file,
				       twin.file_count);
	if (r == -EFBIG)
		return snapshot_full(t->snap);
	for (uint32_t i = 0; r == 0 && !t->team && i < twin.file_count; i++)
		r = copy_file(t, snapshot_files(old) + twin.first_file + i);
	for (uint32_t i = 0; r == 0 && i < twin.dir_count; i++) {
		const struct snapshot_dir *child =
		    snapshot_dirs(old) + twin.first_dir + i;

		r = snapshot_add_dir(t->snap, dir, snapshot_name(old, child->name),
				     twin.first_dir + i);
	}
	self = dir_at(t, dir);
	self->first_file = first_file;
	self->file_count = t->snap->file_count - first_file;
	self->first_dir = first_dir;
	self->dir_count = t->snap->dir_count - first_dir;
	return r;
}

/* Note what dir is, and tell whether its twin has the same names. */
static bool identify(struct taker *t, uint32_t dir, const struct stat *st)
{
	const struct snapshot_dir *twin = twin_of(t, dir);
	struct snapshot_dir *self = dir_at(t, dir);

	self->ino = st->st_ino;
	self->ctime = stamp_from(&st->st_ctim);
	self->state = SNAPSHOT_READ;
	return twin && t->how->trust_ctime && twin->state == SNAPSHOT_READ &&
	       twin->ino == self->ino && twin->ctime == self->ctime;
}

/* What was added for a directory that turns out to be unreadable is taken back: half of
 * it would look as if the rest had been deleted. */
static void hide_files(struct taker *t, uint32_t dir, int why)
{
	struct snapshot_dir *self = dir_at(t, dir);

	if (self->file_count > 0)
		t->snap->file_count = self->first_file;
	t->snap->files.size = t->snap->file_count * sizeof(struct snapshot_file);
	self->file_count = 0;
	self->state = SNAPSHOT_HIDDEN;
	if (dir == 0)
		t->snap->root_errno = why;
}

static void hide(struct taker *t, uint32_t dir, int why)
{
	struct snapshot_dir *self = dir_at(t, dir);

	hide_files(t, dir, why);
	if (self->dir_count > 0)
		t->snap->dir_count = self->first_dir;
	t->snap->dirs.size = t->snap->dir_count * sizeof(struct snapshot_dir);
	self->dir_count = 0;
}

/* Take the directory where the walk stands. */
static int take_here(struct taker *t, const struct stat *st)
{
	bool same = identify(t, t->cur, st);
	int r = same ? copy_dir(t, t->cur) : read_dir(t);

	if (r == 0 || r == -EFBIG || !walk_error_is_local(r))
		return r;
	hide(t, t->cur, -r);
	return 0;
}

/* Where nothing needs to be read in a directory, one look from above will do. */
static bool take_from_above(struct taker *t, uint32_t dir, int *ret)
{
	const struct snapshot_dir *twin = twin_of(t, dir);
	const char *name = snapshot_name(t->snap, dir_at(t, dir)->name);
	struct stat st;

	if (!twin || !t->how->trust_ctime || twin->dir_count > 0 ||
	    (twin->file_count > 0 && !t->how->names_only))
		return false;
	if (fstatat(walk_fd(&t->walk), name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode) || !identify(t, dir, &st))
		return false;
	*ret = copy_dir(t, dir);
	return true;
}

/* Take the directory `dir`, which is in the one where the walk stands. */
static int take_child(struct taker *t, uint32_t dir)
{
	struct stat st;
	int r;

	if (take_from_above(t, dir, &r))
		return r;
	r = walk_enter(&t->walk, snapshot_name(t->snap, dir_at(t, dir)->name), &st);
	if (r == 0) {
		t->cur = dir;
		return take_here(t, &st);
	}
	if (!walk_error_is_local(r))
		return r;
	dir_at(t, dir)->state = r == -ENOENT || r == -ENOTDIR || r == -ELOOP
				    ? SNAPSHOT_GONE
				    : SNAPSHOT_HIDDEN;
	return 0;
}

/* Go back up. Directories on the way that cannot be found again are marked, and so is
 * what was not read of them. */
static int leave(struct taker *t)
{
	int lost = walk_leave(&t->walk);

	if (lost < 0)
		return lost;
	t->cur = dir_at(t, t->cur)->parent;
	for (; lost > 0; lost--) {
		struct snapshot_dir *dir = dir_at(t, t->cur);

		dir->state = SNAPSHOT_HIDDEN;
		t->cur = dir->parent;
	}
	return 0;
}

/* The whole tree, depth first. `next` has, for every level, the next directory to go
 * into. */
static int take_all(struct taker *t, const struct stat *st)
{
	CLEANUP_BUFFER struct buffer next = BUFFER_INIT(SIZE_MAX / 2);
	int r = take_here(t, st);

	for (;;) {
		uint32_t at, end;

		if (r < 0)
			return r;
		/* Levels are entered one at a time, and left any number at a time. */
		while (next.size / sizeof(at) > t->walk.depth + 1)
			next.size -= sizeof(at);
		if (next.size / sizeof(at) <= t->walk.depth) {
			at = dir_at(t, t->cur)->first_dir;
			r = buffer_add(&next, &at, sizeof(at));
			continue;
		}
		memcpy(&at, next.data + next.size - sizeof(at), sizeof(at));
		end = dir_at(t, t->cur)->first_dir + dir_at(t, t->cur)->dir_count;
		if (at < end) {
			uint32_t after = at + 1;

			memcpy(next.data + next.size - sizeof(at), &after, sizeof(after));
			r = take_child(t, at);
		} else if (t->walk.depth > 0) {
			r = leave(t);
		} else {
			return 0;
		}
	}
}

static int collect_piece(struct taker *t, const struct team_piece *piece)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < piece->count; i++) {
		const struct snapshot_file *found =
		    snapshot_team_file(t->team, piece->first + i);
		struct snapshot_file file;

		if (!found)
			continue;
		file = *found;
		r = snapshot_add_file(t->snap, snapshot_name(t->how->old, found->name),
				      &file);
	}
	dir_at(t, piece->dir)->file_count =
	    t->snap->file_count - dir_at(t, piece->dir)->first_file;
	return r;
}

/* Add what the team has found. Where a directory turned out to be unreadable, what was
 * added for it is taken back. */
static int collect(struct taker *t)
{
	uint32_t count, dir = SNAPSHOT_NONE;
	bool shut = false;
	int r = 0;

	snapshot_team_finish(t->team);
	count = snapshot_team_count(t->team);
	for (uint32_t i = 0; r == 0 && i < count; i++) {
		const struct team_piece *piece = snapshot_team_piece(t->team, i);

		if (piece->dir != dir) {
			dir = piece->dir;
			dir_at(t, dir)->first_file = t->snap->file_count;
			shut = false;
		}
		if (piece->error < 0 && !walk_error_is_local(piece->error))
			return piece->error;
		if (piece->error < 0 && !shut) {
			shut = true;
			hide_files(t, dir, -piece->error);
		}
		if (!shut)
			r = collect_piece(t, piece);
	}
	return r;
}

static int take_root(struct taker *t, int root)
{
	int r =
	    snapshot_add_dir(t->snap, SNAPSHOT_NONE, "", t->how->old ? 0 : SNAPSHOT_NONE);
	struct stat st;

	if (r < 0)
		return r;
	r = walk_init(&t->walk, root, false);
	if (r == 0 && fstat(walk_fd(&t->walk), &st) < 0)
		r = -errno;
	if (r == 0)
		return take_all(t, &st);
	if (!walk_error_is_local(r))
		return r;
	dir_at(t, 0)->state = SNAPSHOT_HIDDEN;
	t->snap->root_errno = -r;
	return 0;
}

static int take(int root, const struct snapshot_how *how, struct snapshot_team *team,
		int64_t until, struct snapshot **ret)
{
	struct taker t = {
	    .how = how, .walk = WALK_INIT, .snap = snapshot_new(how->old), .team = team};
	int r;

	if (!t.snap)
		return -ENOMEM;
	if (how->max)
		t.snap->max = how->max;
	t.snap->until = until;
	t.snap->begun = clock_ns();
	t.snap->clock_offset = stamp_clock_offset();
	r = take_root(&t, root);
	if (team && (r == 0 || r == -EFBIG)) {
		int collected = collect(&t);

		r = collected < 0 ? collected : r;
	}
	walk_deinit(&t.walk);
	if (r < 0 && r != -EFBIG) {
		snapshot_unref(t.snap);
		return r;
	}
	*ret = t.snap;
	return 0;
}

/* The work of a team holds descriptors: where the walk lacked one, it tries alone. */
int snapshot_take(int root, const struct snapshot_how *how, struct snapshot **ret)
{
	const int64_t until =
	    how->until ? how->until
		       : clock_ns() + SNAPSHOT_SECONDS_MAX * INT64_C(1000000000);
	struct snapshot_team *team = NULL;
	int r;

	if (how->old && how->trust_ctime && !how->names_only && !how->alone)
		team = snapshot_team_new(how->old, until);
	r = take(root, how, team, until, ret);
	if (!team)
		return r;
	snapshot_team_free(team);
	return r == -EMFILE || r == -ENFILE ? take(root, how, NULL, until, ret) : r;
}
