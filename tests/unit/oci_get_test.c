/* SPDX-License-Identifier: Apache-2.0 */
/* An image for a session: when the store serves, when a registry is asked, and what is
 * said where there is none. Whoever asks a registry here fails: it is one that nobody can
 * reach, and the call is cancelled, which saves waiting for one more try. */
#include "tests/unit/oci_made.h"

#include "oci/place.h"

#include <dirent.h>
#include <sys/eventfd.h>

#define NOWHERE "127.0.0.1:1/team/app"
#define ASKED	HUSK_E_CANCELLED

static int get(const char *reference, int32_t pull, char name[256],
	       struct husk_error *err)
{
	CLEANUP_FD int stop = eventfd(1, EFD_CLOEXEC);
	struct husk_image_options options = image_options();
	struct oci_image image;
	int r = oci_image_get(reference, &options, pull, stop, &image, err);

	if (r == 0) {
		(void)snprintf(name, 256, "%s", image.name);
		oci_image_deinit(&image);
	}
	return r;
}

static void gives(const char *reference, int32_t pull, int code)
{
	struct husk_error err = {0};
	char name[256];
	int r = get(reference, pull, name, &err);

	if (r != code)
		fail_msg("%s: %d, not %d: %s: %s", reference, r, code, err.where,
			 err.message);
}

static void store_has(const struct made *made, const char *reference)
{
	make_layout("lay", made, REF("v1"));
	imports("lay", reference, 1);
}

static void what_is_there_needs_no_registry(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");

	(void)state;
	store_has(&made, NOWHERE ":1");
	gives(NOWHERE ":1", HUSK_PULL_MISSING, 0);
	gives(NOWHERE ":1", HUSK_PULL_NEVER, 0);
	gives(NOWHERE ":1", HUSK_PULL_ALWAYS, ASKED);
	gives(NOWHERE ":2", HUSK_PULL_MISSING, ASKED);
	gives(NOWHERE ":2", HUSK_PULL_NEVER, HUSK_E_IMAGE);
	/* A failed pull leaves what was there. */
	gives(NOWHERE ":1", HUSK_PULL_MISSING, 0);
}

static void a_digest_is_never_asked_for_again(void **state)
{
	CLEANUP_MADE struct made made = make_image("one"), other = make_image("two");
	struct husk_image_options options = image_options();
	struct store_image image;
	char pinned[256], wrong[256], tagged[256];

	(void)state;
	store_has(&made, NOWHERE ":1");
	(void)snprintf(pinned, sizeof(pinned), NOWHERE "@%s", made.manifest_digest);
	(void)snprintf(tagged, sizeof(tagged), NOWHERE ":9@%s", made.manifest_digest);
	(void)snprintf(wrong, sizeof(wrong), NOWHERE ":1@%s", other.manifest_digest);
	for (int32_t pull = HUSK_PULL_MISSING; pull <= HUSK_PULL_ALWAYS; pull++) {
		gives(pinned, pull, 0);
		gives(tagged, pull, 0);
	}
	/* The tag is there, the digest is not: the digest decides. */
	gives(wrong, HUSK_PULL_MISSING, ASKED);
	gives(wrong, HUSK_PULL_NEVER, HUSK_E_IMAGE);
	assert_int_equal(oci_pull(pinned, &options, -1, &image, NULL), 0);
	assert_string_equal(image.name, pinned);
	store_image_deinit(&image);
	assert_int_equal(oci_pull(NOWHERE ":1", &options, -1, &image, NULL),
			 HUSK_E_REGISTRY);
}

static void digests_and_their_beginnings(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	char part[32];

	(void)state;
	store_has(&made, "one");
	gives(made.manifest_digest, HUSK_PULL_MISSING, 0);
	gives(made.manifest_digest + 7, HUSK_PULL_MISSING, 0);
	(void)snprintf(part, sizeof(part), "%.12s", made.manifest_digest + 7);
	gives(part, HUSK_PULL_NEVER, 0);
	(void)snprintf(part, sizeof(part), "%.13s", made.manifest_digest);
	gives(part, HUSK_PULL_ALWAYS, 0);
	gives("sha256:0000000", HUSK_PULL_MISSING, HUSK_E_IMAGE);
}

