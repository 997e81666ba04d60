/* SPDX-License-Identifier: Apache-2.0 */
/* Names of images: added, found, listed; damaged ones. */
#include "oci/store_own.h"
#include "tests/unit/oci_place.h"

/* An image that is nothing but a name, with all that a name needs. */
static struct store_image make(struct place *place, struct store *store, const char *name,
			       const char *content)
{
	struct store_image image = {.name = strdup(name), .added_s = 7, .size = 8};

	assert_non_null(image.name);
	image.top = image.manifest = digest_of_text(content);
	(void)snprintf(image.platform, sizeof(image.platform), "linux/amd64");
	OK(store_add_blob(store, &image.top, content, strlen(content), &place->err));
	return image;
}

static void add(struct place *place, struct store *store, const char *name,
		const char *content)
{
	struct store_image image = make(place, store, name, content);

	OK(store_set_image(store, &image, &place->err));
	store_image_deinit(&image);
}

static void a_name_says_what_was_set(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct store_image image, got;

	assert_int_equal(store_find_image(store, "a:1", &got, &place->err), HUSK_E_IMAGE);
	image = make(place, store, "a:1", "one");
	OK(store_set_image(store, &image, &place->err));
	OK(store_find_image(store, "a:1", &got, &place->err));
	assert_string_equal(got.name, "a:1");
	assert_true(digest_equal(&got.top, &image.top));
	assert_true(digest_equal(&got.manifest, &image.manifest));
	assert_int_equal(got.chain.algorithm, DIGEST_NONE);
	assert_string_equal(got.platform, "linux/amd64");
	assert_int_equal(got.added_s, 7);
	assert_int_equal(got.size, 8);
	store_image_deinit(&got);
	store_image_deinit(&image);
	add(place, store, "a:1", "two"); /* replaces */
	OK(store_find_image(store, "a:1", &got, &place->err));
	assert_string_equal(got.top.hex, digest_of_text("two").hex);
	store_image_deinit(&got);
	assert_int_equal(place_count(place, "images"), 1);
	assert_int_equal(place_count(place, "tmp"), 0);
	(void)store_close(store);
}

static void a_name_needs_what_it_stands_for(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct store_image image = make(place, store, "a:1", "one");
	char *long_name = calloc(1, 4097);

	image.chain = digest_of_text("chain");
	assert_int_equal(store_set_image(store, &image, &place->err), HUSK_E_INVALID);
	assert_non_null(strstr(place->err.message, "root"));
	image.chain = (struct digest){0};
	image.manifest = digest_of_text("elsewhere");
	assert_int_equal(store_set_image(store, &image, &place->err), HUSK_E_INVALID);
	image.manifest = image.top;
	free(image.name);
	assert_non_null(long_name);
	memset(long_name, 'a', 4096);
	image.name = long_name;
	assert_int_equal(store_set_image(store, &image, &place->err), HUSK_E_INVALID);
	assert_int_equal(place_count(place, "images"), 0);
	store_image_deinit(&image);
	(void)store_close(store);
}

static void the_list_is_sorted(void **state)
{
	static const char *const names[] = {"c", "a", "d", "b"};
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct store_image *images;
	size_t count = 1;

	OK(store_list_images(store, &images, &count, &place->err));
	assert_int_equal(count, 0);
	store_images_free(images, count);
	for (size_t i = 0; i < 4; i++)
		add(place, store, names[i], names[i]);
	(void)store_close(store);
	store = place_open(place, STORE_READ);
	OK(store_list_images(store, &images, &count, &place->err));
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(images[i].name[0], 'a' + (int)i);
	store_images_free(images, count);
	(void)store_close(store);
}

static void digests_are_found_by_their_beginning(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct digest one = digest_of_text("one");
	char prefix[DIGEST_TEXT];
	struct store_image got;

	add(place, store, "a:1", "one");
	add(place, store, "b:1", "one"); /* two names of one image are no doubt */
	add(place, store, "c:1", "two");
	(void)snprintf(prefix, sizeof(prefix), "%.6s", one.hex);
	OK(store_find_digest(store, prefix, &got, &place->err));
	assert_string_equal(got.name, "a:1");
	store_image_deinit(&got);
	digest_text(&one, prefix);
	OK(store_find_digest(store, prefix, &got, &place->err));
	store_image_deinit(&got);
	(void)snprintf(prefix, sizeof(prefix), "%.5s", one.hex);
	assert_int_equal(store_find_digest(store, prefix, &got, &place->err),
			 HUSK_E_INVALID);
	assert_int_equal(store_find_digest(store, "ABCDEF", &got, &place->err),
			 HUSK_E_INVALID);
	assert_int_equal(store_find_digest(store, "../../x", &got, &place->err),
			 HUSK_E_INVALID);
	assert_int_equal(store_find_digest(store, "000000", &got, &place->err),
			 HUSK_E_IMAGE);
	(void)store_close(store);
}

