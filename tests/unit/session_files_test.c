/* SPDX-License-Identifier: Apache-2.0 */
/* The file API, on workspaces that a box has filled with traps. */
#include "tests/unit/session_place.h"

#include <sys/resource.h>
#include <sys/sysmacros.h>

/* -- paths ------------------------------------------------------------------------------
 */

static char long_name[300]; /* 256 bytes and a NUL */
static char long_path[5000];

static void paths_are_checked(void **state)
{
	static const struct {
		const char *path;
		int code;
	} rows[] = {
	    {"", HUSK_E_PATH},
	    {".", HUSK_E_PATH},
	    {"/", HUSK_E_PATH},
	    {"a/", HUSK_E_PATH},
	    {"a/b/", HUSK_E_PATH},
	    {"x/..", HUSK_E_PATH},
	    {"a/.", HUSK_E_PATH},
	    {"..", HUSK_E_PATH},
	    {"../K/secret", HUSK_E_PATH},
	    {"x/../../K/secret", HUSK_E_PATH},
	    {"x/../../ws/f", HUSK_E_PATH},
	    {"../ws-evil/x", HUSK_E_PATH},
	    {"/etc/passwd", HUSK_E_PATH},
	    {"/workspace/f", HUSK_E_PATH},
	    {long_name, HUSK_E_PATH},
	    {long_path, HUSK_E_PATH},
	    {NULL, HUSK_E_INVALID},
	};
	struct place p = place_open();
	struct canary canary = canary_look(&p.tree);
	(void)state;

	memset(long_name, 'n', 256);
	for (size_t i = 0; i < 4200; i++)
		long_path[i] = i % 2 ? '/' : 'p';
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *data = NULL;
		size_t size = 0;

		p.err = (struct husk_error){0};
		assert_int_equal(files_write(&p.ws, rows[i].path, "x", 1, &p.err),
				 rows[i].code);
		assert_int_equal(p.err.code, rows[i].code);
		assert_true(p.err.message[0] != '\0');
		assert_int_equal(files_read(&p.ws, rows[i].path, 0, &data, &size, NULL),
				 rows[i].code);
		assert_null(data);
	}
	assert_int_equal(count_entries(p.tree.ws), 0);
	assert_false(exists(p.tree.ws, "a")); /* nor parents of what was refused */
	assert_canary(&p.tree, &canary);
	place_close(&p);
}

static void paths_are_brought_into_form(void **state)
{
	struct place p = place_open();
	char absolute[160];
	(void)state;

	assert_int_equal(write_text(&p, "a/b", "1"), 0);
	assert_text(&p, "a//b", "1");
	assert_text(&p, "./a/./b", "1");
	assert_text(&p, "nothing/../a/b", "1");
	assert_int_equal(write_text(&p, "a/c/../d", "2"), 0);
	assert_text(&p, "a/d", "2");
	assert_false(exists(p.tree.ws, "a/c"));
	/* The host's own name for it is taken, by whole components and no further. */
	(void)snprintf(absolute, sizeof(absolute), "%s/a/b", p.ws.path);
	assert_text(&p, absolute, "1");
	(void)snprintf(absolute, sizeof(absolute), "%s-evil/x", p.ws.path);
	assert_int_equal(write_text(&p, absolute, "x"), HUSK_E_PATH);
	(void)snprintf(absolute, sizeof(absolute), "%s/../K/secret", p.ws.path);
	assert_int_equal(write_text(&p, absolute, "x"), HUSK_E_PATH);
	assert_int_equal(write_text(&p, p.ws.path, "x"), HUSK_E_PATH);
	place_close(&p);
}

static void names_may_hold_any_bytes(void **state)
{
	static const char *const names[] = {
	    "a\nb", "\xff\xfe", "\"", "-rf",  " ",   "\\",  "a\tb", "\x1b]0;x\x07",
	    "...",  "\u202e",	"*",  "$(x)", "..a", "a..", "~"};
	const size_t count = sizeof(names) / sizeof(names[0]);
	struct place p = place_open();
	struct husk_listing *listing = NULL;
	(void)state;

	long_name[255] = '\0';
	memset(long_name, 'n', 255);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(write_text(&p, names[i], names[i]), 0);
	assert_int_equal(write_text(&p, long_name, "255"), 0);
	assert_int_equal(files_list(&p.ws, "", &listing, NULL), 0);
	assert_int_equal(husk_listing_count(listing), count + 1);
	for (size_t i = 0; i < husk_listing_count(listing); i++) {
		const char *path = husk_listing_path(listing, i);

		assert_text(&p, path, path[0] == 'n' ? "255" : path);
	}
	husk_listing_free(listing);
	place_close(&p);
}

