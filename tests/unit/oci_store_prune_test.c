/* SPDX-License-Identifier: Apache-2.0 */
/* Removing images: what goes, what stays, and who stands in the way. */
#include <sys/file.h>

#include "oci/store_own.h"
#include "tests/unit/oci_fake.h"

/* Two images with a layer in common, each with one of its own. */
static void fetch_two(struct place *place, struct store *store)
{
	static const char *const names[] = {"t.test/a:1", "t.test/b:1"};
	struct fake_blob *layers[3];
	struct fake fake;

	fake_init(&fake);
	layers[0] = fake_add_layer(&fake, "common", 300000);
	layers[1] = fake_add_layer(&fake, "a-own", 500000);
	layers[2] = fake_add_layer(&fake, "b-own", 700000);
	for (int i = 0; i < 2; i++) {
		struct fake_blob *own[] = {layers[0], layers[1 + i]};
		struct fetch_options options = fake_options(names[i]);

		(void)fake_image(&fake, "amd64", own, 2, NULL);
		OK(fake_fetch(&fake, store, &options, &place->err));
	}
	fake_deinit(&fake);
}

static void lease(struct place *place, struct store *store, const char *name, int fds[2])
{
	struct store_image image;

	OK(store_find_image(store, name, &image, &place->err));
	OK(store_root_lease(store, &image.chain, &fds[0], &fds[1], &place->err));
	store_image_deinit(&image);
}