/* Two digests that begin with the same six digits are rare; two manifests of one index
 * are not. */
static void a_doubtful_beginning_is_refused(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	struct store_image one = make(place, store, "a:1", "one"), got;
	struct store_image two = make(place, store, "b:1", "two");

	two.top = one.top;
	OK(store_set_image(store, &one, &place->err));
	OK(store_set_image(store, &two, &place->err));
	assert_int_equal(store_find_digest(store, one.top.hex, &got, &place->err),
			 HUSK_E_IMAGE);
	assert_non_null(strstr(place->err.message, "more than one"));
	OK(store_find_digest(store, two.manifest.hex, &got, &place->err));
	assert_string_equal(got.name, "b:1");
	store_image_deinit(&got);
	store_image_deinit(&one);
	store_image_deinit(&two);
	(void)store_close(store);
}

/* -- damage -- */

static void damaged_names_are_told_of(void **state)
{
	static const char *const texts[] = {
	    "",
	    "{",
	    "[]",
	    "{}",
	    "{\"name\":\"a:1\",\"name\":\"a:1\"}",
	    "{\"name\":\"a:1\",\"top\":\"sha256:../x\",\"manifest\":\"\",\"chain\":\"\","
	    "\"platform\":\"\",\"added\":1,\"size\":1}",
	};
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	char file[STORE_NAME_FILE], path[256], other[128];
	struct store_image *images, got;
	size_t count;

	add(place, store, "a:1", "one");
	add(place, store, "b:1", "two");
	store_name_file("a:1", file);
	(void)snprintf(path, sizeof(path), "images/%s", file);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		place_write(place, path, texts[i]);
		assert_int_equal(store_find_image(store, "a:1", &got, &place->err),
				 HUSK_E_IMAGE);
		assert_non_null(strstr(place->err.message, file));
		assert_true(place->err.hint[0] != '\0');
		memset(&place->err, 0, sizeof(place->err));
		assert_int_equal(store_list_images(store, &images, &count, &place->err),
				 1);
		assert_int_equal(count, 1);
		assert_string_equal(images[0].name, "b:1");
		assert_non_null(strstr(place->err.message, file));
		store_images_free(images, count);
		/* It might need anything. */
		assert_int_equal(store_prune(store, NULL, NULL, &place->err),
				 HUSK_E_IMAGE);
		assert_int_equal(place_count(place, "blobs/sha256"), 2);
	}
	OK(store_find_image(store, "b:1", &got, &place->err));
	store_image_deinit(&got);
	/* A file under the name of another one. */
	(void)snprintf(other, sizeof(other), "images/%064d", 0);
	place_write(place, other, "{}");
	assert_int_equal(store_list_images(store, &images, &count, &place->err), 2);
	store_images_free(images, count);
	assert_int_equal(store_remove_image(store, "b:1", NULL, &place->err),
			 HUSK_E_IMAGE);
	OK(store_find_image(store, "b:1", &got, &place->err));
	store_image_deinit(&got);
	/* The damaged one itself can be removed by its name, whatever else is damaged. */
	memset(&place->err, 0, sizeof(place->err));
	OK(store_remove_image(store, "a:1", NULL, &place->err));
	assert_int_equal(place->err.code, 0);
	assert_false(store_has_name(store, "a:1"));
	assert_int_equal(place_count(place, "blobs/sha256"), 2);
	(void)snprintf(path, sizeof(path), "%s/%s", place->store, other);
	assert_int_equal(unlink(path), 0);
	OK(store_list_images(store, &images, &count, &place->err));
	store_images_free(images, count);
	OK(store_prune(store, NULL, NULL, &place->err));
	assert_int_equal(place_count(place, "blobs/sha256"), 1);
	(void)store_close(store);
}

static void odd_files_among_the_names_are_damage(void **state)
{
	struct place *place = *state;
	struct store *store = place_open(place, STORE_WRITE);
	char path[256];
	struct store_image *images;
	size_t count;

	(void)snprintf(path, sizeof(path), "%s/images/%064d", place->store, 0);
	assert_int_equal(mkfifo(path, 0600), 0); /* is not waited for */
	(void)snprintf(path, sizeof(path), "%s/images/%064d", place->store, 1);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	(void)snprintf(path, sizeof(path), "%s/images/%064d", place->store, 2);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(store_list_images(store, &images, &count, &place->err), 3);
	assert_int_equal(count, 0);
	store_images_free(images, count);
	(void)store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PLACE_TEST(a_name_says_what_was_set),
	    PLACE_TEST(a_name_needs_what_it_stands_for),
	    PLACE_TEST(the_list_is_sorted),
	    PLACE_TEST(digests_are_found_by_their_beginning),
	    PLACE_TEST(a_doubtful_beginning_is_refused),
	    PLACE_TEST(damaged_names_are_told_of),
	    PLACE_TEST(odd_files_among_the_names_are_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