/* Two images whose digests begin alike are too rare to make; their records are not. */
static void a_beginning_of_two(void **state)
{
	CLEANUP_MADE struct made made = make_image("0");
	struct husk_image_options options = image_options();
	struct made many[16] = {0};
	struct husk_error err = {0};
	struct store_image image;
	bool found = false;

	(void)state;
	store_has(&made, "zero");
	for (int i = 0; i < 16; i++) { /* of 17, two share their first digit */
		char content[16], name[16];

		(void)snprintf(content, sizeof(content), "%d", i + 1);
		(void)snprintf(name, sizeof(name), "i%d", i);
		many[i] = make_image(content);
		store_has(&many[i], name);
	}
	for (int i = 0; i < 16 && !found; i++) {
		struct target target = {0};
		CLEANUP_PLACES struct places places = {0};
		struct store *store;
		int r;

		assert_int_equal(places_init(&places, &options, NULL), 0);
		(void)snprintf(target.digest, sizeof(target.digest), "%.1s",
			       many[i].manifest_digest + 7);
		r = places_find(&places, &target, NULL, &image, &store, NULL, &err);
		if (r == 1)
			store_image_deinit(&image);
		else
			assert_int_equal(r, HUSK_E_IMAGE);
		found = r < 0;
	}
	assert_true(found);
	assert_non_null(strstr(err.message, "more than one"));
	for (int i = 0; i < 16; i++)
		made_free(&many[i]);
}

static int cut_at(int dir, const char *file)
{
	CLEANUP_FD int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);

	return ftruncate(fd, 20);
}

/* The only file among the names loses its end. */
static void damage_the_name(void)
{
	struct dirent *entry;
	DIR *names = opendir(in_place("store/images"));

	assert_non_null(names);
	while ((entry = readdir(names)) != NULL) {
		if (entry->d_name[0] != '.')
			assert_int_equal(cut_at(dirfd(names), entry->d_name), 0);
	}
	(void)closedir(names);
}

