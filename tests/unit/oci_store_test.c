/* SPDX-License-Identifier: Apache-2.0 */
/* A store: how it begins, what it refuses, its blobs, names and roots. */
#include <sys/file.h>

#include "oci/store_own.h"
#include "tests/unit/oci_place.h"

/* -- opening -- */

static void a_store_is_made_where_it_is_missing(void **state)
{
	struct place *place = *state;
	struct store *store;
	struct stat st;

	(void)snprintf(place->store, sizeof(place->store), "%s/a/b/store", place->dir);
	assert_int_equal(store_open(place->store, STORE_READ, &store, &place->err),
			 HUSK_E_IMAGE);
	store = place_open(place, STORE_WRITE);
	assert_string_equal(store_path(store), place->store);
	(void)store_close(store);
	store = place_open(place, STORE_READ);
	(void)store_close(store);
	assert_int_equal(stat(place->store, &st), 0);
	assert_int_equal(st.st_mode & 07777, geteuid() == 0 ? 0755 : 0700);
	assert_int_equal(place_count(place, "tmp"), 0);
}

static void the_umask_does_not_matter(void **state)
{
	struct place *place = *state;
	mode_t old = umask(0);
	struct stat st;

	(void)store_close(place_open(place, STORE_WRITE));
	(void)umask(0777 & ~0700);
	(void)store_close(place_open(place, STORE_WRITE));
	(void)umask(old);
	assert_int_equal(stat(place->store, &st), 0);
	assert_int_equal(st.st_mode & 022, 0);
}

static void refuses(struct place *place, int code, const char *words)
{
	struct store *store = NULL;

	place->err = (struct husk_error){0};
	assert_int_equal(store_open(place->store, STORE_WRITE, &store, &place->err),
			 code);
	assert_non_null(strstr(place->err.message, words));
	assert_true(place->err.hint[0] != '\0');
	assert_null(store);
}

static void odd_places_are_refused(void **state)
{
	struct place *place = *state;
	char real[128];
	struct store *store = NULL;

	assert_int_equal(store_open("relative", STORE_WRITE, &store, &place->err),
			 HUSK_E_INVALID);
	assert_int_equal(store_open("/", STORE_WRITE, &store, &place->err),
			 HUSK_E_INVALID);
	assert_int_equal(store_open(NULL, STORE_WRITE, &store, &place->err),
			 HUSK_E_INVALID);

	(void)snprintf(real, sizeof(real), "%s/real", place->dir);
	assert_int_equal(mkdir(real, 0700), 0);
	assert_int_equal(symlink(real, place->store), 0);
	refuses(place, HUSK_E_INVALID, "is a link");
	assert_int_equal(unlink(place->store), 0);

	assert_int_equal(mkdir(place->store, 0700), 0);
	place_write(place, "homework", "x");
	refuses(place, HUSK_E_INVALID, "homework");
	assert_true(place_has(place, "homework"));
	assert_false(place_has(place, "blobs"));
}

static void a_store_that_others_can_change_is_refused(void **state)
{
	struct place *place = *state;
	char path[128];

	(void)store_close(place_open(place, STORE_WRITE));
	assert_int_equal(chmod(place->store, 0770), 0);
	refuses(place, HUSK_E_INVALID, "mode 0770");
	assert_int_equal(chmod(place->store, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/layers", place->store);
	assert_int_equal(chmod(path, 0757), 0);
	refuses(place, HUSK_E_INVALID, "layers");
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("blobs", path), 0);
	refuses(place, HUSK_E_INVALID, "layers in it is no directory");
	assert_int_equal(unlink(path), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(place->store, 12345, 12345), 0);
		refuses(place, HUSK_E_INVALID, "12345");
	}
}

static void another_version_is_refused(void **state)
{
	struct place *place = *state;

	(void)store_close(place_open(place, STORE_WRITE));
	place_write(place, "version", "husk store 2\n");
	refuses(place, HUSK_E_IMAGE, "husk store 2");
	place_write(place, "version", "\033[31m");
	refuses(place, HUSK_E_IMAGE, "\\x1b");
	place_write(place, "version", "");
	refuses(place, HUSK_E_IMAGE, "version");
}

/* -- blobs -- */

static void small_blobs_are_checked_both_ways(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest digest = digest_of_text("text"), other = digest_of_text("other");
	struct buffer got = BUFFER_INIT(0);
	char name[256];

	assert_int_equal(store_add_blob(store, &digest, "texts", 5, &place->err),
			 HUSK_E_IMAGE);
	assert_int_equal(place_count(place, "blobs/sha256"), 0);
	OK(store_add_blob(store, &digest, "text", 4, &place->err));
	OK(store_add_blob(store, &digest, "text", 4, &place->err));
	OK(store_read_blob(store, &digest, &got, &place->err));
	assert_string_equal(got.data, "text");
	assert_int_equal(store_read_blob(store, &other, &got, &place->err), HUSK_E_IMAGE);
	assert_string_equal(got.data, "text");
	buffer_deinit(&got);

	(void)snprintf(name, sizeof(name), "blobs/sha256/%s", digest.hex);
	place_write(place, name, "tex");
	assert_int_equal(store_read_blob(store, &digest, &got, &place->err),
			 HUSK_E_IMAGE);
	assert_non_null(strstr(place->err.message, "damaged"));
	OK(store_add_blob(store, &digest, "text", 4, &place->err)); /* heals */
	OK(store_read_blob(store, &digest, &got, &place->err));
	buffer_deinit(&got);
	assert_false(store_drop_damaged_blob(store, &digest));
	place_write(place, name, "tEXt");
	assert_true(store_drop_damaged_blob(store, &digest));
	assert_false(store_has_blob(store, &digest, NULL));
	assert_int_equal(place_count(place, "tmp"), 0);
	(void)store_close(store);
}

