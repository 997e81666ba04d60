/* SPDX-License-Identifier: Apache-2.0 */
/* Layers over one another: whiteouts, opaque directories, implied parents, links. */
#include "tests/unit/oci_layers.h"

/* Each row is a layer; each word an entry: "d:NAME", "l:NAME:TARGET", "h:NAME:TARGET",
 * "f:NAME" (whose content is the layer's number and the name). */
static void add_words(struct layers *l, const char *words)
{
	struct buffer tape = TAPE_INIT;
	char text[512], content[128], *at = text, *word;

	(void)snprintf(text, sizeof(text), "%s", words);
	while ((word = strtok_r(at, " ", &at))) {
		char *name = word + 2, *target = strchr(name, ':');

		if (target)
			*target++ = '\0';
		(void)snprintf(content, sizeof(content), "%d %s", l->count, name);
		if (*word == 'd')
			tape_dir(&tape, name, 0700 + (unsigned)l->count);
		else if (*word == 'l')
			tape_link(&tape, name, target);
		else if (*word == 'h')
			tape_hard(&tape, name, target);
		else
			tape_file(&tape, name, content);
	}
	layers_add(l, &tape);
}

static void lay_words(struct layers *l, const char *const *words)
{
	layers_open(l);
	for (; *words; words++)
		add_words(l, *words);
	layers_lay(l);
}

#define LAY(l, ...) lay_words(l, (const char *const[]){__VA_ARGS__, NULL})

static void the_upper_file_wins_and_the_lower_layer_stays(void **state)
{
	struct layers l;
	(void)state;

	LAY(&l, "f:a f:b", "h:c:a f:c f:b");
	assert_text(l.root, "a", "0 a");
	assert_text(l.root, "b", "1 b");
	assert_text(l.root, "c", "1 c");
	assert_text(l.fds[0], "tree/a", "0 a");
	assert_text(l.fds[0], "tree/b", "0 b");
	assert_gone(l.fds[0], "tree/c");
	assert_int_equal(stat_of(l.root, "a").st_ino, stat_of(l.fds[0], "tree/a").st_ino);
	layers_close(&l);
}

static void a_whiteout_hides_what_is_below(void **state)
{
	struct layers l;
	(void)state;

	LAY(&l, "f:a/foo f:b/c/x f:b/c/y f:e", "f:.wh.a f:b/c/.wh.x f:.wh.e f:.wh.none",
	    "f:a/baz");
	assert_gone(l.root, "a/foo");
	assert_text(l.root, "a/baz", "2 a/baz");
	assert_gone(l.root, "b/c/x");
	assert_text(l.root, "b/c/y", "0 b/c/y");
	assert_gone(l.root, "e");
	assert_gone(l.root, ".wh.a");
	layers_close(&l);
}

/* Whiteouts are about lower layers, wherever in the layer they come. */
static void a_whiteout_spares_its_own_layer(void **state)
{
	struct layers l;
	(void)state;

	LAY(&l, "f:a f:d/old", "f:a f:.wh.a f:d/new f:.wh.d d:d");
	assert_text(l.root, "a", "1 a");
	assert_text(l.root, "d/new", "1 d/new");
	assert_gone(l.root, "d/old");
	layers_close(&l);
}

static void an_opaque_directory_hides_what_is_below(void **state)
{
	static const char *const uppers[] = {"f:a/.wh..wh..opq d:a f:a/new",
					     "d:a f:a/new f:a/.wh..wh..opq",
					     "f:a/new f:a/.wh..wh..opq"};
	struct layers l;
	(void)state;

	for (size_t i = 0; i < 3; i++) {
		LAY(&l, "d:a f:a/old f:a/sub/old f:b", uppers[i]);
		assert_gone(l.root, "a/old");
		assert_gone(l.root, "a/sub");
		assert_text(l.root, "a/new", "1 a/new");
		assert_gone(l.root, "a/.wh..wh..opq");
		assert_text(l.root, "b", "0 b");
		/* Its own entry describes it, or else the lower one's. */
		assert_mode(l.root, "a", S_IFDIR | (i < 2 ? 0701 : 0700));
		layers_close(&l);
	}
	LAY(&l, "f:a f:b/c", "f:.wh..wh..opq f:new");
	assert_gone(l.root, "a");
	assert_gone(l.root, "b");
	assert_text(l.root, "new", "1 new");
	layers_close(&l);
}

