/* SPDX-License-Identifier: Apache-2.0 */
/* What a call has changed, and what the host had changed before. The group runs on sharp
 * ctimes where this kernel has them and, in the fallback child, which can have no scratch
 * file, on two full walks. */
#include "tests/unit/session_call.h"

#include "session/files.h"

#include <sys/file.h>
#include <sys/mman.h>

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

/* A writer of the file API that was killed between two calls; and names that only look
 * like it. */
static void what_killed_writers_left_goes_untold(void **state)
{
	static const char dead[] = ".husk-0123456789abcdef.tmp";
	static const char held[] = ".husk-fedcba9876543210.tmp";
	static const char link[] = ".husk-0000000000000000.tmp";
	struct call c;
	int fd;
	(void)state;

	call_open(&c);
	make_dir(c.tree.ws, "dir");
	put(c.tree.ws, "dir/.husk-0123456789abcdef.tmp", "half");
	put(c.tree.ws, dead, "half");
	put(c.tree.ws, held, "half");
	fd = openat(c.tree.ws, held, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	put(c.tree.ws, ".husk-0123456789abcdeg.tmp", "");
	put(c.tree.ws, ".husk-0123456789abcdef.tmp2", "");
	assert_int_equal(symlinkat("../outside", c.tree.ws, link), 0);
	begin(&c);
	assert_false(exists(c.tree.ws, dead));
	assert_false(exists(c.tree.ws, "dir/.husk-0123456789abcdef.tmp"));
	assert_true(exists(c.tree.ws, held));
	put(c.tree.ws, dead, "half");
	assert_changes(&c, "");
	assert_false(exists(c.tree.ws, dead));
	(void)close(fd);
	begin(&c);
	assert_false(exists(c.tree.ws, held));
	assert_true(exists(c.tree.ws, ".husk-0123456789abcdeg.tmp"));
	assert_true(exists(c.tree.ws, ".husk-0123456789abcdef.tmp2"));
	assert_int_equal(fstatat(c.tree.ws, link, &(struct stat){0}, AT_SYMLINK_NOFOLLOW),
			 0);
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
	    cmocka_unit_test(what_killed_writers_left_goes_untold),
	};

	return cmocka_run_group_tests(session_diff, NULL, NULL);
}

int main(void)
{
	int failed = run_in_fallback(run);

	return run() != 0 || failed;
}