static void a_damaged_name_is_not_a_missing_one(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	struct husk_image_options options = image_options();
	struct husk_error err = {0};
	struct store_image image, *images;
	char name[256];
	uint64_t freed = 0;
	size_t count;

	(void)state;
	store_has(&made, NOWHERE ":1");
	damage_the_name();
	assert_int_equal(get(NOWHERE ":1", HUSK_PULL_NEVER, name, &err), HUSK_E_IMAGE);
	assert_non_null(strstr(err.message, "damaged"));
	assert_non_null(strstr(err.hint, "husk image rm"));
	gives(NOWHERE ":1", HUSK_PULL_MISSING, ASKED);
	memset(&err, 0, sizeof(err));
	assert_int_equal(oci_find(NOWHERE ":1", &options, &image, &err), HUSK_E_IMAGE);
	assert_non_null(strstr(err.message, "damaged"));
	/* What comes again is written over it. */
	imports("lay", NOWHERE ":1", 1);
	gives(NOWHERE ":1", HUSK_PULL_NEVER, 0);
	damage_the_name();
	memset(&err, 0, sizeof(err));
	assert_int_equal(oci_list(&options, &images, &count, &err), 1);
	assert_int_equal(count, 0);
	store_images_free(images, count);
	memset(&err, 0, sizeof(err));
	assert_int_equal(oci_remove(NOWHERE ":1", &options, &freed, &err), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(oci_list(&options, &images, &count, &err), 0);
	store_images_free(images, count);
	assert_int_equal(oci_remove(NOWHERE ":1", &options, &freed, &err), HUSK_E_IMAGE);
	assert_non_null(strstr(err.message, "no such image"));
}

static void what_comes_near_is_named(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	struct husk_error err = {0};
	char name[256];

	(void)state;
	store_has(&made, "python:3.12-slim");
	store_has(&made, "other/python:3.11");
	store_has(&made, "debian:12");
	assert_int_equal(get("python:3.13", HUSK_PULL_NEVER, name, &err), HUSK_E_IMAGE);
	assert_non_null(strstr(err.message, "docker.io/library/python:3.12-slim"));
	assert_non_null(strstr(err.message, "other/python:3.11"));
	assert_null(strstr(err.message, "debian"));
	assert_non_null(strstr(err.hint, "husk pull python:3.13"));
	assert_non_null(strstr(err.hint, "--pull missing"));
	assert_int_equal(get("pyhton", HUSK_PULL_NEVER, name, &err), HUSK_E_IMAGE);
	assert_null(strstr(err.message, "debian"));
}

static void what_is_no_reference(void **state)
{
	(void)state;
	gives("Python", HUSK_PULL_MISSING, HUSK_E_INVALID);
	gives("oci:", HUSK_PULL_MISSING, HUSK_E_INVALID);
	gives("a b", HUSK_PULL_NEVER, HUSK_E_INVALID);
}

static void stores(void **state)
{
	struct husk_image_options options = image_options();
	struct husk_error err = {0};
	struct store_image *images = NULL;
	uint64_t count = 7, freed = 7;
	size_t listed = 7;

	(void)state;
	assert_int_equal(oci_list(&options, &images, &listed, &err), 0);
	assert_int_equal(listed, 0);
	assert_int_equal(oci_prune(&options, &count, &freed, &err), 0);
	assert_int_equal(count, 0);
	assert_int_equal(oci_remove("app", &options, &freed, &err), HUSK_E_IMAGE);
	assert_int_equal(faccessat(place_fd, "store", F_OK, 0), -1);
	options.store = "relative";
	assert_int_equal(oci_list(&options, &images, &listed, &err), HUSK_E_INVALID);
	assert_non_null(strstr(err.message, "absolute"));
}

/* The machine's store is stood in for by another one. */
static void the_second_store_is_only_read(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	CLEANUP_PLACES struct places places = {0};
	CLEANUP_TARGET struct target target = {0};
	struct husk_image_options options = image_options();
	struct store *found = NULL, *second = NULL;
	struct store_image image;
	static char machine[128];

	(void)state;
	store_has(&made, "app");
	(void)snprintf(machine, sizeof(machine), "%s", options.store);
	options.store = in_place("own");
	assert_int_equal(places_init(&places, &options, NULL), 0);
	places.machine = machine;
	assert_int_equal(target_parse("app", &target, NULL), 0);
	assert_int_equal(places_find(&places, &target, NULL, &image, &found, NULL, NULL),
			 1);
	assert_int_equal(places_store(&places, 1, &second, NULL), 0);
	assert_ptr_equal(found, second);
	assert_int_not_equal(store_set_image(found, &image, NULL), 0);
	store_image_deinit(&image);
	assert_int_equal(faccessat(place_fd, "own", F_OK, 0), -1);
}

static void a_platform_that_is_asked_for(void **state)
{
	CLEANUP_MADE struct made made = make_image_for("other", "s390x");
	struct husk_image_options options = image_options();
	struct store_image *images = NULL;
	CLEANUP_FD int stop = eventfd(1, EFD_CLOEXEC);
	struct husk_error err = {0};
	struct oci_image image;
	size_t count = 0;

	(void)state;
	make_layout("lay", &made, REF("v1"));
	options.platform = "linux/s390x";
	assert_int_equal(oci_import(in_place("lay"), NOWHERE ":1", &options, -1, &images,
				    &count, NULL),
			 0);
	store_images_free(images, count);
	assert_int_equal(
	    oci_image_get(NOWHERE ":1", &options, HUSK_PULL_MISSING, -1, &image, NULL),
	    0);
	oci_image_deinit(&image);
	options.platform = "linux/riscv64";
	assert_int_equal(
	    oci_image_get(NOWHERE ":1", &options, HUSK_PULL_NEVER, -1, &image, &err),
	    HUSK_E_IMAGE);
	assert_non_null(strstr(err.message, "linux/s390x only"));
	assert_int_equal(
	    oci_image_get(NOWHERE ":1", &options, HUSK_PULL_MISSING, stop, &image, &err),
	    ASKED);
	options.platform = "nonsense";
	assert_int_equal(
	    oci_image_get(NOWHERE ":1", &options, HUSK_PULL_NEVER, -1, &image, &err),
	    HUSK_E_INVALID);
}

static void removing_by_name_and_by_digest(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	struct husk_image_options options = image_options();
	struct husk_error err = {0};
	uint64_t freed = 0;

	(void)state;
	store_has(&made, "one");
	store_has(&made, "two");
	assert_int_equal(oci_remove(made.manifest_digest, &options, &freed, &err),
			 HUSK_E_IMAGE);
	assert_non_null(strstr(err.message, "2 names"));
	assert_int_equal(oci_remove("one", &options, &freed, &err), 0);
	holds("two", "one");
	assert_int_equal(oci_remove(made.manifest_digest, &options, &freed, &err), 0);
	assert_true(freed > 0);
	gives("two", HUSK_PULL_NEVER, HUSK_E_IMAGE);
}

static void everything_about_an_image(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	struct husk_image_options options = image_options();
	CLEANUP_FREE char *json = NULL;
	static const char *const keys[] = {"\"name\":\"docker.io/library/one:latest\"",
					   "\"bytes\":",
					   "\"added\":\"20",
					   "Z\"",
					   "\"platform\":\"linux/",
					   "\"layers\":[{\"digest\"",
					   "\"diff_id\":\"sha256:",
					   "\"Env\":[\"A=one\"]"};

	(void)state;
	store_has(&made, "one");
	assert_int_equal(oci_inspect("one", &options, &json, NULL), 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_non_null(strstr(json, keys[i]));
	assert_non_null(strstr(json, made.manifest_digest));
	assert_non_null(strstr(json, made.layer_digest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(what_is_there_needs_no_registry),
	    CASE(a_digest_is_never_asked_for_again),
	    CASE(digests_and_their_beginnings),
	    CASE(a_beginning_of_two),
	    CASE(a_damaged_name_is_not_a_missing_one),
	    CASE(what_comes_near_is_named),
	    CASE(what_is_no_reference),
	    CASE(stores),
	    CASE(the_second_store_is_only_read),
	    CASE(a_platform_that_is_asked_for),
	    CASE(removing_by_name_and_by_digest),
	    CASE(everything_about_an_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