/* Some tools white out what a directory held beside that which replaces it. */
static void whiteouts_below_what_is_no_directory_any_more(void **state)
{
	struct layers l;
	(void)state;

	LAY(&l, "f:a/x f:b/x f:t/x", "f:a f:a/.wh.x l:b:t f:b/.wh.x f:b/.wh..wh..opq");
	assert_text(l.root, "a", "1 a");
	assert_target(l.root, "b", "t");
	assert_text(l.root, "t/x", "0 t/x");
	layers_close(&l);
	LAY(&l, "f:a/x f:b/x f:t/x", "f:a/.wh.x f:a f:b/.wh.x l:b:t");
	assert_text(l.root, "a", "1 a");
	assert_target(l.root, "b", "t");
	assert_text(l.root, "t/x", "0 t/x");
	layers_close(&l);
}

static void whiteouts_do_not_reach_out(void **state)
{
	struct buffer lower = TAPE_INIT, upper = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_link(&lower, "d", l.k);
	tape_link(&lower, "e", l.k);
	layers_add(&l, &lower);
	tape_file(&upper, "d/.wh.secret", "");
	tape_file(&upper, "d/.wh.sub", "");
	tape_file(&upper, "e/.wh..wh..opq", "");
	layers_add(&l, &upper);
	layers_lay(&l);
	layers_close(&l);
}

static void hostile_whiteouts_are_refused(void **state)
{
	static const struct {
		const char *name, *words;
	} rows[] = {{".wh.", "of nothing"},
		    {"a/.wh.", "of nothing"},
		    {".wh..", "of nothing"},
		    {".wh...", "of nothing"},
		    {".wh.a/b", "below a whiteout"}};
	struct layers l;
	(void)state;

	layers_open(&l);
	for (size_t i = 0; i < 5; i++) {
		struct buffer tape = TAPE_INIT;

		tape_file(&tape, rows[i].name, "");
		layers_refuse(&l, &tape, HUSK_E_IMAGE, rows[i].words);
	}
	layers_close(&l);
	LAY(&l, "f:a", "d:.wh..wh.plnk f:.wh..wh.plnk/1.2 f:.wh..wh.aufs f:b");
	assert_text(l.root, "a", "0 a");
	assert_text(l.root, "b", "1 b");
	assert_gone(l.root, ".wh..wh.plnk");
	assert_gone(l.root, ".wh..wh.aufs");
	layers_close(&l);
}

static void implied_parents_leave_the_lower_directory_alone(void **state)
{
	struct layers l;
	(void)state;

	LAY(&l, "d:. d:a d:a/b f:a/b/old", "f:a/b/new", "d:a");
	assert_mode(l.root, "a", S_IFDIR | 0702);
	assert_mode(l.root, "a/b", S_IFDIR | 0700);
	assert_int_equal(stat_of(l.root, "a/b").st_mtim.tv_sec, TAPE_MTIME);
	assert_int_equal(stat_of(l.root, ".").st_mtim.tv_sec, TAPE_MTIME);
	assert_text(l.root, "a/b/old", "0 a/b/old");
	assert_text(l.root, "a/b/new", "1 a/b/new");
	layers_close(&l);
}

/* /bin is a link to /usr/bin in most images; an upper layer that has bin/x only means it.
 */
static void implied_parents_follow_links_inside(void **state)
{
	struct layers l;
	(void)state;

	LAY(&l, "d:usr/bin f:usr/bin/old l:bin:/usr/bin l:lib:../usr/lib d:usr/lib",
	    "f:bin/x f:bin/.wh.old f:lib/deep/y");
	assert_target(l.root, "bin", "/usr/bin");
	assert_text(l.root, "usr/bin/x", "1 bin/x");
	assert_gone(l.root, "usr/bin/old");
	assert_text(l.root, "usr/lib/deep/y", "1 lib/deep/y");
	layers_close(&l);
}