/* -- roots -- */

static void make_root(struct place *place, struct store *store,
		      const struct digest *chain, const char *content)
{
	struct store_making *making = NULL;
	int dir = -1, fd;

	OK(store_root_begin(store, chain, NULL, NULL, &making, &dir, &place->err));
	assert_non_null(making);
	fd = openat(dir, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	(void)close(fd);
	assert_false(store_has_root(store, chain));
	OK(store_making_commit(making, &place->err));
	assert_null(store_making_free(making));
	assert_true(store_has_root(store, chain));
}

static void make_layer(struct place *place, struct store *store,
		       const struct digest *diff_id)
{
	struct store_making *making = NULL;
	int dir = -1;

	OK(store_layer_begin(store, diff_id, NULL, NULL, &making, &dir, &place->err));
	assert_non_null(making);
	assert_int_equal(mkdirat(dir, "tree", 0755), 0);
	assert_int_equal(mkdirat(dir, "tree/of-layer", 0755), 0);
	OK(store_making_commit(making, &place->err));
	(void)store_making_free(making);
}

static void a_root_is_held_by_its_lease(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest chain = digest_of_text("chain");
	struct store_making *making = (void *)1;
	int tree = -1, lease = -1, dir = 0;

	assert_int_equal(store_root_lease(store, &chain, &tree, &lease, &place->err),
			 HUSK_E_IMAGE);
	make_root(place, store, &chain, "content");
	OK(store_root_begin(store, &chain, NULL, NULL, &making, &dir, &place->err));
	assert_null(making);
	assert_int_equal(dir, -1);
	(void)store_close(store);
	store = place_open(place, STORE_READ);
	OK(store_root_lease(store, &chain, &tree, &lease, &place->err));
	assert_int_equal(faccessat(tree, "file", F_OK, 0), 0);
	assert_int_equal(fcntl(tree, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(lease, F_GETFD), FD_CLOEXEC);
	(void)store_close(store);
	(void)close(tree);
	(void)close(lease);
}

static void a_root_may_be_a_layer(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest chain = digest_of_text("chain"), layer = digest_of_text("layer");
	struct store_making *making = NULL;
	int tree = -1, lease = -1, dir = -1;

	make_layer(place, store, &layer);
	OK(store_root_begin(store, &chain, NULL, NULL, &making, &dir, &place->err));
	OK(store_root_is_layer(making, &layer, &place->err));
	OK(store_making_commit(making, &place->err));
	(void)store_making_free(making);
	OK(store_root_lease(store, &chain, &tree, &lease, &place->err));
	assert_int_equal(faccessat(tree, "of-layer", F_OK, 0), 0);
	(void)close(tree);
	(void)close(lease);
	assert_int_equal(place_count(place, "tmp"), 0);
	(void)store_close(store);
}

static void what_is_not_committed_is_gone(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest layer = digest_of_text("layer");
	struct store_making *making = NULL;
	int dir = -1;

	OK(store_layer_begin(store, &layer, NULL, NULL, &making, &dir, &place->err));
	assert_int_equal(mkdirat(dir, "tree", 0), 0);
	assert_true(place_count(place, "tmp") > 0);
	(void)store_making_free(making);
	assert_int_equal(place_count(place, "tmp"), 0);
	assert_false(store_has_layer(store, &layer));
	(void)store_close(store);
}

static void only_a_writer_may_write(void **state)
{
	struct place *place = *state;
	struct digest digest = digest_of_text("text");
	char name[] = "x";
	struct store_image image = {.name = name};
	struct store_making *making;
	struct blob *blob;
	struct store *store;
	int dir;

	(void)store_close(place_open(place, STORE_WRITE));
	store = place_open(place, STORE_READ);
	assert_int_equal(store_add_blob(store, &digest, "text", 4, &place->err),
			 HUSK_E_INVALID);
	assert_int_equal(
	    store_blob_begin(store, &digest, 4, NULL, NULL, &blob, &place->err),
	    HUSK_E_INVALID);
	assert_int_equal(
	    store_layer_begin(store, &digest, NULL, NULL, &making, &dir, &place->err),
	    HUSK_E_INVALID);
	assert_int_equal(store_set_image(store, &image, &place->err), HUSK_E_INVALID);
	assert_int_equal(store_remove_image(store, "x", NULL, &place->err),
			 HUSK_E_INVALID);
	assert_int_equal(store_prune(store, NULL, NULL, &place->err), HUSK_E_INVALID);
	(void)store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PLACE_TEST(a_store_is_made_where_it_is_missing),
	    PLACE_TEST(the_umask_does_not_matter),
	    PLACE_TEST(odd_places_are_refused),
	    PLACE_TEST(a_store_that_others_can_change_is_refused),
	    PLACE_TEST(another_version_is_refused),
	    PLACE_TEST(small_blobs_are_checked_both_ways),
	    PLACE_TEST(a_root_is_held_by_its_lease),
	    PLACE_TEST(a_root_may_be_a_layer),
	    PLACE_TEST(what_is_not_committed_is_gone),
	    PLACE_TEST(only_a_writer_may_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