static uint64_t disk_use(const struct place *place)
{
	char command[160];
	char text[32] = "";
	int pipes[2];
	pid_t pid;

	(void)snprintf(command, sizeof(command), "%s", place->store);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		(void)dup2(pipes[1], 1);
		(void)execlp("du", "du", "-sk", "--", command, (char *)NULL);
		_exit(127);
	}
	(void)close(pipes[1]);
	assert_true(read(pipes[0], text, sizeof(text) - 1) > 0);
	(void)close(pipes[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return strtoull(text, NULL, 10) * 1024;
}

static void what_another_name_needs_stays(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	uint64_t freed = 0, before, after;
	int fds[2];

	fetch_two(place, store);
	assert_int_equal(place_count(place, "blobs/sha256"), 3 + 4);
	before = disk_use(place);
	OK(store_remove_image(store, "t.test/a:1", &freed, &place->err));
	after = disk_use(place);
	assert_int_equal(freed, before - after);
	assert_int_equal(place_count(place, "images"), 1);
	assert_int_equal(place_count(place, "blobs/sha256"), 2 + 2);
	assert_int_equal(place_count(place, "layers"), 2);
	assert_int_equal(place_count(place, "roots"), 1);
	assert_int_equal(place_count(place, "tmp"), 0);
	lease(place, store, "t.test/b:1", fds);
	(void)close(fds[0]);
	(void)close(fds[1]);
	OK(store_remove_image(store, "t.test/b:1", &freed, &place->err));
	assert_int_equal(freed, after - disk_use(place));
	assert_int_equal(place_count(place, "blobs/sha256"), 0);
	assert_int_equal(place_count(place, "layers"), 0);
	assert_int_equal(place_count(place, "roots"), 0);
	assert_int_equal(store_remove_image(store, "t.test/b:1", &freed, &place->err),
			 HUSK_E_IMAGE);
	(void)store_close(store);
}

/* A second name for the same image takes nothing with it, and may go while in use. */
static void one_of_two_names_is_only_a_name(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct store_image image;
	uint64_t freed = 1;
	int fds[2];

	fetch_two(place, store);
	OK(store_find_image(store, "t.test/a:1", &image, &place->err));
	free(image.name);
	image.name = strdup("t.test/again:1");
	OK(store_set_image(store, &image, &place->err));
	store_image_deinit(&image);
	lease(place, store, "t.test/a:1", fds);
	OK(store_remove_image(store, "t.test/a:1", &freed, &place->err));
	assert_true(freed <= 4096);
	assert_int_equal(place_count(place, "roots"), 2);
	assert_int_equal(store_remove_image(store, "t.test/again:1", &freed, &place->err),
			 HUSK_E_IN_USE);
	(void)close(fds[0]);
	(void)close(fds[1]);
	OK(store_remove_image(store, "t.test/again:1", &freed, &place->err));
	assert_true(freed > 500000);
	(void)store_close(store);
}

/* The lease is held by another process, through a store that it may only read. */
static void an_image_in_use_stays(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	int ready[2], go[2], status;
	uint64_t count = 0;
	char byte;
	pid_t pid;

	fetch_two(place, store);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct store *own = NULL;
		struct store_image image;
		int tree, held;

		if (store_open(place->store, STORE_READ, &own, NULL) < 0 ||
		    store_find_image(own, "t.test/a:1", &image, NULL) < 0 ||
		    store_root_lease(own, &image.chain, &tree, &held, NULL) < 0)
			_exit(1);
		(void)store_close(own);
		if (write(ready[1], "x", 1) != 1 || read(go[0], &byte, 1) != 1)
			_exit(2);
		/* What it holds is whole still. */
		_exit(faccessat(tree, "a-own", F_OK, 0) == 0 ? 0 : 3);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(store_remove_image(store, "t.test/a:1", NULL, &place->err),
			 HUSK_E_IN_USE);
	assert_true(place->err.hint[0] != '\0');
	assert_int_equal(place_count(place, "images"), 2);
	assert_int_equal(place_count(place, "blobs/sha256"), 7);
	/* Without its name it goes as far as it is not in use. */
	{
		char file[STORE_NAME_FILE], path[256];

		store_name_file("t.test/a:1", file);
		(void)snprintf(path, sizeof(path), "%s/images/%s", place->store, file);
		assert_int_equal(unlink(path), 0);
	}
	OK(store_prune(store, &count, NULL, &place->err));
	assert_int_equal(count, 4); /* manifest, config, a blob, a tree */
	assert_int_equal(place_count(place, "roots"), 2);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	OK(store_prune(store, &count, NULL, &place->err));
	assert_int_equal(count, 1);
	assert_int_equal(place_count(place, "roots"), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	(void)close(go[0]);
	(void)close(go[1]);
	(void)store_close(store);
}

/* A root that is a layer, in use and without a name, keeps the layer. */
static void a_root_in_use_keeps_the_layer_that_it_is(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest chain = digest_of_text("chain"), diff_id = digest_of_text("layer");
	struct digest other = digest_of_text("other");
	struct store_making *making;
	int dir, fds[2];
	uint64_t count = 0;

	for (int i = 0; i < 2; i++) {
		OK(store_layer_begin(store, i ? &other : &diff_id, NULL, NULL, &making,
				     &dir, &place->err));
		assert_int_equal(mkdirat(dir, "tree", 0755), 0);
		OK(store_making_commit(making, &place->err));
		(void)store_making_free(making);
	}
	OK(store_root_begin(store, &chain, NULL, NULL, &making, &dir, &place->err));
	OK(store_root_is_layer(making, &diff_id, &place->err));
	OK(store_making_commit(making, &place->err));
	(void)store_making_free(making);
	OK(store_root_lease(store, &chain, &fds[0], &fds[1], &place->err));
	OK(store_prune(store, &count, NULL, &place->err));
	assert_int_equal(count, 1);
	assert_true(store_has_layer(store, &diff_id));
	assert_false(store_has_layer(store, &other));
	(void)close(fds[0]);
	(void)close(fds[1]);
	OK(store_prune(store, &count, NULL, &place->err));
	assert_int_equal(count, 2);
	assert_false(store_has_root(store, &chain));
	(void)store_close(store);
}

static void cut_pulls_are_pruned(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_text("abcdef");
	uint64_t count = 0, freed = 0;
	struct blob *blob;

	OK(store_blob_begin(store, &digest, 6, NULL, NULL, &blob, &place->err));
	OK(blob_write(blob, "abc", 3, &place->err));
	(void)store_blob_free(blob);
	assert_int_equal(place_count(place, "partial"), 1);
	OK(store_prune(store, &count, &freed, &place->err));
	assert_int_equal(count, 1);
	assert_true(freed > 0);
	assert_int_equal(place_count(place, "partial"), 0);
	(void)store_close(store);
}

/* Who pulls holds the store; nothing may be taken from under it. */
static void a_pull_stands_in_the_way(void **state)
{
	struct place *place = *state;
	struct store *puller = place_open(place, STORE_WRITE);
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_text("text");

	OK(store_add_blob(puller, &digest, "text", 4, &place->err));
	assert_int_equal(store_prune(store, NULL, NULL, &place->err), HUSK_E_IN_USE);
	assert_true(store_has_blob(puller, &digest, NULL));
	(void)store_close(puller);
	OK(store_prune(store, NULL, NULL, &place->err));
	assert_false(store_has_blob(store, &digest, NULL));
	(void)store_close(store);
}

static void hard_links_count_once(void **state)
{
	struct place *place = *state;
	char path[128], to[128];
	uint64_t whole, twice;
	int dir;

	dir = openat(AT_FDCWD, place->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	assert_int_equal(mkdirat(dir, "tree", 0700), 0);
	assert_int_equal(mkdirat(dir, "tree/deep", 0700), 0);
	(void)snprintf(place->store, sizeof(place->store), "%s", place->dir);
	place_write(place, "tree/file", "content");
	whole = store_weigh(dir, "tree");
	(void)snprintf(path, sizeof(path), "%s/tree/file", place->dir);
	(void)snprintf(to, sizeof(to), "%s/tree/deep/again", place->dir);
	assert_int_equal(link(path, to), 0);
	assert_int_equal(store_weigh(dir, "tree"), whole);
	(void)snprintf(to, sizeof(to), "%s/outside", place->dir);
	assert_int_equal(link(path, to), 0);
	twice = store_weigh(dir, "tree");
	assert_true(twice < whole); /* it stays, under its other name */
	assert_int_equal(twice + store_weigh(dir, "none"), twice);
	assert_int_equal(unlink(to), 0);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(fchmodat(dir, "tree/deep", 0, 0), 0);
	assert_int_equal(store_weigh(dir, "tree"), whole);
	(void)close(dir);
}

/* A path longer than the kernel takes. */
static void a_deep_tree_is_weighed(void **state)
{
	enum { DEPTH = 40 };
	struct place *place = *state;
	char name[201];
	uint64_t bytes;
	int dir, at;

	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	dir = openat(AT_FDCWD, place->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	for (int i = 0; i < DEPTH; i++) {
		int next;

		assert_int_equal(mkdirat(at, name, 0755), 0);
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		(void)close(at);
		at = next;
	}
	bytes = store_weigh(dir, name);
	assert_int_equal(bytes % DEPTH, 0);
	assert_true(bytes / DEPTH >= 512 || bytes == 0); /* some count none */
	(void)close(at);
	while (unlinkat(dir, name, AT_REMOVEDIR) < 0) { /* from the inside */
		at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
		for (;;) {
			int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

			if (next < 0 || unlinkat(at, name, AT_REMOVEDIR) == 0) {
				if (next >= 0)
					(void)close(next);
				break;
			}
			(void)close(at);
			at = next;
		}
		(void)close(at);
	}
	(void)close(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PLACE_TEST(what_another_name_needs_stays),
	    PLACE_TEST(one_of_two_names_is_only_a_name),
	    PLACE_TEST(an_image_in_use_stays),
	    PLACE_TEST(a_root_in_use_keeps_the_layer_that_it_is),
	    PLACE_TEST(cut_pulls_are_pruned),
	    PLACE_TEST(a_pull_stands_in_the_way),
	    PLACE_TEST(hard_links_count_once),
	    PLACE_TEST(a_deep_tree_is_weighed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
