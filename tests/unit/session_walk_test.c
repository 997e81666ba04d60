/* SPDX-License-Identifier: Apache-2.0 */
/* Walking and removing trees that a hostile program has built. */
#include "session/walk.h"

#include "session/beneath.h"
#include "session/remove.h"
#include "session/snapshot.h"

#include "tests/unit/session_tree.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

static struct snapshot *take(int root, struct snapshot_how how)
{
	struct snapshot *snapshot = NULL;

	assert_int_equal(snapshot_take(root, &how, &snapshot), 0);
	return snapshot;
}

/* The file by path, or NULL. */
static const struct snapshot_file *find(const struct snapshot *snapshot, const char *path)
{
	for (uint32_t d = 0; d < snapshot->dir_count; d++) {
		const struct snapshot_dir *dir = snapshot_dirs(snapshot) + d;

		for (uint32_t i = 0; i < dir->file_count; i++) {
			struct buffer at = BUFFER_INIT(1 << 20);
			const struct snapshot_file *file =
			    snapshot_files(snapshot) + dir->first_file + i;
			bool same;

			assert_int_equal(snapshot_add_path(snapshot, d, &at), 0);
			assert_int_equal(
			    buffer_add_text(&at, snapshot_name(snapshot, file->name)), 0);
			same = strcmp(at.data, path) == 0;
			buffer_deinit(&at);
			if (same)
				return file;
		}
	}
	return NULL;
}

