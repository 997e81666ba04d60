/* SPDX-License-Identifier: Apache-2.0 */
/* The diff where clocks cannot be relied on, and on trees that are hard to read. */
#include "tests/unit/session_call.h"

#include "session/snapshot.h"

#include <pthread.h>
#include <stdatomic.h>

/* -- clocks -----------------------------------------------------------------------------
 */

/* As after the wall clock was set back: what the box changes has ctimes from before the
 * beginning of the call. */
static void a_clock_set_back_during_the_call_hides_nothing(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	put(c.tree.ws, "f", "1");
	begin(&c);
	assert_changes(&c, "");
	begin(&c);
	put(c.tree.ws, "f", "2");
	c.call.since += INT64_C(3600) * 1000000000;
	c.call.clock_offset += INT64_C(3600) * 1000000000;
	assert_changes(&c, "*f");
	call_close(&c);
}

/* As after it was set back between two calls, an edit of the host having come before
 * that: its ctime is later than the line that the call draws. */
static void a_clock_set_back_between_calls_blames_nobody(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	put(c.tree.ws, "f", "1");
	for (int i = 0; i < 2; i++) {
		begin(&c);
		assert_changes(&c, "");
	}
	put(c.tree.ws, "f", "2");
	c.diff.kept->clock_offset += INT64_C(3600) * 1000000000;
	begin(&c);
	c.call.since -= INT64_C(3600) * 1000000000;
	assert_changes(&c, "");
	call_close(&c);
}

static void steps_of_the_clock_are_told_from_noise(void **state)
{
	int64_t offset = stamp_clock_offset();
	(void)state;

	assert_false(stamp_clock_stepped(offset, stamp_clock_offset()));
	assert_true(stamp_clock_stepped(offset, offset + 1000000000));
	assert_true(stamp_clock_stepped(offset, offset - 1000000));
}

/* ramfs has no fine-grained times on any kernel. */
static void on_coarse_times(struct tree *tree)
{
	struct diff diff;
	char path[96], text[4096];
	int ws;

	own_mounts();
	(void)snprintf(path, sizeof(path), "%s/ws", tree->base);
	if (mount("none", path, "ramfs", 0, NULL) < 0)
		_exit(77);
	ws = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	diff_init(&diff, ws);
	for (int i = 0; i < 100; i++) {
		struct diff_call call;
		struct husk_listing *changes = NULL;

		put(ws, "f", i % 2 ? "1" : "2");
		put(ws, "g", i % 2 ? "1" : "2");
		CHECK(diff_begin(&diff, &call, NULL) == 0);
		CHECK(!call.sharp);
		put(ws, "f", i % 2 ? "3" : "4");
		CHECK(diff_end(&diff, &call, &changes, NULL) == 0);
		CHECK(strcmp(text_of(changes, text), "*f") == 0);
		husk_listing_free(changes);
	}
	CHECK(!diff.stamp.sharp);
	diff_deinit(&diff);
}

static void coarse_times_will_do(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(on_coarse_times, &tree);
	tree_close(&tree);
}

static void marks_draw_a_line(void **state)
{
	struct tree tree = tree_open();
	struct stamp stamp = STAMP_INIT;
	(void)state;

	put(tree.ws, "f", "x");
	for (int i = 0; i < 20000 && stamp_ready(&stamp, tree.ws); i++) {
		struct stat before, after;
		int64_t line;

		assert_int_equal(fchmodat(tree.ws, "f", 0644, 0), 0);
		assert_int_equal(fstatat(tree.ws, "f", &before, 0), 0);
		assert_true(stamp_mark(&stamp, tree.ws, &line));
		assert_int_equal(fchmodat(tree.ws, "f", 0644, 0), 0);
		assert_int_equal(fstatat(tree.ws, "f", &after, 0), 0);
		assert_true(stamp_from(&before.st_ctim) < line);
		assert_true(stamp_from(&after.st_ctim) >= line);
	}
	stamp_deinit(&stamp);
	assert_int_equal(stamp.scratch, -1);
	tree_close(&tree);
}

/* -- trees that are hard to read --------------------------------------------------------
 */

