/* SPDX-License-Identifier: Apache-2.0 */
/* Names that want out of the layer, and names that are only unusual. */
#include "tests/unit/oci_layers.h"

static void dot_dot_is_refused(void **state)
{
	static const char *const names[] = {
	    "../../K/a", "./x/../../K/c", "a/../../../../K/d", "..", "a/..", "/../a"};
	struct layers l;
	(void)state;

	layers_open(&l);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buffer tape = TAPE_INIT;

		tape_file(&tape, names[i], "out");
		layers_refuse(&l, &tape, HUSK_E_IMAGE, "..");
	}
	layers_close(&l);
}

static void absolute_names_stay_inside(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	char path[128];
	(void)state;

	layers_open(&l);
	(void)snprintf(path, sizeof(path), "%s/b", l.k);
	tape_file(&tape, path, "inside");
	tape_file(&tape, "...", "legal");
	tape_file(&tape, "..a", "legal too");
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_text(l.root, path + 1, "inside");
	assert_text(l.root, "...", "legal");
	assert_text(l.root, "..a", "legal too");
	assert_gone(l.tree.k, "b");
	layers_close(&l);
}

static void spellings_of_one_name_are_one(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_dir(&tape, "./", 0711);
	tape_dir(&tape, "a", 0755);
	tape_file(&tape, "./a/one", "1");
	tape_file(&tape, "/a/two", "2");
	tape_file(&tape, "a//three", "3");
	tape_file(&tape, "a/./four", "4");
	tape_dir(&tape, "a/", 0750);
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_text(l.root, "a/one", "1");
	assert_text(l.root, "a/two", "2");
	assert_text(l.root, "a/three", "3");
	assert_text(l.root, "a/four", "4");
	assert_mode(l.root, "a", S_IFDIR | 0750);
	assert_mode(l.root, ".", S_IFDIR | 0711);
	assert_int_equal(stat_of(l.root, ".").st_mtim.tv_sec, TAPE_MTIME);
	assert_int_equal(stat_of(l.root, "a").st_mtim.tv_sec, TAPE_MTIME);
	layers_close(&l);
}

/* A root that nobody may enter would be of no use. */
static void the_root_stays_traversable(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_dir(&tape, ".", 0000);
	tape_file(&tape, "f", "1");
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_mode(l.root, ".", S_IFDIR | 0500);
	assert_text(l.root, "f", "1");
	layers_close(&l);
}

static void a_root_that_is_no_directory_is_refused(void **state)
{
	static const char *const names[] = {".", "/", "./", "/."};
	struct layers l;
	(void)state;

	layers_open(&l);
	for (size_t i = 0; i < 4; i++) {
		struct buffer link = TAPE_INIT, file = TAPE_INIT, hard = TAPE_INIT;

		tape_link(&link, names[i], l.k);
		layers_refuse(&l, &link, HUSK_E_IMAGE, "root");
		tape_file(&hard, "x", "1");
		tape_hard(&hard, names[i], "x");
		layers_refuse(&l, &hard, HUSK_E_IMAGE, "root");
		/* With a slash at the end it is a directory to every tar. */
		if (names[i][strlen(names[i]) - 1] != '.')
			continue;
		tape_file(&file, names[i], "");
		layers_refuse(&l, &file, HUSK_E_IMAGE, "root");
	}
	layers_close(&l);
}

static void a_link_out_is_not_followed(void **state)
{
	struct buffer tape = TAPE_INIT;
	char below[160];
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_link(&tape, "d", l.k);
	tape_file(&tape, "d/a", "inside");
	tape_link(&tape, "u", "../../../../../../../../../../tmp");
	tape_file(&tape, "u/b", "inside too");
	tape_link(&tape, "c", "/proc/self/cwd");
	tape_file(&tape, "c/e", "here");
	layers_add(&l, &tape);
	(void)snprintf(below, sizeof(below), "L0/tree%s/a", l.k);
	assert_text(l.tree.ws, below, "inside");
	assert_text(l.tree.ws, "L0/tree/tmp/b", "inside too");
	assert_text(l.tree.ws, "L0/tree/proc/self/cwd/e", "here");
	assert_gone(l.tree.k, "a");
	layers_close(&l);
}

static void links_that_never_end_are_refused(void **state)
{
	struct buffer tape = TAPE_INIT, turns = TAPE_INIT;
	char path[256] = "";
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_link(&tape, "a", "b");
	tape_link(&tape, "b", "a");
	tape_file(&tape, "a/f", "1");
	layers_refuse(&l, &tape, HUSK_E_IMAGE, "40 links");
	for (int i = 0; i < 50; i++)
		(void)snprintf(path + i * 2, sizeof(path) - (size_t)i * 2, "d/");
	(void)snprintf(path + 100, sizeof(path) - 100, "f");
	tape_link(&turns, "d", ".");
	tape_pax(&turns, "path", path);
	tape_file(&turns, "short", "1");
	layers_refuse(&l, &turns, HUSK_E_IMAGE, "40 links");
	layers_close(&l);
}

static void a_link_inside_is_followed(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_dir(&tape, "usr/bin", 0755);
	tape_link(&tape, "bin", "/usr/bin");
	tape_file(&tape, "bin/x", "program");
	tape_link(&tape, "usr/lib64", "../opt/lib");
	tape_file(&tape, "usr/lib64/y", "library");
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_text(l.root, "usr/bin/x", "program");
	assert_target(l.root, "bin", "/usr/bin");
	assert_text(l.root, "opt/lib/y", "library");
	layers_close(&l);
}