static int count_open(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void snapshot_knows_the_files(void **state)
{
	struct tree tree = tree_open();
	struct snapshot *snapshot;
	struct stat st;
	(void)state;

	make_dir(tree.ws, "d");
	make_dir(tree.ws, "d/e");
	make_dir(tree.ws, "empty");
	put(tree.ws, "top", "12345");
	put(tree.ws, "d/e/deep", "123");
	put(tree.ws, "d/\xff\n", "");
	snapshot = take(tree.ws, (struct snapshot_how){0});
	assert_int_equal(snapshot->file_count, 3);
	assert_int_equal(snapshot->dir_count, 4);
	assert_false(snapshot->cut);
	assert_int_equal(find(snapshot, "top")->size, 5);
	assert_int_equal(find(snapshot, "d/e/deep")->size, 3);
	assert_non_null(find(snapshot, "d/\xff\n"));
	assert_int_equal(fstatat(tree.ws, "top", &st, 0), 0);
	assert_int_equal(find(snapshot, "top")->ino, st.st_ino);
	assert_null(snapshot_unref(snapshot));
	assert_null(snapshot_unref(NULL));
	tree_close(&tree);
}

static void snapshot_passes_over_what_is_no_file(void **state)
{
	struct tree tree = tree_open();
	struct snapshot *snapshot;
	(void)state;

	make_oddities(&tree);
	put(tree.ws, "file", "x");
	snapshot = take(tree.ws, (struct snapshot_how){0});
	assert_int_equal(snapshot->file_count, 1);
	assert_int_equal(snapshot->dir_count, 1);
	snapshot_unref(snapshot);
	tree_close(&tree);
}

static void snapshot_leaves_out_only_the_top_deps(void **state)
{
	struct tree tree = tree_open();
	struct snapshot *snapshot;
	(void)state;

	make_dir(tree.ws, ".deps");
	make_dir(tree.ws, ".deps2");
	make_dir(tree.ws, "sub");
	make_dir(tree.ws, "sub/.deps");
	put(tree.ws, ".deps/hidden", "x");
	put(tree.ws, ".deps2/x", "x");
	put(tree.ws, "sub/.deps/x", "x");
	put(tree.ws, ".depsx", "x");
	snapshot = take(tree.ws, (struct snapshot_how){.skip_deps = true});
	assert_int_equal(snapshot->file_count, 3);
	assert_null(find(snapshot, ".deps/hidden"));
	snapshot_unref(snapshot);
	snapshot = take(tree.ws, (struct snapshot_how){0});
	assert_non_null(find(snapshot, ".deps/hidden"));
	snapshot_unref(snapshot);
	tree_close(&tree);

	tree = tree_open();
	put(tree.ws, ".deps", "a file");
	snapshot = take(tree.ws, (struct snapshot_how){.skip_deps = true});
	assert_non_null(find(snapshot, ".deps"));
	snapshot_unref(snapshot);
	tree_close(&tree);
}

/* Every second level has a second branch, so that the walk must come back up all the way.
 */
static void walk_comes_back_from_the_deep(void **state)
{
	enum { DEPTH = 3000 };
	struct tree tree = tree_open_large();
	struct rlimit limit, few;
	struct snapshot *snapshot;
	int fd = dup(tree.ws), before, after;
	(void)state;

	for (int i = 0; i < DEPTH; i++) {
		int next;

		make_dir(fd, "a");
		make_dir(fd, "b");
		put(fd, "b/file", "x");
		next = open_dir(fd, "a");
		(void)close(fd);
		fd = next;
	}
	put(fd, "bottom", "y");
	(void)close(fd);
	before = count_open();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 32; /* a descriptor for a level would not do */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	snapshot = take(tree.ws, (struct snapshot_how){0});
	after = count_open();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(snapshot->file_count, DEPTH + 1);
	assert_int_equal(snapshot->dir_count, 2 * DEPTH + 1);
	assert_int_equal(before, after);
	snapshot_unref(snapshot);
	tree_close(&tree);
}

static void running_out_of_descriptors_is_an_error(void **state)
{
	struct tree tree = tree_open();
	struct snapshot *snapshot = NULL;
	struct rlimit limit, few;
	int lowest = dup(tree.ws), result;
	(void)state;

	(void)close(make_chain(tree.ws, "d", 20));
	(void)close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = (rlim_t)lowest + 4;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	result = snapshot_take(tree.ws, &(struct snapshot_how){0}, &snapshot);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(result, -EMFILE); /* and not a tree that looks empty below */
	assert_null(snapshot);
	tree_close(&tree);
}

static void unchanged_directories_are_not_read_again(void **state)
{
	struct tree tree = tree_open();
	struct snapshot *old, *new;
	(void)state;

	make_dir(tree.ws, "d");
	make_dir(tree.ws, "d/sub");
	make_dir(tree.ws, "e");
	put(tree.ws, "d/f", "1");
	put(tree.ws, "d/sub/g", "1");
	put(tree.ws, "e/h", "1");
	old = take(tree.ws, (struct snapshot_how){0});
	put(tree.ws, "d/f", "longer"); /* in place: d has the names that it had */
	put(tree.ws, "e/new", "x");
	assert_int_equal(unlinkat(tree.ws, "e/h", 0), 0);
	make_dir(tree.ws, "d/sub/more");
	put(tree.ws, "d/sub/more/i", "x");
	/* The ctimes of e and d/sub must differ from before, also on a kernel that gives
	 * two changes in one tick the same. */
	assert_int_equal(usleep(20000), 0);
	assert_int_equal(fchmodat(tree.ws, "e", 0755, 0), 0);
	assert_int_equal(fchmodat(tree.ws, "d/sub", 0755, 0), 0);

	new = take(tree.ws, (struct snapshot_how){
				.old = old, .trust_ctime = true, .names_only = true});
	assert_int_equal(new->file_count, 4);
	assert_int_equal(find(new, "d/f")->size, 1);
	assert_non_null(find(new, "e/new"));
	assert_null(find(new, "e/h"));
	assert_non_null(find(new, "d/sub/more/i"));
	assert_non_null(find(new, "d/sub/g"));
	snapshot_unref(old);
	old = new;
	new = take(tree.ws, (struct snapshot_how){.old = old, .trust_ctime = true});
	assert_int_equal(new->file_count, 4);
	assert_int_equal(find(new, "d/f")->size, 6);
	snapshot_unref(old);
	snapshot_unref(new);
	tree_close(&tree);
}

static void a_bound_cuts_the_snapshot(void **state)
{
	struct tree tree = tree_open();
	struct snapshot *snapshot;
	char name[32];
	(void)state;

	make_dir(tree.ws, "d");
	for (int i = 0; i < 50; i++) {
		(void)snprintf(name, sizeof(name), "d/%d", i);
		put(tree.ws, name, "x");
	}
	snapshot = take(tree.ws, (struct snapshot_how){.max = 52});
	assert_false(snapshot->cut);
	snapshot_unref(snapshot);
	snapshot = take(tree.ws, (struct snapshot_how){.max = 20});
	assert_true(snapshot->cut);
	assert_int_equal(snapshot->file_count + snapshot->dir_count, 20);
	snapshot_unref(snapshot);
	tree_close(&tree);
}

static void enter(struct walk *walk, const char *name, int times)
{
	struct stat st;

	for (int i = 0; i < times; i++)
		assert_int_equal(walk_enter(walk, name, &st), 0);
}

static void assert_stands_in(const struct walk *walk, int dir)
{
	struct stat a, b;

	assert_int_equal(fstat(walk_fd(walk), &a), 0);
	assert_int_equal(fstat(dir, &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);
	assert_int_equal(a.st_dev, b.st_dev);
}

/* The innermost levels are moved to K while the walk is in them: ".." leads to K then. */
static void walk_never_climbs_out(void **state)
{
	CLEANUP_WALK struct walk walk = WALK_INIT;
	struct tree tree = tree_open();
	int second;
	(void)state;

	(void)close(make_chain(tree.ws, "d", 40));
	second = open_dir(tree.ws, "d/d");
	assert_int_equal(walk_init(&walk, tree.ws, false), 0);
	enter(&walk, "d", 40);
	assert_int_equal(renameat(second, "d", tree.k, "moved"), 0); /* the third */
	for (int i = 0; i < 37; i++)
		assert_int_equal(walk_leave(&walk), 0);
	assert_int_equal(walk.depth, 3);
	assert_int_equal(walk_leave(&walk), 0); /* to the second, not to K */
	assert_int_equal(walk.depth, 2);
	assert_stands_in(&walk, second);
	(void)close(second);
	tree_close(&tree);
}

static void walk_tells_what_it_lost(void **state)
{
	CLEANUP_WALK struct walk walk = WALK_INIT;
	struct tree tree = tree_open();
	int second, fifth;
	(void)state;

	(void)close(make_chain(tree.ws, "d", 40));
	second = open_dir(tree.ws, "d/d");
	fifth = open_dir(tree.ws, "d/d/d/d/d");
	assert_int_equal(walk_init(&walk, tree.ws, false), 0);
	enter(&walk, "d", 40);
	assert_int_equal(renameat(fifth, "d", tree.k, "sixth"), 0);
	assert_int_equal(renameat(second, "d", tree.k, "third"), 0);
	assert_int_equal(symlinkat("../../../K/third", second, "d"), 0);
	for (int i = 0; i < 34; i++)
		assert_int_equal(walk_leave(&walk), 0);
	assert_int_equal(walk.depth, 6);
	/* The fifth cannot be found from the sixth, nor from the root: third to fifth
	 * lost. */
	assert_int_equal(walk_leave(&walk), 3);
	assert_int_equal(walk.depth, 2);
	assert_stands_in(&walk, second);
	assert_int_equal(walk_leave(&walk), 0);
	assert_int_equal(walk_leave(&walk), 0);
	assert_stands_in(&walk, tree.ws);
	(void)close(second);
	(void)close(fifth);
	tree_close(&tree);
}

static void links_and_files_are_not_entered(void **state)
{
	CLEANUP_WALK struct walk walk = WALK_INIT;
	struct tree tree = tree_open();
	struct stat st;
	(void)state;

	make_oddities(&tree);
	put(tree.ws, "file", "x");
	assert_int_equal(walk_init(&walk, tree.ws, true), 0);
	assert_int_equal(walk_enter(&walk, "link-to-k", &st), -ELOOP);
	assert_int_equal(walk_enter(&walk, "self", &st), -ELOOP);
	assert_int_equal(walk_enter(&walk, "file", &st), -ENOTDIR);
	assert_int_equal(walk_enter(&walk, "pipe", &st), -ENOTDIR);
	assert_int_equal(walk_enter(&walk, "nothing", &st), -ENOENT);
	assert_int_equal(walk.depth, 0);
	tree_close(&tree);
}

/* A descriptor from before keeps the mounts from before, so the tree is opened anew. */
static void mount_inside(struct tree *tree)
{
	char at[96], from[96];

	own_mounts();
	CHECK(mkdirat(tree->ws, "m", 0755) == 0);
	(void)snprintf(at, sizeof(at), "%s/ws/m", tree->base);
	(void)snprintf(from, sizeof(from), "%s/K", tree->base);
	if (mount(from, at, NULL, MS_BIND, NULL) < 0)
		_exit(77);
	(void)snprintf(at, sizeof(at), "%s/ws", tree->base);
	tree->ws = openat(AT_FDCWD, at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(tree->ws >= 0);
}

/* A bind mount of the same file system: the device number does not give it away. */
static void mounts_are_not_crossed_by(struct tree *tree)
{
	struct snapshot *snapshot = NULL;
	struct remove_report report;

	mount_inside(tree);
	CHECK(openat(tree->ws, "m/secret", O_RDONLY) >= 0);
	CHECK(snapshot_take(tree->ws, &(struct snapshot_how){0}, &snapshot) == 0);
	CHECK(snapshot->file_count == 0);
	CHECK(snapshot->dir_count == 2);
	CHECK(snapshot_dirs(snapshot)[1].state == SNAPSHOT_HIDDEN);
	CHECK(remove_tree(tree->ws, &report) == -EBUSY);
	CHECK(report.failed == 1);
	CHECK(strcmp(report.first, "m") == 0);
}

static void mounts_are_not_crossed(void **state)
{
	struct tree tree = tree_open();
	struct canary canary = canary_look(&tree);
	(void)state;

	in_child(mounts_are_not_crossed_by, &tree);
	assert_canary(&tree, &canary);
	tree_close(&tree);
}

static void unreadable_is_hidden_to(struct tree *tree)
{
	struct snapshot *snapshot = NULL;

	become_user(tree);
	CHECK(mkdirat(tree->ws, "d", 0755) == 0);
	CHECK(mkdirat(tree->ws, "e", 0755) == 0);
	CHECK(close(openat(tree->ws, "d/f", O_CREAT | O_WRONLY, 0644)) == 0);
	CHECK(close(openat(tree->ws, "e/f", O_CREAT | O_WRONLY, 0644)) == 0);
	CHECK(close(openat(tree->ws, "top", O_CREAT | O_WRONLY, 0644)) == 0);
	CHECK(fchmodat(tree->ws, "d", 0000, 0) == 0);
	CHECK(fchmodat(tree->ws, "e", 0444, 0) == 0); /* names, but nothing about them */
	CHECK(snapshot_take(tree->ws, &(struct snapshot_how){0}, &snapshot) == 0);
	CHECK(snapshot->file_count == 1);
	CHECK(snapshot->dir_count == 3);
	CHECK(snapshot_dirs(snapshot)[1].state == SNAPSHOT_HIDDEN);
	CHECK(snapshot_dirs(snapshot)[2].state == SNAPSHOT_HIDDEN);
	snapshot_unref(snapshot);
	CHECK(fchmod(tree->ws, 0000) == 0);
	CHECK(snapshot_take(tree->ws, &(struct snapshot_how){0}, &snapshot) == 0);
	CHECK(snapshot->root_errno == EACCES);
	CHECK(snapshot->file_count == 0);
	snapshot_unref(snapshot);
}

static void unreadable_directories_are_hidden(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(unreadable_is_hidden_to, &tree);
	tree_close(&tree);
}

/* -- removing ---------------------------------------------------------------------------
 */

static void assert_empty(int dir)
{
	CLEANUP_WALK struct walk walk = WALK_INIT;
	struct walk_entry entry;

	assert_int_equal(walk_init(&walk, dir, false), 0);
	assert_int_equal(walk_next(&walk, &entry), 0);
}

static void removing_takes_all_kinds(void **state)
{
	struct tree tree = tree_open();
	struct canary canary = canary_look(&tree);
	struct remove_report report;
	(void)state;

	make_oddities(&tree);
	make_dir(tree.ws, "d");
	make_dir(tree.ws, "d/empty");
	put(tree.ws, "d/f", "x");
	assert_int_equal(linkat(tree.ws, "d/f", tree.ws, "twin", 0), 0);
	assert_int_equal(symlinkat("../../K", tree.ws, "d/k"), 0);
	assert_int_equal(remove_tree(tree.ws, &report), 0);
	assert_int_equal(report.removed, 9 + 5);
	assert_int_equal(report.failed, 0);
	assert_empty(tree.ws);
	assert_canary(&tree, &canary);
	tree_close(&tree);
}

static void removing_goes_50000_deep(void **state)
{
	struct tree tree = tree_open_large();
	struct remove_report report;
	struct snapshot *snapshot;
	int bottom = make_chain(tree.ws, "d", 50000);
	(void)state;

	put(bottom, "file", "x");
	(void)close(bottom);
	snapshot = take(tree.ws, (struct snapshot_how){0});
	assert_int_equal(snapshot->dir_count, 50001);
	assert_int_equal(snapshot->file_count, 1);
	snapshot_unref(snapshot);
	assert_int_equal(remove_tree(tree.ws, &report), 0);
	assert_int_equal(report.removed, 50001);
	assert_empty(tree.ws);
	tree_close(&tree);
}

/* More directories that hold something than are remembered at a time. */
static void removing_goes_wide(void **state)
{
	enum { WIDE = 10000 };
	struct tree tree = tree_open_large();
	struct remove_report report;
	char name[64];
	(void)state;

	for (int i = 0; i < WIDE; i++) {
		(void)snprintf(name, sizeof(name), "directory-%d", i);
		make_dir(tree.ws, name);
		(void)snprintf(name, sizeof(name), "directory-%d/file", i);
		put(tree.ws, name, "");
		(void)snprintf(name, sizeof(name), "file-%d", i);
		put(tree.ws, name, "");
	}
	assert_int_equal(remove_tree(tree.ws, &report), 0);
	assert_int_equal(report.removed, 3 * WIDE);
	assert_empty(tree.ws);
	tree_close(&tree);
}

static void removes_as_user(struct tree *tree)
{
	struct remove_report report;

	become_user(tree);
	CHECK(mkdirat(tree->ws, "a", 0755) == 0);
	CHECK(mkdirat(tree->ws, "a/b", 0755) == 0);
	CHECK(mkdirat(tree->ws, "a/b/c", 0755) == 0);
	CHECK(close(openat(tree->ws, "a/b/c/f", O_CREAT | O_WRONLY, 0000)) == 0);
	CHECK(close(openat(tree->ws, "a/b/g", O_CREAT | O_WRONLY, 0000)) == 0);
	CHECK(fchmodat(tree->ws, "a/b/c", 0555, 0) == 0);
	CHECK(fchmodat(tree->ws, "a/b", 0111, 0) == 0);
	CHECK(fchmodat(tree->ws, "a", 0000, 0) == 0);
	CHECK(remove_tree(tree->ws, &report) == 0);
	CHECK(report.removed == 5);
}

static void removing_opens_shut_directories(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(removes_as_user, &tree);
	assert_empty(tree.ws);
	tree_close(&tree);
}

/* A directory of another user: what is ours goes, the rest is reported, once. */
static void leaves_what_is_not_ours(struct tree *tree)
{
	struct remove_report report;

	if (geteuid() != 0)
		_exit(77);
	CHECK(mkdirat(tree->ws, "theirs", 0755) == 0);
	CHECK(close(openat(tree->ws, "theirs/f", O_CREAT | O_WRONLY, 0644)) == 0);
	CHECK(mkdirat(tree->ws, "ours", 0777) == 0);
	CHECK(fchmodat(tree->ws, "ours", 0777, 0) == 0);
	become_user(tree);
	CHECK(close(openat(tree->ws, "ours/f", O_CREAT | O_WRONLY, 0644)) == 0);
	CHECK(remove_tree(tree->ws, &report) == -EACCES);
	CHECK(report.failed == 1);
	CHECK(strcmp(report.first, "f") == 0);
	CHECK(!exists(tree->ws, "ours"));
	CHECK(exists(tree->ws, "theirs/f"));
}

static void what_cannot_be_removed_is_reported(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(leaves_what_is_not_ours, &tree);
	tree_close(&tree);
}

struct swapper {
	struct tree *tree;
	atomic_bool stop;
	atomic_ulong turns;
};

/* Swap directories for links to K and back, and move them to and fro. By single names in
 * directories that are held, so that this thread does not follow its own links. */
static void *swap(void *arg)
{
	struct swapper *swapper = arg;
	const int ws = swapper->tree->ws;
	unsigned long failed = 0; /* which is no matter: the other side is at work too */

	while (!atomic_load(&swapper->stop)) {
		int d = -1, e = -1;

		failed += mkdirat(ws, "d", 0755) < 0;
		d = openat(ws, "d", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		failed += mkdirat(d, "e", 0755) < 0;
		e = openat(d, "e", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		failed += mkdirat(e, "sub", 0755) < 0;
		(void)close(
		    openat(e, "f", O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644));
		failed += renameat(d, "e", ws, "aside") < 0;
		failed += symlinkat("../../K", d, "e") < 0;
		failed += renameat2(ws, "d", ws, "aside", RENAME_EXCHANGE) < 0;
		failed += symlinkat("../K", ws, "l") < 0;
		failed += renameat2(ws, "l", ws, "d", RENAME_EXCHANGE) < 0;
		failed += renameat(ws, "l", ws, "m") < 0;
		failed += unlinkat(ws, "d", 0) < 0;
		(void)close(d);
		(void)close(e);
		atomic_fetch_add(&swapper->turns, 1);
	}
	return failed ? swapper : NULL;
}

static void removing_in_a_race_stays_inside(void **state)
{
	struct tree tree = tree_open();
	struct canary canary = canary_look(&tree);
	struct swapper swapper = {.tree = &tree};
	struct remove_report report;
	pthread_t thread;
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, swap, &swapper), 0);
	for (int i = 0; i < 2000; i++) {
		(void)remove_tree(tree.ws, &report); /* ends, whatever it says */
		assert_canary(&tree, &canary);
	}
	atomic_store(&swapper.stop, true);
	(void)pthread_join(thread, NULL);
	assert_true(atomic_load(&swapper.turns) > 0);
	assert_int_equal(remove_tree(tree.ws, &report), 0);
	assert_empty(tree.ws);
	assert_canary(&tree, &canary);
	tree_close(&tree);
}

static void walking_in_a_race_stays_inside(void **state)
{
	struct tree tree = tree_open();
	struct swapper swapper = {.tree = &tree};
	struct remove_report report;
	pthread_t thread;
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, swap, &swapper), 0);
	for (int i = 0; i < 2000; i++) {
		struct snapshot *snapshot = take(tree.ws, (struct snapshot_how){0});

		for (uint32_t f = 0; f < snapshot->file_count; f++)
			assert_string_not_equal(
			    snapshot_name(snapshot, snapshot_files(snapshot)[f].name),
			    "secret");
		snapshot_unref(snapshot);
		if (i % 100 == 0)
			(void)remove_tree(tree.ws, &report);
	}
	atomic_store(&swapper.stop, true);
	(void)pthread_join(thread, NULL);
	tree_close(&tree);
}

static int run(void)
{
	const struct CMUnitTest session_walk[] = {
	    cmocka_unit_test(snapshot_knows_the_files),
	    cmocka_unit_test(snapshot_passes_over_what_is_no_file),
	    cmocka_unit_test(snapshot_leaves_out_only_the_top_deps),
	    cmocka_unit_test(walk_comes_back_from_the_deep),
	    cmocka_unit_test(running_out_of_descriptors_is_an_error),
	    cmocka_unit_test(unchanged_directories_are_not_read_again),
	    cmocka_unit_test(a_bound_cuts_the_snapshot),
	    cmocka_unit_test(walk_never_climbs_out),
	    cmocka_unit_test(walk_tells_what_it_lost),
	    cmocka_unit_test(links_and_files_are_not_entered),
	    cmocka_unit_test(mounts_are_not_crossed),
	    cmocka_unit_test(unreadable_directories_are_hidden),
	    cmocka_unit_test(removing_takes_all_kinds),
	    cmocka_unit_test(removing_goes_50000_deep),
	    cmocka_unit_test(removing_goes_wide),
	    cmocka_unit_test(removing_opens_shut_directories),
	    cmocka_unit_test(what_cannot_be_removed_is_reported),
	    cmocka_unit_test(removing_in_a_race_stays_inside),
	    cmocka_unit_test(walking_in_a_race_stays_inside),
	};

	return cmocka_run_group_tests(session_walk, NULL, NULL);
}

int main(void)
{
	int failed = run_in_fallback(run);

	return run() != 0 || failed;
}
