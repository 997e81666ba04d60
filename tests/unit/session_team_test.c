/* SPDX-License-Identifier: Apache-2.0 */
/* A large tree is looked at by several threads: the snapshot must be the one that a
 * single thread takes, whatever became of the files. */
#include "session/snapshot_team.h"

#include "tests/unit/session_call.h"
#include "tests/unit/skipping.h"

#include <sys/resource.h>

enum { DIRS = 20, EACH = 100, MANY = 3000 };

static struct snapshot *take(int root, struct snapshot_how how)
{
	struct snapshot *snapshot = NULL;

	assert_int_equal(snapshot_take(root, &how, &snapshot), 0);
	return snapshot;
}

/* DIRS directories of EACH files, and one of more than one piece of work. */
static void make_large(int ws)
{
	char path[64];

	make_dir(ws, "many");
	for (int d = 0; d < DIRS; d++) {
		(void)snprintf(path, sizeof(path), "d%d", d);
		make_dir(ws, path);
		for (int f = 0; f < EACH; f++) {
			(void)snprintf(path, sizeof(path), "d%d/f%d", d, f);
			put(ws, path, "1");
		}
	}
	for (int f = 0; f < MANY; f++) {
		(void)snprintf(path, sizeof(path), "many/f%d", f);
		put(ws, path, "1");
	}
}

static void assert_same_file(const struct snapshot *a, const struct snapshot_file *x,
			     const struct snapshot *b, const struct snapshot_file *y)
{
	assert_string_equal(snapshot_name(a, x->name), snapshot_name(b, y->name));
	assert_int_equal(x->ino, y->ino);
	assert_int_equal(x->size, y->size);
	assert_int_equal(x->mtime, y->mtime);
	assert_int_equal(x->ctime, y->ctime);
}

/* Directories come in the same order; files stand together by directory, in any order of
 * directories. */
static void assert_same(const struct snapshot *a, const struct snapshot *b)
{
	assert_int_equal(a->dir_count, b->dir_count);
	assert_int_equal(a->file_count, b->file_count);
	assert_int_equal(a->newest, b->newest);
	for (uint32_t d = 0; d < a->dir_count; d++) {
		const struct snapshot_dir *x = snapshot_dirs(a) + d;
		const struct snapshot_dir *y = snapshot_dirs(b) + d;

		assert_string_equal(snapshot_name(a, x->name), snapshot_name(b, y->name));
		assert_int_equal(x->file_count, y->file_count);
		assert_int_equal(x->state, y->state);
		for (uint32_t i = 0; i < x->file_count; i++)
			assert_same_file(a, snapshot_files(a) + x->first_file + i, b,
					 snapshot_files(b) + y->first_file + i);
	}
}

/* Taken from `old` by a team and by one thread, as if no directory had changed: so that
 * what is not there any more has to be found out file by file. */
static void compare(int ws, const struct snapshot *old)
{
	struct snapshot *team =
	    take(ws, (struct snapshot_how){.old = old, .trust_ctime = true});
	struct snapshot *alone = take(
	    ws, (struct snapshot_how){.old = old, .trust_ctime = true, .alone = true});

	assert_same(team, alone);
	snapshot_unref(team);
	snapshot_unref(alone);
}

static void a_team_sees_what_one_sees(void **state)
{
	struct tree tree = tree_open_large();
	struct snapshot *old;
	(void)state;

	make_large(tree.ws);
	old = take(tree.ws, (struct snapshot_how){0});
	assert_int_equal(old->file_count, DIRS * EACH + MANY);
	compare(tree.ws, old);
	put(tree.ws, "many/f0", "longer");
	put(tree.ws, "d3/new", "x");
	put(tree.ws, "new", "x");
	assert_int_equal(unlinkat(tree.ws, "many/f2999", 0), 0);
	assert_int_equal(unlinkat(tree.ws, "d0/f0", 0), 0);
	assert_int_equal(symlinkat("f1", tree.ws, "d0/f0"), 0);
	assert_int_equal(renameat(tree.ws, "d5", tree.ws, "e5"), 0);
	make_dir(tree.ws, "d5");
	compare(tree.ws, old);
	snapshot_unref(old);
	tree_close(&tree);
}

/* The piece of a file that went meanwhile, given without a look at the directory. */
static void what_went_meanwhile_is_left_out(void **state)
{
	struct tree tree = tree_open_large();
	const struct snapshot_file *file;
	struct snapshot_team *team;
	struct snapshot *old;
	uint32_t first;
	(void)state;

	make_large(tree.ws);
	old = take(tree.ws, (struct snapshot_how){0});
	team = snapshot_team_new(old, INT64_MAX);
	if (!team) { /* one processor */
		snapshot_unref(old);
		tree_close(&tree);
		skip_because("one processor: no team");
	}
	assert_int_equal(unlinkat(tree.ws, "many/f0", 0), 0);
	assert_int_equal(unlinkat(tree.ws, "many/f1", 0), 0);
	make_dir(tree.ws, "many/f1");
	first = snapshot_dirs(old)[old->dir_count - 1].first_file;
	assert_string_equal(
	    snapshot_name(old, snapshot_dirs(old)[old->dir_count - 1].name), "many");
	{
		int many = open_dir(tree.ws, "many");

		assert_int_equal(snapshot_team_give(team, many, 7, first, MANY), 0);
		assert_int_equal(close(many), 0);
	}
	snapshot_team_finish(team);
	assert_int_equal(snapshot_team_count(team), (MANY + TEAM_CHUNK - 1) / TEAM_CHUNK);
	for (uint32_t i = 0; i < snapshot_team_count(team); i++) {
		assert_int_equal(snapshot_team_piece(team, i)->error, 0);
		assert_int_equal(snapshot_team_piece(team, i)->dir, 7);
	}
	assert_null(snapshot_team_file(team, first));
	assert_null(snapshot_team_file(team, first + 1));
	file = snapshot_team_file(team, first + 2);
	assert_non_null(file);
	assert_int_equal(file->size, 1);
	snapshot_team_free(team);
	snapshot_unref(old);
	tree_close(&tree);
}