static void unreadable_directories(struct tree *tree)
{
	struct diff diff;
	struct diff_call call;
	struct husk_listing *changes;
	char text[4096];

	become_user(tree);
	diff_init(&diff, tree->ws);
	CHECK(mkdirat(tree->ws, "d", 0755) == 0);
	CHECK(mkdirat(tree->ws, "d/e", 0755) == 0);
	CHECK(close(openat(tree->ws, "d/f", O_CREAT | O_WRONLY, 0644)) == 0);
	CHECK(close(openat(tree->ws, "d/e/g", O_CREAT | O_WRONLY, 0644)) == 0);
	CHECK(diff_begin(&diff, &call, NULL) == 0);
	CHECK(fchmodat(tree->ws, "d", 0000, 0) == 0);
	CHECK(close(openat(tree->ws, "top", O_CREAT | O_WRONLY, 0644)) == 0);
	CHECK(diff_end(&diff, &call, &changes, NULL) == 0);
	CHECK(strcmp(text_of(changes, text), "+top") == 0); /* nothing in d was deleted */
	husk_listing_free(changes);
	CHECK(diff_begin(&diff, &call, NULL) == 0);
	CHECK(fchmodat(tree->ws, "d", 0755, 0) == 0);
	CHECK(diff_end(&diff, &call, &changes, NULL) == 0);
	CHECK(strcmp(text_of(changes, text), "") == 0); /* nor created */
	husk_listing_free(changes);
	CHECK(diff_begin(&diff, &call, NULL) == 0);
	CHECK(unlinkat(tree->ws, "d/f", 0) == 0);
	CHECK(diff_end(&diff, &call, &changes, NULL) == 0);
	CHECK(strcmp(text_of(changes, text), "-d/f") == 0); /* and it is known again */
	husk_listing_free(changes);
	CHECK(diff_begin(&diff, &call, NULL) == 0);
	CHECK(fchmod(tree->ws, 0000) == 0); /* the whole workspace */
	CHECK(diff_end(&diff, &call, &changes, NULL) == 0);
	CHECK(husk_listing_count(changes) == 0);
	husk_listing_free(changes);
	diff_deinit(&diff);
}

static void unreadable_directories_are_not_deletions(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(unreadable_directories, &tree);
	tree_close(&tree);
}

static void a_chain_longer_than_any_path_is_told(void **state)
{
	struct call c = {.tree = tree_open_large()};
	char *path;
	int bottom;
	(void)state;

	diff_init(&c.diff, c.tree.ws);
	begin(&c);
	bottom = make_chain(c.tree.ws, "dd", 5000);
	put(bottom, "file", "1234");
	end(&c);
	assert_int_equal(husk_listing_count(c.changes), 1);
	path = strdup(husk_listing_path(c.changes, 0));
	assert_int_equal(strlen(path), 3 * 5000 + 4);
	assert_string_equal(path + 3 * 5000 - 3, "dd/file");
	assert_int_equal(husk_listing_size(c.changes, 0), 4);
	begin(&c);
	assert_int_equal(unlinkat(bottom, "file", 0), 0);
	end(&c);
	assert_int_equal(husk_listing_count(c.changes), 1);
	assert_int_equal(listing_at(c.changes, 0)->change, HUSK_FILE_DELETED);
	assert_string_equal(husk_listing_path(c.changes, 0), path);
	free(path);
	(void)close(bottom);
	call_close(&c);
}

static void many_files_are_told(void **state)
{
	enum { MANY = 30000 };
	struct call c = {.tree = tree_open_large()};
	char name[32];
	(void)state;

	diff_init(&c.diff, c.tree.ws);
	for (int turn = 0; turn < 2; turn++) {
		begin(&c);
		for (int i = 0; i < MANY; i++) {
			(void)snprintf(name, sizeof(name), "%d-%d", turn, i);
			put(c.tree.ws, name, "");
		}
		end(&c);
		assert_int_equal(husk_listing_count(c.changes), MANY);
	}
	begin(&c);
	put(c.tree.ws, "0-17", "x");
	assert_changes(&c, "*0-17");
	call_close(&c);
}

struct stirrer {
	int ws;
	atomic_bool stop;
};