static void errors_name_the_path_in_print(void **state)
{
	struct place p = place_open();
	char text[256];
	(void)state;

	assert_int_equal(read_text(&p, "d/\x1b]0;pwn\x07\n", text), HUSK_E_PATH);
	assert_string_equal(p.err.where, "d/\\x1b]0;pwn\\x07\\n");
	assert_int_equal(p.err.sys_errno, ENOENT);
	assert_non_null(strstr(p.err.message, "cannot be read: there is no such file"));
	assert_int_equal(write_text(&p, "/workspace/f", ""), HUSK_E_PATH);
	assert_non_null(strstr(p.err.hint, "relative to the workspace"));
	place_close(&p);
}

/* -- writing and reading ----------------------------------------------------------------
 */

static void what_is_written_is_read(void **state)
{
	static const char bytes[] = "a\0b\xff\n";
	struct place p = place_open();
	void *data = NULL;
	size_t size = 0;
	struct stat st;
	mode_t mask = umask(022);
	(void)state;

	assert_int_equal(files_write(&p.ws, "one/two/three", bytes, sizeof(bytes), NULL),
			 0);
	assert_int_equal(files_read(&p.ws, "one/two/three", 0, &data, &size, NULL), 0);
	assert_int_equal(size, sizeof(bytes));
	assert_memory_equal(data, bytes, sizeof(bytes));
	assert_int_equal(((char *)data)[size], '\0');
	free(data);
	assert_int_equal(fstatat(p.tree.ws, "one/two/three", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0644);
	assert_int_equal(fstatat(p.tree.ws, "one", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	/* Shorter: nothing of the old one is left. Empty, with no data at all. */
	assert_int_equal(write_text(&p, "one/two/three", "abc"), 0);
	assert_text(&p, "one/two/three", "abc");
	assert_int_equal(files_write(&p.ws, "one/two/three", NULL, 0, NULL), 0);
	assert_text(&p, "one/two/three", "");
	assert_int_equal(files_write(&p.ws, "f", NULL, 1, &p.err), HUSK_E_INVALID);
	assert_int_equal(count_entries(p.tree.ws), 1);
	(void)umask(mask);
	place_close(&p);
}

static void an_old_file_is_replaced_not_written(void **state)
{
	struct place p = place_open();
	struct canary canary = canary_look(&p.tree);
	struct stat st;
	(void)state;

	put(p.tree.ws, "f", "old");
	assert_int_equal(linkat(p.tree.ws, "f", p.tree.ws, "twin", 0), 0);
	assert_int_equal(fchmodat(p.tree.ws, "f", 0444, 0), 0);
	assert_int_equal(write_text(&p, "f", "new"), 0);
	assert_text(&p, "f", "new");
	assert_text(&p, "twin", "old");
	/* A link at the end, dangling or not, is replaced by the file. */
	assert_int_equal(symlinkat("../K/secret", p.tree.ws, "s"), 0);
	assert_int_equal(symlinkat("../K/new", p.tree.ws, "dangling"), 0);
	assert_int_equal(symlinkat("f", p.tree.ws, "inside"), 0);
	assert_int_equal(write_text(&p, "s", "mine"), 0);
	assert_int_equal(write_text(&p, "dangling", "mine"), 0);
	assert_int_equal(write_text(&p, "inside", "mine"), 0);
	assert_int_equal(fstatat(p.tree.ws, "s", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_text(&p, "s", "mine");
	assert_text(&p, "f", "new");
	assert_int_equal(count_entries(p.tree.ws), 5);
	assert_canary(&p.tree, &canary);
	place_close(&p);
}

static void links_are_not_followed(void **state)
{
	static const char *const read[] = {
	    "s",	"d/secret", "d/sub/deep",     "self/f",		  "loop-a",
	    "loop-a/x", "magic",    "link-to-secret", "link-to-k/secret", "inside",
	    "dangling", "fd/0",
	};
	static const char *const written[] = {
	    "d/x", "d/new/x", "d/sub/new/x", "self/g", "loop-a/x", "dangling/x", "fd/x",
	};
	struct place p = place_open();
	struct canary canary = canary_look(&p.tree);
	struct husk_listing *listing = NULL;
	char text[256];
	(void)state;

	make_oddities(&p.tree);
	put(p.tree.ws, "f", "x");
	assert_int_equal(symlinkat("f", p.tree.ws, "inside"), 0);
	assert_int_equal(symlinkat("../K/secret", p.tree.ws, "s"), 0);
	assert_int_equal(symlinkat("../K", p.tree.ws, "d"), 0);
	assert_int_equal(symlinkat("/proc/self/fd", p.tree.ws, "fd"), 0);
	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++) {
		assert_int_equal(read_text(&p, read[i], text), HUSK_E_PATH);
		assert_int_equal(p.err.sys_errno, ELOOP);
	}
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		assert_int_equal(write_text(&p, written[i], "x"), HUSK_E_PATH);
		assert_int_equal(p.err.sys_errno, ELOOP);
	}
	assert_int_equal(files_list(&p.ws, "d", &listing, &p.err), HUSK_E_PATH);
	assert_int_equal(files_list(&p.ws, "d/sub", &listing, &p.err), HUSK_E_PATH);
	assert_int_equal(files_list(&p.ws, "self", &listing, &p.err), HUSK_E_PATH);
	assert_int_equal(count_entries(p.tree.ws), 1);
	assert_canary(&p.tree, &canary);
	place_close(&p);
}

/* Nobody writes to the pipe and nobody listens: an open would wait for ever. */
static void only_regular_files_are_opened(void **state)
{
	static const struct {
		const char *path;
		int sys_errno;
	} rows[] = {
	    {"pipe", ENXIO},	 {"socket", ENXIO},   {"directory", EISDIR},
	    {"file/x", ENOTDIR}, {"pipe/x", ENOTDIR},
	};
	struct place p = place_open();
	char text[256];
	struct stat st;
	(void)state;

	assert_int_equal(mkfifoat(p.tree.ws, "pipe", 0644), 0);
	make_socket(p.tree.ws, "socket");
	make_dir(p.tree.ws, "directory");
	put(p.tree.ws, "file", "x");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(read_text(&p, rows[i].path, text), HUSK_E_PATH);
		assert_int_equal(p.err.sys_errno, rows[i].sys_errno);
		assert_int_equal(write_text(&p, rows[i].path, "x"), HUSK_E_PATH);
		assert_int_equal(p.err.sys_errno, rows[i].sys_errno);
	}
	assert_int_equal(fstatat(p.tree.ws, "pipe", &st, 0), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(count_entries(p.tree.ws), 1);
	if (mknodat(p.tree.ws, "null", S_IFCHR | 0666, makedev(1, 3)) == 0) {
		assert_int_equal(read_text(&p, "null", text), HUSK_E_PATH);
		assert_int_equal(p.err.sys_errno, ENXIO);
		assert_int_equal(write_text(&p, "null", "x"), HUSK_E_PATH);
	}
	place_close(&p);
}

static void reading_is_bounded(void **state)
{
	struct place p = place_open();
	void *data = NULL;
	size_t size = 0;
	int fd;
	(void)state;

	put(p.tree.ws, "ten", "0123456789");
	assert_int_equal(files_read(&p.ws, "ten", 10, &data, &size, NULL), 0);
	assert_int_equal(size, 10);
	free(data);
	data = NULL;
	assert_int_equal(files_read(&p.ws, "ten", 9, &data, &size, &p.err),
			 HUSK_E_TOO_BIG);
	assert_int_equal(p.err.code, HUSK_E_TOO_BIG);
	assert_non_null(strstr(p.err.message, "larger than 9 bytes"));
	fd = openat(p.tree.ws, "sparse", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	(void)close(fd);
	assert_int_equal(files_read(&p.ws, "sparse", 0, &data, &size, NULL),
			 HUSK_E_TOO_BIG);
	assert_null(data);
	place_close(&p);
}

/* Root's boxes run as another id, which owns the workspace then. */
static void belongs_to_the_owner_above(struct tree *tree)
{
	static const uid_t user = 64123;
	struct workspace ws = as_workspace(tree);
	static const char *const made[] = {"a", "a/b", "a/b/f", "g"};
	struct stat st;

	if (geteuid() != 0 || fchown(tree->ws, user, user) < 0)
		_exit(77);
	CHECK(files_write(&ws, "a/b/f", "x", 1, NULL) == 0);
	CHECK(files_write(&ws, "g", "x", 1, NULL) == 0);
	CHECK(files_write(&ws, "g", "y", 1, NULL) == 0);
	for (size_t i = 0; i < 4; i++) {
		CHECK(fstatat(tree->ws, made[i], &st, AT_SYMLINK_NOFOLLOW) == 0);
		CHECK(st.st_uid == user && st.st_gid == user);
	}
}

static void what_root_writes_belongs_to_the_box(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(belongs_to_the_owner_above, &tree);
	tree_close(&tree);
}

/* -- failures ---------------------------------------------------------------------------
 */

static void fails_past_the_size_limit(struct tree *tree)
{
	struct workspace ws = as_workspace(tree);
	struct rlimit limit = {.rlim_cur = 1000, .rlim_max = 1000};
	struct husk_error err = {0};
	static const char data[2000];

	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(files_write(&ws, "a/b/c", data, sizeof(data), &err) == HUSK_E_SYSTEM);
	CHECK(err.sys_errno == EFBIG);
	CHECK(!exists(tree->ws, "a")); /* the parents are unmade */
	CHECK(mkdirat(tree->ws, "a", 0755) == 0);
	CHECK(files_write(&ws, "a/b/c", data, sizeof(data), &err) == HUSK_E_SYSTEM);
	CHECK(exists(tree->ws, "a")); /* but not what was there */
	CHECK(!exists(tree->ws, "a/b"));
	CHECK(files_write(&ws, "a/b/c", data, 1000, &err) == 0);
}

/* The signal of a write past the limit would end the child, and so fail the test. */
static void a_size_limit_of_the_caller_is_an_error(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(fails_past_the_size_limit, &tree);
	tree_close(&tree);
}

static void fails_when_full(struct tree *tree)
{
	static char data[2 << 20];
	struct workspace ws = as_workspace(tree);
	struct husk_error err = {0};
	struct husk_listing *listing = NULL;

	own_mounts();
	if (mount("none", ws.path, "tmpfs", 0, "size=1m,nr_inodes=64") < 0)
		_exit(77);
	ws.fd = openat(AT_FDCWD, ws.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(files_write(&ws, "keep", "old", 3, &err) == 0);
	CHECK(files_write(&ws, "keep", data, sizeof(data), &err) == HUSK_E_SYSTEM);
	CHECK(err.sys_errno == ENOSPC);
	CHECK(err.hint[0] != '\0');
	CHECK(files_write(&ws, "x/y/new", data, sizeof(data), &err) == HUSK_E_SYSTEM);
	CHECK(!exists(ws.fd, "x"));
	CHECK(files_list(&ws, NULL, &listing, &err) == 0);
	CHECK(husk_listing_count(listing) == 1);
	CHECK(husk_listing_size(listing, 0) == 3);
	CHECK(files_write(&ws, "fits", data, 900 << 10, &err) == 0);
	CHECK(unlinkat(ws.fd, "fits", 0) == 0);
	CHECK(files_write(&ws, "fits", data, 900 << 10, &err) == 0); /* nothing leaked */
}

static void a_full_disk_leaves_nothing_half(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(fails_when_full, &tree);
	tree_close(&tree);
}

static void is_shut_out(struct tree *tree)
{
	struct workspace ws = as_workspace(tree);
	struct husk_listing *listing = NULL;
	struct husk_error err = {0};
	void *data = NULL;
	size_t size = 0;
	struct stat st;

	become_user(tree);
	CHECK(files_write(&ws, "f", "x", 1, &err) == 0);
	CHECK(files_write(&ws, "d/g", "x", 1, &err) == 0);
	CHECK(fchmodat(tree->ws, "f", 0000, 0) == 0);
	CHECK(fchmodat(tree->ws, "d", 0555, 0) == 0);
	CHECK(files_read(&ws, "f", 0, &data, &size, &err) == HUSK_E_SYSTEM);
	CHECK(err.sys_errno == EACCES);
	CHECK(strstr(err.hint, "chmod"));
	CHECK(fstatat(tree->ws, "f", &st, 0) == 0);
	CHECK((st.st_mode & 0777) == 0000); /* left as it was */
	CHECK(files_write(&ws, "d/h", "x", 1, &err) == HUSK_E_SYSTEM);
	CHECK(err.sys_errno == EACCES);
	CHECK(files_write(&ws, "f", "new", 3, &err) ==
	      0); /* replaced: its mode is no matter */
	CHECK(fchmodat(tree->ws, "d", 0000, 0) == 0);
	CHECK(files_list(&ws, "d", &listing, &err) == HUSK_E_SYSTEM);
	CHECK(files_list(&ws, NULL, &listing, &err) == 0);
	CHECK(husk_listing_count(listing) == 1);
}

static void modes_that_shut_the_owner_out_are_an_error(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(is_shut_out, &tree);
	tree_close(&tree);
}

/* -- listing ----------------------------------------------------------------------------
 */

static void listing_is_sorted_and_relative(void **state)
{
	static const char *const all[] = {".deps2/x", "a",     "a.txt",	  "b-x/f",
					  "b.txt",    "b/c/d", "b/c/e/f", "b0"};
	struct place p = place_open();
	struct husk_listing *listing = NULL;
	(void)state;

	for (size_t i = 8; i > 0; i--)
		assert_int_equal(write_text(&p, all[i - 1], all[i - 1]), 0);
	assert_int_equal(write_text(&p, ".deps/lib.py", "x"), 0);
	assert_int_equal(files_list(&p.ws, NULL, &listing, NULL), 0);
	assert_int_equal(husk_listing_count(listing), 8);
	for (size_t i = 0; i < 8; i++) {
		assert_string_equal(husk_listing_path(listing, i), all[i]);
		assert_int_equal(husk_listing_size(listing, i), strlen(all[i]));
	}
	assert_null(husk_listing_path(listing, 8));
	assert_int_equal(husk_listing_size(listing, 8), 0);
	assert_null(husk_listing_free(listing));

	assert_int_equal(files_list(&p.ws, "b//c/", &listing, NULL), 0);
	assert_int_equal(husk_listing_count(listing), 2);
	assert_string_equal(husk_listing_path(listing, 0), "b/c/d");
	assert_text(&p, husk_listing_path(listing, 1), "b/c/e/f");
	husk_listing_free(listing);
	assert_int_equal(files_list(&p.ws, ".deps", &listing, NULL), 0);
	assert_int_equal(husk_listing_count(listing), 1);
	husk_listing_free(listing);

	assert_int_equal(files_list(&p.ws, "none", &listing, &p.err), HUSK_E_PATH);
	assert_int_equal(files_list(&p.ws, "a", &listing, &p.err), HUSK_E_PATH);
	assert_int_equal(files_list(&p.ws, "..", &listing, &p.err), HUSK_E_PATH);
	assert_int_equal(husk_listing_count(NULL), 0);
	assert_null(husk_listing_path(NULL, 0));
	assert_null(husk_listing_free(NULL));
	place_close(&p);
}

/* 1,500 levels of 200 bytes with a file in each: 225 MB of paths. */
static void the_paths_of_a_listing_are_bounded(void **state)
{
	struct tree tree = tree_open_large();
	struct workspace ws = as_workspace(&tree);
	struct husk_listing *listing = NULL;
	char name[201];
	int fd = dup(tree.ws);
	size_t bytes = 0;
	(void)state;

	memset(name, 'n', 200);
	name[200] = '\0';
	for (int i = 0; i < 1500; i++) {
		int next;

		make_dir(fd, name);
		next = open_dir(fd, name);
		(void)close(fd);
		fd = next;
		put(fd, "f", "");
	}
	(void)close(fd);
	assert_int_equal(files_list(&ws, NULL, &listing, NULL), 0);
	assert_true(listing->cut);
	for (size_t i = 0; i < husk_listing_count(listing); i++)
		bytes += strlen(husk_listing_path(listing, i)) + 1;
	assert_true(bytes <= LISTING_PATHS_MAX);
	assert_true(husk_listing_count(listing) > 500);
	husk_listing_free(listing);
	free(ws.path);
	tree_close(&tree);
}

static int run(void)
{
	const struct CMUnitTest session_files[] = {
	    cmocka_unit_test(paths_are_checked),
	    cmocka_unit_test(paths_are_brought_into_form),
	    cmocka_unit_test(names_may_hold_any_bytes),
	    cmocka_unit_test(errors_name_the_path_in_print),
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(an_old_file_is_replaced_not_written),
	    cmocka_unit_test(links_are_not_followed),
	    cmocka_unit_test(only_regular_files_are_opened),
	    cmocka_unit_test(reading_is_bounded),
	    cmocka_unit_test(what_root_writes_belongs_to_the_box),
	    cmocka_unit_test(a_size_limit_of_the_caller_is_an_error),
	    cmocka_unit_test(a_full_disk_leaves_nothing_half),
	    cmocka_unit_test(modes_that_shut_the_owner_out_are_an_error),
	    cmocka_unit_test(listing_is_sorted_and_relative),
	    cmocka_unit_test(the_paths_of_a_listing_are_bounded),
	};

	return cmocka_run_group_tests(session_files, NULL, NULL);
}

int main(void)
{
	int failed = run_in_fallback(run);

	return run() != 0 || failed;
}