static void shut_directories_to(struct tree *tree)
{
	struct snapshot *old, *team = NULL, *alone = NULL;
	struct snapshot_how how = {0};

	become_user(tree);
	make_large(tree->ws);
	CHECK(snapshot_take(tree->ws, &how, &old) == 0);
	/* Readable, so that it can be entered, but its files cannot be looked at. */
	CHECK(fchmodat(tree->ws, "many", 0400, 0) == 0);
	for (uint32_t d = 0; d < old->dir_count; d++) {
		struct stat st;

		if (strcmp(snapshot_name(old, snapshot_dirs(old)[d].name), "many") != 0)
			continue;
		CHECK(fstatat(tree->ws, "many", &st, 0) == 0);
		snapshot_dirs(old)[d].ctime =
		    st.st_ctim.tv_sec * INT64_C(1000000000) + st.st_ctim.tv_nsec;
	}
	how = (struct snapshot_how){.old = old, .trust_ctime = true};
	CHECK(snapshot_take(tree->ws, &how, &team) == 0);
	how.alone = true;
	CHECK(snapshot_take(tree->ws, &how, &alone) == 0);
	CHECK(team->file_count == DIRS * EACH);
	CHECK(alone->file_count == DIRS * EACH);
	CHECK(snapshot_hides(team) && snapshot_hides(alone));
	CHECK(fchmodat(tree->ws, "many", 0700, 0) == 0);
	snapshot_unref(old);
	snapshot_unref(team);
	snapshot_unref(alone);
}

static void shut_directories_are_hidden(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(shut_directories_to, &tree);
	tree_close(&tree);
}

/* So few that no piece can be given out, and then so few that the walk itself just gets
 * by. */
static void few_descriptors_will_do(void **state)
{
	struct tree tree = tree_open_large();
	struct snapshot *old, *snapshot;
	struct rlimit limit, few;
	int lowest;
	(void)state;

	make_large(tree.ws);
	old = take(tree.ws, (struct snapshot_how){0});
	lowest = dup(tree.ws);
	(void)close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	for (int more = 2; more < 8; more++) {
		int r;

		snapshot = NULL;
		few.rlim_cur = (rlim_t)(lowest + more);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		r = snapshot_take(tree.ws,
				  &(struct snapshot_how){.old = old, .trust_ctime = true},
				  &snapshot);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		assert_int_equal(r, 0);
		assert_int_equal(snapshot->file_count, old->file_count);
		snapshot_unref(snapshot);
	}
	snapshot_unref(old);
	tree_close(&tree);
}

/* Nothing is made up for what was not looked at. */
static void what_takes_too_long_is_cut(void **state)
{
	struct tree tree = tree_open_large();
	struct snapshot *old, *late;
	(void)state;

	make_large(tree.ws);
	late = take(tree.ws, (struct snapshot_how){.until = 1});
	assert_true(late->cut);
	assert_true(late->file_count < 300);
	snapshot_unref(late);
	old = take(tree.ws, (struct snapshot_how){0});
	assert_false(old->cut);
	late = take(tree.ws,
		    (struct snapshot_how){.old = old, .trust_ctime = true, .until = 1});
	assert_true(late->cut);
	assert_true(late->file_count < 300);
	snapshot_unref(late);
	snapshot_unref(old);
	tree_close(&tree);
}

static void a_diff_of_a_large_tree_tells_all(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	make_large(c.tree.ws);
	begin(&c);
	assert_changes(&c, "");
	begin(&c);
	put(c.tree.ws, "many/f17", "2");
	put(c.tree.ws, "d9/f1", "longer");
	put(c.tree.ws, "d9/new", "x");
	assert_int_equal(unlinkat(c.tree.ws, "d10/f5", 0), 0);
	assert_changes(&c, "-d10/f5 *d9/f1 +d9/new *many/f17");
	begin(&c);
	assert_changes(&c, "");
	call_close(&c);
}

int main(void)
{
	const struct CMUnitTest session_team[] = {
	    cmocka_unit_test(a_team_sees_what_one_sees),
	    cmocka_unit_test(what_went_meanwhile_is_left_out),
	    cmocka_unit_test(shut_directories_are_hidden),
	    cmocka_unit_test(few_descriptors_will_do),
	    cmocka_unit_test(what_takes_too_long_is_cut),
	    cmocka_unit_test(a_diff_of_a_large_tree_tells_all),
	};

	return cmocka_run_group_tests(session_team, NULL, NULL);
}