static void a_described_directory_replaces_a_link(void **state)
{
	struct layers l;
	(void)state;

	LAY(&l, "d:usr/bin f:usr/bin/old l:bin:usr/bin", "d:bin f:bin/x");
	assert_dir(l.root, "bin");
	assert_text(l.root, "bin/x", "1 bin/x");
	assert_gone(l.root, "bin/old");
	assert_gone(l.root, "usr/bin/x");
	layers_close(&l);
}

static void a_directory_that_became_a_link_out(void **state)
{
	struct buffer first = TAPE_INIT, second = TAPE_INIT, third = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_file(&first, "etc/x", "1");
	layers_add(&l, &first);
	tape_file(&second, ".wh.etc", "");
	tape_link(&second, "etc", l.k);
	layers_add(&l, &second);
	layers_lay(&l);
	assert_target(l.root, "etc", l.k);
	tape_file(&third, "etc/passwd", "3");
	layers_add(&l, &third);
	layers_lay(&l);
	assert_dir(l.root, "etc");
	assert_text(l.root, "etc/passwd", "3");
	assert_gone(l.root, "etc/x");
	assert_gone(l.tree.k, "passwd");
	layers_close(&l);
}

static void types_change_between_layers(void **state)
{
	struct layers l;
	(void)state;

	LAY(&l, "f:a/x/y f:b l:c:b f:d/e", "f:a d:b f:b/z f:c d:d/e");
	assert_text(l.root, "a", "1 a");
	assert_text(l.root, "b/z", "1 b/z");
	assert_text(l.root, "c", "1 c");
	assert_dir(l.root, "d/e");
	layers_close(&l);
}

static void links_to_lower_layers(void **state)
{
	struct layers l;
	(void)state;

	LAY(&l, "d:usr/lib f:usr/lib/old l:lib:usr/lib",
	    "h:n:usr/lib/old h:m:lib/old h:o:n", "d:x h:x/deep:/n f:n");
	assert_text(l.root, "m", "0 usr/lib/old");
	assert_same_file(l.root, "m", "usr/lib/old");
	assert_same_file(l.root, "o", "usr/lib/old");
	assert_same_file(l.root, "x/deep", "usr/lib/old");
	assert_text(l.root, "n", "2 n");
	layers_close(&l);
}

static void links_to_lower_layers_do_not_reach_out(void **state)
{
	struct buffer lower = TAPE_INIT, upper = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_link(&lower, "d", l.k);
	tape_file(&lower, "f", "1");
	layers_add(&l, &lower);
	tape_hard(&upper, "a", "d/secret");
	layers_add(&l, &upper);
	assert_int_equal(layers_try_lay(&l), HUSK_E_IMAGE);
	layers_close(&l);
}

/* What the link replaces is where its target is. */
static void a_link_to_something_below_itself_is_refused(void **state)
{
	struct layers l;
	(void)state;

	layers_open(&l);
	add_words(&l, "d:a d:a/b f:a/b/f f:other");
	add_words(&l, "h:a:a/b/f");
	assert_int_equal(layers_try_lay(&l), HUSK_E_IMAGE);
	assert_non_null(strstr(l.err.message, "below itself"));
	layers_close(&l);
	LAY(&l, "d:a d:a/b f:a/b/f f:other", "h:a:other");
	assert_text(l.root, "a", "0 other");
	layers_close(&l);
}

static void the_same_layer_twice_and_none_at_all(void **state)
{
	struct layers l;
	(void)state;

	layers_open(&l);
	layers_lay(&l);
	assert_mode(l.root, ".", S_IFDIR | 0755);
	add_words(&l, "f:a d:b");
	l.fds[1] = dup(l.fds[0]);
	l.count = 2;
	layers_lay(&l);
	assert_text(l.root, "a", "0 a");
	(void)close(l.fds[1]);
	l.count = 1;
	layers_close(&l);
}

static void many_layers(void **state)
{
	struct layers l;
	char words[64], name[16];
	(void)state;

	layers_open(&l);
	for (int i = 0; i < 500; i++) {
		(void)snprintf(words, sizeof(words), "f:same f:d/n%d%s", i,
			       i == 400 ? " f:d/.wh.n7" : "");
		add_words(&l, words);
	}
	layers_lay(&l);
	assert_text(l.root, "same", "499 same");
	assert_gone(l.root, "d/n7");
	for (int i = 8; i < 500; i += 40) {
		(void)snprintf(name, sizeof(name), "d/n%d", i);
		(void)stat_of(l.root, name);
	}
	layers_close(&l);
}

