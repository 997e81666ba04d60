/* SPDX-License-Identifier: Apache-2.0 */
/* What a call has changed. A "call" here is whatever the test does between diff_begin and
 * diff_end; the group runs on sharp ctimes where this kernel has them, and in the
 * fallback child, which can have no scratch file, on two full walks. */
#include "session/diff.h"

#include "session/files.h"
#include "session/listing.h"
#include "session/snapshot.h"

#include "tests/unit/session_tree.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

struct call {
	struct tree tree;
	struct diff diff;
	struct diff_call call;
	struct husk_listing *changes;
};

static void call_open(struct call *c)
{
	*c = (struct call){.tree = tree_open()};
	diff_init(&c->diff, c->tree.ws);
}

static void begin(struct call *c)
{
	assert_int_equal(diff_begin(&c->diff, &c->call, NULL), 0);
}

static void end(struct call *c)
{
	husk_listing_free(c->changes);
	c->changes = NULL;
	assert_int_equal(diff_end(&c->diff, &c->call, &c->changes, NULL), 0);
	assert_null(c->call.before);
}

static void call_close(struct call *c)
{
	husk_listing_free(c->changes);
	diff_deinit(&c->diff);
	tree_close(&c->tree);
}

/* The changes as text: "+a *b -c", in their order. */
static const char *text_of(const struct husk_listing *changes, char text[4096])
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < changes->count && used < 4000; i++) {
		static const char signs[] = "?+*-";
		int n = snprintf(text + used, 4096 - used, "%s%c%s", i ? " " : "",
				 signs[listing_at(changes, i)->change],
				 husk_listing_path(changes, i));

		assert_true(n > 0);
		used += (size_t)n;
	}
	return text;
}

static void assert_changes(struct call *c, const char *want)
{
	char text[4096];

	end(c);
	assert_string_equal(text_of(c->changes, text), want);
}

/* -- the kinds of change ----------------------------------------------------------------
 */

static void changes_are_told_and_sized(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	put(c.tree.ws, "kept", "1");
	put(c.tree.ws, "edited", "1");
	put(c.tree.ws, "deleted", "1");
	put(c.tree.ws, "truncated", "1");
	begin(&c);
	put(c.tree.ws, "edited", "123");
	put(c.tree.ws, "created", "12345");
	put(c.tree.ws, "truncated", "");
	assert_int_equal(unlinkat(c.tree.ws, "deleted", 0), 0);
	assert_changes(&c, "+created -deleted *edited *truncated");
	assert_int_equal(husk_listing_size(c.changes, 0), 5);
	assert_int_equal(husk_listing_size(c.changes, 1), 0);
	assert_int_equal(husk_listing_size(c.changes, 2), 3);
	assert_int_equal(husk_listing_size(c.changes, 3), 0);
	begin(&c);
	assert_changes(&c, "");
	begin(&c);
	put(c.tree.ws, "edited", "");
	put(c.tree.ws, "deleted", "back");
	assert_int_equal(unlinkat(c.tree.ws, "created", 0), 0);
	assert_changes(&c, "-created +deleted *edited");
	call_close(&c);
}

/* Many times over, as fast as it goes: each edit is in the clock tick of the one before.
 */
static void an_edit_of_the_same_size_in_the_same_tick_shows(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	put(c.tree.ws, "f", "0");
	for (int i = 0; i < 100; i++) {
		begin(&c);
		put(c.tree.ws, "f", i % 2 ? "a" : "b");
		assert_changes(&c, "*f");
	}
	call_close(&c);
}

static void an_edit_that_puts_the_times_back_shows(void **state)
{
	struct call c;
	struct timespec times[2];
	struct stat st;
	int fd;
	(void)state;

	call_open(&c);
	put(c.tree.ws, "f", "old");
	for (int i = 0; i < 20; i++) {
		begin(&c);
		assert_int_equal(fstatat(c.tree.ws, "f", &st, 0), 0);
		fd = openat(c.tree.ws, "f", O_WRONLY | O_CLOEXEC);
		assert_int_equal(pwrite(fd, i % 2 ? "old" : "new", 3, 0), 3);
		times[0] = st.st_atim;
		times[1] = st.st_mtim;
		assert_int_equal(futimens(fd, times), 0);
		(void)close(fd);
		assert_changes(&c, "*f");
	}
	call_close(&c);
}

