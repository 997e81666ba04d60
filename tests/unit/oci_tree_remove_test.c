/* SPDX-License-Identifier: Apache-2.0 */
/* Trees removed whatever they are: deep, wide, unreadable, full of links and of things
 * that are no files; and never what is outside. */
#include "oci/unpack.h"

#include "tests/unit/session_tree.h"

#include <sys/resource.h>

static void what_is_not_there(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	assert_int_equal(tree_remove(tree.ws, "nothing"), -ENOENT);
	put(tree.ws, "file", "1");
	assert_int_equal(tree_remove(tree.ws, "file"), 0);
	assert_false(exists(tree.ws, "file"));
	assert_int_equal(symlinkat("../K", tree.ws, "link"), 0);
	assert_int_equal(tree_remove(tree.ws, "link"), 0);
	assert_false(exists(tree.ws, "link"));
	assert_true(exists(tree.k, "secret"));
	tree_close(&tree);
}

static void links_are_removed_and_not_followed(void **state)
{
	struct tree tree = tree_open(), inside = tree;
	struct canary canary = canary_look(&tree);
	(void)state;

	make_dir(tree.ws, "t");
	inside.ws = open_dir(tree.ws, "t");
	make_oddities(&inside);
	assert_int_equal(symlinkat("../../K", inside.ws, "k"), 0);
	(void)close(inside.ws);
	assert_int_equal(tree_remove(tree.ws, "t"), 0);
	assert_false(exists(tree.ws, "t"));
	assert_canary(&tree, &canary);
	tree_close(&tree);
}

static void modes(struct tree *tree)
{
	int top;

	become_user(tree);
	make_dir(tree->ws, "t");
	top = open_dir(tree->ws, "t");
	make_dir(top, "none");
	put(top, "none/f", "1");
	make_dir(top, "none/deeper");
	put(top, "none/deeper/f", "1");
	make_dir(top, "ro");
	put(top, "ro/f", "1");
	make_dir(top, "search");
	put(top, "search/f", "1");
	CHECK(fchmodat(top, "none/deeper", 0000, 0) == 0);
	CHECK(fchmodat(top, "none", 0000, 0) == 0);
	CHECK(fchmodat(top, "ro", 0500, 0) == 0);
	CHECK(fchmodat(top, "search", 0100, 0) == 0);
	CHECK(fchmod(top, 0000) == 0);
	CHECK(close(top) == 0);
	CHECK(tree_remove(tree->ws, "t") == 0);
	CHECK(!exists(tree->ws, "t"));
}

static void any_mode_as_an_ordinary_user(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(modes, &tree);
	tree_close(&tree);
}

static void few_descriptors(struct tree *tree)
{
	struct rlimit limit = {24, 24};
	int fd;

	make_dir(tree->ws, "t");
	fd = open_dir(tree->ws, "t");
	(void)close(make_chain(fd, "deep", 300));
	(void)close(fd);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHECK(tree_remove(tree->ws, "t") == 0);
	CHECK(!exists(tree->ws, "t"));
}

static void with_few_descriptors(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(few_descriptors, &tree);
	tree_close(&tree);
}

static void deep_and_wide(void **state)
{
	struct tree tree = tree_open_large();
	char name[32];
	int top;
	(void)state;

	make_dir(tree.ws, "t");
	top = open_dir(tree.ws, "t");
	(void)close(make_chain(top, "d", 20000));
	make_dir(top, "wide");
	for (int i = 0; i < 5000; i++) {
		(void)snprintf(name, sizeof(name), "wide/%d", i);
		make_dir(top, name);
		(void)snprintf(name, sizeof(name), "wide/%d/f", i);
		put(top, name, "");
	}
	(void)close(top);
	assert_int_equal(tree_remove(tree.ws, "t"), 0);
	assert_false(exists(tree.ws, "t"));
	tree_close(&tree);
}

static void mount_inside(struct tree *tree)
{
	char path[96];
	int ws;

	own_mounts();
	/* What was opened before is not of this namespace. */
	(void)snprintf(path, sizeof(path), "%s/ws", tree->base);
	ws = open_dir(AT_FDCWD, path);
	make_dir(ws, "t");
	make_dir(ws, "t/m");
	(void)snprintf(path, sizeof(path), "%s/ws/t/m", tree->base);
	if (mount("none", path, "tmpfs", 0, NULL) < 0)
		_exit(77);
	put(ws, "t/m/kept", "1");
	CHECK(tree_remove(ws, "t") == -EXDEV);
	CHECK(exists(ws, "t/m/kept"));
	CHECK(umount2(path, MNT_DETACH) == 0);
	CHECK(tree_remove(ws, "t") == 0);
}

static void mounts_are_not_entered(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(mount_inside, &tree);
	tree_close(&tree);
}

static void old_kernel(struct tree *tree)
{
	lose_system_calls();
	mount_inside(tree);
}

static void mounts_are_not_entered_without_openat2(void **state)
{
	struct tree tree = tree_open();
	(void)state;

	in_child(old_kernel, &tree);
	tree_close(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_not_there),
	    cmocka_unit_test(links_are_removed_and_not_followed),
	    cmocka_unit_test(any_mode_as_an_ordinary_user),
	    cmocka_unit_test(with_few_descriptors),
	    cmocka_unit_test(deep_and_wide),
	    cmocka_unit_test(mounts_are_not_entered),
	    cmocka_unit_test(mounts_are_not_entered_without_openat2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