/* Nothing of a layer may change, its metadata neither, but for counts of links. */
static void layers_are_not_changed(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	struct stat before[4], after;
	static const char *const names[] = {"tree/f", "tree/d", "tree/none", "tree"};
	(void)state;

	layers_open(&l);
	tape_add(&tape, "f", '0', 0000, NULL, "x");
	tape_dir(&tape, "d", 0555);
	tape_file(&tape, "d/g", "1");
	tape_dir(&tape, "none", 0000);
	layers_add(&l, &tape);
	for (size_t i = 0; i < 4; i++)
		before[i] = stat_of(l.fds[0], names[i]);
	layers_lay(&l);
	for (size_t i = 0; i < 4; i++) {
		after = stat_of(l.fds[0], names[i]);
		assert_int_equal(after.st_mode, before[i].st_mode);
		assert_int_equal(after.st_mtim.tv_nsec, before[i].st_mtim.tv_nsec);
		if (S_ISDIR(after.st_mode))
			assert_int_equal(after.st_ctim.tv_nsec,
					 before[i].st_ctim.tv_nsec);
	}
	assert_mode(l.root, "none", S_IFDIR | 0000);
	layers_close(&l);
}

static void damaged_notes_are_an_error(void **state)
{
	static const char *const rows[] = {"",
					   "husk notes 2\n",
					   "husk notes 1\nd0",
					   "husk notes 1\nw7 a",
					   "husk notes 1\nd0 ;d0 ..;",
					   "husk notes 1\nd0 ;w0 a/b;",
					   "husk notes 1\nd0 ;d0 a;d0 a;",
					   "husk notes 1\nd0 ;l0 a;",
					   "husk notes 1\nd0 ;m0 9;",
					   "husk notes 1\nd0 ;q0 a;",
					   "husk notes 1\nw;"};
	struct layers l;
	char text[64];
	(void)state;

	layers_open(&l);
	add_words(&l, "f:a");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t size = strlen(rows[i]);
		int fd = openat(l.fds[0], "notes", O_WRONLY | O_TRUNC | O_CLOEXEC);

		assert_true(fd >= 0);
		memcpy(text, rows[i], size);
		for (size_t at = 0; at < size; at++)
			text[at] = (char)(text[at] == ';' ? '\0' : text[at]);
		assert_int_equal(write(fd, text, size), (ssize_t)size);
		(void)close(fd);
		assert_int_equal(layers_try_lay(&l), HUSK_E_IMAGE);
		assert_non_null(strstr(l.err.message, "damaged"));
	}
	layers_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_upper_file_wins_and_the_lower_layer_stays),
	    cmocka_unit_test(a_whiteout_hides_what_is_below),
	    cmocka_unit_test(a_whiteout_spares_its_own_layer),
	    cmocka_unit_test(an_opaque_directory_hides_what_is_below),
	    cmocka_unit_test(whiteouts_below_what_is_no_directory_any_more),
	    cmocka_unit_test(whiteouts_do_not_reach_out),
	    cmocka_unit_test(hostile_whiteouts_are_refused),
	    cmocka_unit_test(implied_parents_leave_the_lower_directory_alone),
	    cmocka_unit_test(implied_parents_follow_links_inside),
	    cmocka_unit_test(a_described_directory_replaces_a_link),
	    cmocka_unit_test(a_directory_that_became_a_link_out),
	    cmocka_unit_test(types_change_between_layers),
	    cmocka_unit_test(links_to_lower_layers),
	    cmocka_unit_test(links_to_lower_layers_do_not_reach_out),
	    cmocka_unit_test(a_link_to_something_below_itself_is_refused),
	    cmocka_unit_test(the_same_layer_twice_and_none_at_all),
	    cmocka_unit_test(many_layers),
	    cmocka_unit_test(layers_are_not_changed),
	    cmocka_unit_test(damaged_notes_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