/* Make, move and remove things below `stir` without end. */
static void *stir(void *arg)
{
	struct stirrer *stirrer = arg;
	unsigned long failed = 0;

	while (!atomic_load(&stirrer->stop)) {
		failed += mkdirat(stirrer->ws, "stir/a", 0755) < 0;
		failed += mkdirat(stirrer->ws, "stir/a/b", 0755) < 0;
		(void)close(openat(stirrer->ws, "stir/a/b/f",
				   O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
		failed += renameat(stirrer->ws, "stir/a", stirrer->ws, "stir/c") < 0;
		failed += unlinkat(stirrer->ws, "stir/c/b/f", 0) < 0;
		failed += unlinkat(stirrer->ws, "stir/c/b", AT_REMOVEDIR) < 0;
		failed += unlinkat(stirrer->ws, "stir/c", AT_REMOVEDIR) < 0;
	}
	return failed ? stirrer : NULL;
}

/* What vanishes while it is being looked at is no error, and what stays is told. */
static void a_tree_that_changes_meanwhile_is_read(void **state)
{
	struct call c;
	struct stirrer stirrer;
	pthread_t thread;
	(void)state;

	call_open(&c);
	make_dir(c.tree.ws, "stir");
	stirrer = (struct stirrer){.ws = c.tree.ws};
	assert_int_equal(pthread_create(&thread, NULL, stir, &stirrer), 0);
	for (int i = 0; i < 300; i++) {
		bool found = false;

		begin(&c);
		put(c.tree.ws, "f", "x");
		end(&c);
		for (size_t j = 0; j < husk_listing_count(c.changes); j++)
			found |= strcmp(husk_listing_path(c.changes, j), "f") == 0;
		assert_true(found);
	}
	atomic_store(&stirrer.stop, true);
	(void)pthread_join(thread, NULL);
	call_close(&c);
}

/* Calls from many threads on one session: nothing is lost, nothing crashes. */
static void *run_calls(void *arg)
{
	struct diff *diff = arg;

	for (int i = 0; i < 100; i++) {
		struct diff_call call;
		struct husk_listing *changes = NULL;
		char name[64];
		bool found = false;
		int fd;

		(void)snprintf(name, sizeof(name), "%lx", (unsigned long)pthread_self());
		if (diff_begin(diff, &call, NULL) < 0)
			return diff;
		fd = openat(diff->root, name, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC,
			    0644);
		if (write(fd, "x", 1) != 1)
			return diff;
		(void)close(fd);
		if (diff_end(diff, &call, &changes, NULL) < 0)
			return diff;
		for (size_t j = 0; j < husk_listing_count(changes); j++)
			found |= strcmp(husk_listing_path(changes, j), name) == 0;
		husk_listing_free(changes);
		if (!found)
			return diff;
	}
	return NULL;
}

static void calls_from_many_threads_lose_nothing(void **state)
{
	struct call c;
	pthread_t threads[6];
	(void)state;

	call_open(&c);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_calls, &c.diff),
				 0);
	for (size_t i = 0; i < 6; i++) {
		void *wrong = NULL;

		(void)pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	begin(&c);
	assert_changes(&c, "");
	call_close(&c);
}

static int run(void)
{
	const struct CMUnitTest session_diff_hard[] = {
	    cmocka_unit_test(a_clock_set_back_during_the_call_hides_nothing),
	    cmocka_unit_test(a_clock_set_back_between_calls_blames_nobody),
	    cmocka_unit_test(steps_of_the_clock_are_told_from_noise),
	    cmocka_unit_test(coarse_times_will_do),
	    cmocka_unit_test(marks_draw_a_line),
	    cmocka_unit_test(unreadable_directories_are_not_deletions),
	    cmocka_unit_test(a_chain_longer_than_any_path_is_told),
	    cmocka_unit_test(many_files_are_told),
	    cmocka_unit_test(a_tree_that_changes_meanwhile_is_read),
	    cmocka_unit_test(calls_from_many_threads_lose_nothing),
	};

	return cmocka_run_group_tests(session_diff_hard, NULL, NULL);
}

int main(void)
{
	int failed = run_in_fallback(run);

	return run() != 0 || failed;
}