static void a_write_through_a_mapping_shows(void **state)
{
	struct call c;
	char *map;
	int fd;
	(void)state;

	call_open(&c);
	put(c.tree.ws, "f", "old");
	begin(&c);
	assert_changes(&c, "");
	begin(&c);
	fd = openat(c.tree.ws, "f", O_RDWR | O_CLOEXEC);
	map = mmap(NULL, 3, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	map[0] = 'x';
	(void)munmap(map, 3);
	(void)close(fd);
	assert_changes(&c, "*f");
	call_close(&c);
}

static void renames_are_two_changes(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	make_dir(c.tree.ws, "d");
	make_dir(c.tree.ws, "d/e");
	put(c.tree.ws, "d/f", "1");
	put(c.tree.ws, "d/e/g", "1");
	put(c.tree.ws, "a", "1");
	put(c.tree.ws, "x", "2");
	put(c.tree.ws, "y", "3");
	begin(&c);
	assert_changes(&c, "");
	begin(&c);
	assert_int_equal(renameat(c.tree.ws, "a", c.tree.ws, "b"), 0);
	assert_int_equal(renameat(c.tree.ws, "x", c.tree.ws, "y"), 0); /* over another */
	assert_int_equal(renameat(c.tree.ws, "d", c.tree.ws, "moved"), 0);
	assert_changes(&c, "-a +b -d/e/g -d/f +moved/e/g +moved/f -x *y");
	call_close(&c);
}

/* Two directories trade places: every path is there still, and none holds what it held.
 * The files themselves, and their ctimes, are as before. */
static void swapped_directories_show(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	make_dir(c.tree.ws, "p");
	make_dir(c.tree.ws, "q");
	put(c.tree.ws, "p/f", "1");
	put(c.tree.ws, "q/f", "2");
	put(c.tree.ws, "q/only", "2");
	begin(&c);
	assert_changes(&c, "");
	begin(&c);
	assert_int_equal(renameat2(c.tree.ws, "p", c.tree.ws, "q", RENAME_EXCHANGE), 0);
	assert_changes(&c, "*p/f +p/only *q/f -q/only");
	call_close(&c);
}

static void files_and_directories_take_turns(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	put(c.tree.ws, "f", "1");
	make_dir(c.tree.ws, "d");
	put(c.tree.ws, "d/x", "1");
	put(c.tree.ws, "l", "1");
	begin(&c);
	assert_int_equal(unlinkat(c.tree.ws, "f", 0), 0);
	make_dir(c.tree.ws, "f");
	put(c.tree.ws, "f/x", "1");
	assert_int_equal(unlinkat(c.tree.ws, "d/x", 0), 0);
	assert_int_equal(unlinkat(c.tree.ws, "d", AT_REMOVEDIR), 0);
	put(c.tree.ws, "d", "1");
	assert_int_equal(unlinkat(c.tree.ws, "l", 0), 0);
	assert_int_equal(symlinkat("d", c.tree.ws, "l"), 0);
	assert_changes(&c, "+d -d/x -f +f/x -l");
	call_close(&c);
}

/* What has a new ctime counts, since its content may have changed as well. */
static void changes_of_mode_times_and_links_count(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	put(c.tree.ws, "chmod", "1");
	put(c.tree.ws, "link", "1");
	put(c.tree.ws, "touch", "1");
	put(c.tree.ws, "read", "1");
	begin(&c);
	assert_changes(&c, "");
	begin(&c);
	assert_int_equal(fchmodat(c.tree.ws, "chmod", 0755, 0), 0);
	assert_int_equal(linkat(c.tree.ws, "link", c.tree.ws, "twin", 0), 0);
	assert_int_equal(utimensat(c.tree.ws, "touch", NULL, 0), 0);
	(void)close(openat(c.tree.ws, "read", O_RDONLY | O_CLOEXEC));
	assert_changes(&c, "*chmod *link *touch +twin");
	call_close(&c);
}

static void only_files_and_not_deps_are_told(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	make_dir(c.tree.ws, ".deps");
	begin(&c);
	make_oddities(&c.tree);
	put(c.tree.ws, ".deps/x", "1");
	make_dir(c.tree.ws, "sub");
	make_dir(c.tree.ws, "sub/.deps");
	put(c.tree.ws, "sub/.deps/x", "1");
	put(c.tree.ws, ".depsx", "1");
	make_dir(c.tree.ws, "empty");
	assert_changes(&c, "+.depsx +sub/.deps/x");
	begin(&c);
	assert_int_equal(unlinkat(c.tree.ws, "link-to-k", 0), 0);
	assert_int_equal(symlinkat("sub", c.tree.ws, "link-to-k"), 0); /* elsewhere */
	assert_changes(&c, "");
	call_close(&c);
}

static void paths_are_sorted_by_their_bytes(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	begin(&c);
	make_dir(c.tree.ws, "b");
	put(c.tree.ws, "b/z", "");
	put(c.tree.ws, "b.txt", "");
	put(c.tree.ws, "b0", "");
	put(c.tree.ws, "\xff", "");
	put(c.tree.ws, "A\n", "");
	assert_changes(&c, "+A\n +b.txt +b/z +b0 +\xff");
	call_close(&c);
}

/* -- the host's own writes --------------------------------------------------------------
 */

/* At once before the call, in the same clock tick: new, edited, replaced, renamed,
 * deleted; in a directory that is known and in one that is not. */
static void what_the_host_did_before_is_not_blamed(void **state)
{
	struct call c;
	char path[96];
	struct workspace ws = WORKSPACE_INIT;
	(void)state;

	call_open(&c);
	(void)snprintf(path, sizeof(path), "%s/ws", c.tree.base);
	ws.fd = c.tree.ws;
	ws.path = path;
	make_dir(c.tree.ws, "d");
	put(c.tree.ws, "d/edited", "1");
	put(c.tree.ws, "d/written", "1");
	make_dir(c.tree.ws, "still"); /* the names in it stay: only the file tells */
	put(c.tree.ws, "still/edited", "1");
	begin(&c);
	assert_changes(&c, "");
	for (int i = 0; i < 50; i++) {
		put(c.tree.ws, "d/edited", i % 2 ? "1" : "2");
		put(c.tree.ws, "still/edited", i % 2 ? "11" : "222");
		put(c.tree.ws, "d/new", "1");
		assert_int_equal(files_write(&ws, "d/written", "22", 2, NULL), 0);
		assert_int_equal(files_write(&ws, "e/f/new", "3", 1, NULL), 0);
		begin(&c);
		assert_changes(&c, "");
		assert_int_equal(unlinkat(c.tree.ws, "d/new", 0), 0);
		assert_int_equal(renameat(c.tree.ws, "e", c.tree.ws, "g"), 0);
		begin(&c);
		assert_changes(&c, "");
		assert_int_equal(unlinkat(c.tree.ws, "g/f/new", 0), 0);
		assert_int_equal(unlinkat(c.tree.ws, "g/f", AT_REMOVEDIR), 0);
		assert_int_equal(unlinkat(c.tree.ws, "g", AT_REMOVEDIR), 0);
	}
	call_close(&c);
}

/* Both sides have a hand in it: the box's part is told, as what it is. */
static void what_the_box_did_after_the_host_shows(void **state)
{
	struct call c;
	(void)state;

	call_open(&c);
	put(c.tree.ws, "edited", "1");
	begin(&c);
	assert_changes(&c, "");
	for (int i = 0; i < 50; i++) {
		put(c.tree.ws, "edited", "2");
		put(c.tree.ws, "new", "1");
		put(c.tree.ws, "gone", "1");
		begin(&c);
		put(c.tree.ws, "edited", "3");
		put(c.tree.ws, "new", "2");
		assert_int_equal(unlinkat(c.tree.ws, "gone", 0), 0);
		assert_changes(&c, "*edited -gone *new");
		assert_int_equal(unlinkat(c.tree.ws, "new", 0), 0);
	}
	call_close(&c);
}

static void calls_that_overlap_each_tell(void **state)
{
	struct call c;
	struct diff_call other = DIFF_CALL_INIT, third = DIFF_CALL_INIT;
	struct husk_listing *changes = NULL;
	char text[4096];
	(void)state;

	call_open(&c);
	put(c.tree.ws, "f", "1");
	begin(&c);
	put(c.tree.ws, "early", "1");
	assert_int_equal(diff_begin(&c.diff, &other, NULL), 0);
	assert_int_equal(diff_begin(&c.diff, &third, NULL), 0);
	diff_cancel(&c.diff, &third);
	diff_cancel(&c.diff, &third);
	put(c.tree.ws, "f", "2");
	assert_changes(&c, "+early *f");
	put(c.tree.ws, "late", "1");
	assert_int_equal(diff_end(&c.diff, &other, &changes, NULL), 0);
	assert_string_equal(text_of(changes, text), "*f +late");
	husk_listing_free(changes);
	begin(&c);
	assert_changes(&c, "");
	call_close(&c);
}

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
	const struct CMUnitTest session_diff[] = {
	    cmocka_unit_test(changes_are_told_and_sized),
	    cmocka_unit_test(an_edit_of_the_same_size_in_the_same_tick_shows),
	    cmocka_unit_test(an_edit_that_puts_the_times_back_shows),
	    cmocka_unit_test(a_write_through_a_mapping_shows),
	    cmocka_unit_test(renames_are_two_changes),
	    cmocka_unit_test(swapped_directories_show),
	    cmocka_unit_test(files_and_directories_take_turns),
	    cmocka_unit_test(changes_of_mode_times_and_links_count),
	    cmocka_unit_test(only_files_and_not_deps_are_told),
	    cmocka_unit_test(paths_are_sorted_by_their_bytes),
	    cmocka_unit_test(what_the_host_did_before_is_not_blamed),
	    cmocka_unit_test(what_the_box_did_after_the_host_shows),
	    cmocka_unit_test(calls_that_overlap_each_tell),
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

	return cmocka_run_group_tests(session_diff, NULL, NULL);
}

int main(void)
{
	int failed = run_in_fallback(run);

	return run() != 0 || failed;
}