/* What was found about a prefix does not hold once something else stands there. */
static void a_prefix_that_changes_is_looked_at_again(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	char below[160];
	(void)state;

	layers_open(&l);
	tape_dir(&tape, "aaa/bbb", 0755);
	tape_file(&tape, "aaa/bbb/ccc", "1");
	tape_link(&tape, "aaa/bb", l.k);
	tape_file(&tape, "aaa/bb/x", "2");
	tape_dir(&tape, "a", 0755);
	tape_file(&tape, "a/old", "3");
	tape_file(&tape, ".wh.a", "");
	tape_link(&tape, "a", l.k);
	tape_file(&tape, "a/x", "4");
	tape_link(&tape, "a", "aaa");
	tape_file(&tape, "a/y", "5");
	layers_add(&l, &tape);
	(void)snprintf(below, sizeof(below), "L0/tree%s/x", l.k);
	assert_text(l.tree.ws, below, "4");
	assert_text(l.tree.ws, "L0/tree/aaa/y", "5");
	assert_gone(l.tree.k, "x");
	layers_close(&l);
}

/* Longer than any path the kernel takes at once. */
static void deep_names_are_stored(void **state)
{
	struct buffer tape = TAPE_INIT;
	char path[4700] = "", slink[4800], below[4800];
	struct layers l;
	int fd;
	(void)state;

	layers_open(&l);
	for (size_t i = 0; i < 4600; i += 200) {
		memset(path + i, 'a' + (int)(i / 200), 199);
		path[i + 199] = '/';
	}
	path[4599] = '\0';
	(void)snprintf(slink, sizeof(slink), "%s/slink", path);
	(void)snprintf(below, sizeof(below), "%s/slink%.60s/a", path, l.k);
	tape_pax(&tape, "path", slink);
	tape_link(&tape, "short", "/");
	tape_pax(&tape, "path", below);
	tape_file(&tape, "short", "inside");
	layers_add(&l, &tape);
	layers_lay(&l);
	(void)snprintf(below, sizeof(below), "%s/a", l.k + 1);
	assert_text(l.root, below, "inside");
	fd = dup(l.root);
	for (const char *at = path; fd >= 0 && *at; at += 199 + (at[199] == '/')) {
		char part[200] = "";
		int next;

		memcpy(part, at, 199);
		next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)close(fd);
		fd = next;
	}
	assert_true(fd >= 0);
	assert_target(fd, "slink", "/");
	(void)close(fd);
	assert_gone(l.tree.k, "a");
	layers_close(&l);
}

static void names_past_their_bounds_are_refused(void **state)
{
	struct buffer part = TAPE_INIT, whole = TAPE_INIT, deep = TAPE_INIT;
	static char name[200001];
	struct layers l;
	(void)state;

	layers_open(&l);
	memset(name, 'n', 256);
	tape_pax(&part, "path", name);
	tape_file(&part, "short", "1");
	layers_refuse(&l, &part, HUSK_E_TOO_BIG, "OCI_MAX_COMPONENT");
	for (size_t i = 0; i < 9000; i++)
		name[i] = i % 100 == 99 ? '/' : 'n';
	tape_pax(&whole, "path", name);
	tape_file(&whole, "short", "1");
	layers_refuse(&l, &whole, HUSK_E_TOO_BIG, "OCI_MAX_PATH");
	for (size_t i = 0; i < 200000; i++)
		name[i] = i % 2 ? '/' : 'd';
	tape_pax(&deep, "path", name);
	tape_file(&deep, "short", "1");
	layers_refuse(&l, &deep, HUSK_E_TOO_BIG, "OCI_MAX_DEPTH");
	layers_close(&l);
}

static void long_names_in_every_format(void **state)
{
	struct buffer tape = TAPE_INIT;
	char name[180], target[300];
	struct tape_header h = {.name = "file", .type = '0', .mode = 0644};
	struct layers l;
	(void)state;

	layers_open(&l);
	memset(name, 'g', sizeof(name));
	name[179] = '\0';
	memset(target, 't', sizeof(target));
	target[299] = '\0';
	tape_extra(&tape, 'L', name, sizeof(name));
	tape_file(&tape, "cut", "gnu");
	tape_extra(&tape, 'K', target, sizeof(target));
	tape_link(&tape, "link", "cut");
	h.prefix = "some/prefix";
	tape_header(&tape, &h);
	tape_pax(&tape, "path", "na\xc3\xafve/e\xcc\x81t\xc3\xa9"); /* not composed */
	tape_file(&tape, "short", "pax");
	tape_file(&tape, "raw\xff\xfe", "bytes");
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_text(l.root, name, "gnu");
	assert_target(l.root, "link", target);
	assert_text(l.root, "some/prefix/file", "");
	assert_text(l.root, "na\xc3\xafve/e\xcc\x81t\xc3\xa9", "pax");
	assert_text(l.root, "raw\xff\xfe", "bytes");
	layers_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(dot_dot_is_refused),
	    cmocka_unit_test(absolute_names_stay_inside),
	    cmocka_unit_test(spellings_of_one_name_are_one),
	    cmocka_unit_test(the_root_stays_traversable),
	    cmocka_unit_test(a_root_that_is_no_directory_is_refused),
	    cmocka_unit_test(a_link_out_is_not_followed),
	    cmocka_unit_test(links_that_never_end_are_refused),
	    cmocka_unit_test(a_link_inside_is_followed),
	    cmocka_unit_test(a_prefix_that_changes_is_looked_at_again),
	    cmocka_unit_test(deep_names_are_stored),
	    cmocka_unit_test(names_past_their_bounds_are_refused),
	    cmocka_unit_test(long_names_in_every_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
