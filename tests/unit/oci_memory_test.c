/* SPDX-License-Identifier: Apache-2.0 */
/* The store and a fetch with every allocation failing once: each gives HUSK_E_MEMORY or
 * the right answer, closes what it opened, and leaves a store that works. */
#define FAILING_OWN_ALONE
#include "tests/unit/failing_malloc.h"
#include "tests/unit/oci_fake.h"
#include "tests/unit/skipping.h"

#if !FAILING_MALLOC

/* A sanitizer has taken the place of malloc already. */
static void every_allocation_fails_once(void **state)
{
	(void)state;
	skip_because("a sanitizer has taken the place of malloc already");
}

#else

/* The call may fail for want of memory, and for nothing else. */
#define ALLOCATING(call)                                                               \
	({                                                                             \
		int r_;                                                                \
                                                                                       \
		atomic_store(&failing, true);                                          \
		r_ = (call);                                                           \
		atomic_store(&failing, false);                                         \
		if (r_ != 0 && r_ != HUSK_E_MEMORY)                                    \
			fail_msg("%s, allocation %ld: %d: %s: %s", #call, fail_at, r_, \
				 place->err.where, place->err.message);                \
		r_;                                                                    \
	})

static const char name[] = "t.test/a:1";

/* One round; returns how many allocations there were. */
static long round_of(struct place *place, struct fake *fake)
{
	struct fetch_options options = fake_options(name);
	struct store *store = NULL;
	struct store_image *images = NULL, image;
	int tree = -1, lease = -1;
	uint64_t freed;
	size_t count;

	atomic_store(&allocation, 0);
	if (ALLOCATING(store_open(place->store, STORE_WRITE, &store, &place->err)) != 0)
		OK(store_open(place->store, STORE_WRITE, &store, &place->err));
	if (ALLOCATING(fake_fetch(fake, store, &options, &place->err)) != 0) {
		assert_int_equal(place_count(place, "images"), 0);
		assert_int_equal(place_count(place, "tmp"), 0);
		OK(fake_fetch(fake, store, &options, &place->err));
	}
	if (ALLOCATING(store_list_images(store, &images, &count, &place->err)) == 0) {
		assert_int_equal(count, 1);
		store_images_free(images, count);
	}
	if (ALLOCATING(store_find_image(store, name, &image, &place->err)) != 0)
		OK(store_find_image(store, name, &image, &place->err));
	if (ALLOCATING(
		store_root_lease(store, &image.chain, &tree, &lease, &place->err)) == 0) {
		(void)close(tree);
		(void)close(lease);
	}
	store_image_deinit(&image);
	if (ALLOCATING(store_prune(store, NULL, NULL, &place->err)) != 0)
		assert_int_equal(place_count(place, "roots"), 1);
	if (ALLOCATING(store_remove_image(store, name, &freed, &place->err)) != 0)
		OK(store_remove_image(store, name, &freed, &place->err));
	OK(store_prune(store, NULL, NULL, &place->err));
	assert_int_equal(place_count(place, "blobs/sha256"), 0);
	assert_int_equal(place_count(place, "layers"), 0);
	assert_int_equal(place_count(place, "roots"), 0);
	(void)store_close(store);
	/* What could not be removed is swept by the next who comes. */
	(void)store_close(place_open(place, STORE_WRITE));
	assert_int_equal(place_count(place, "tmp"), 0);
	return atomic_load(&allocation);
}

static void every_allocation_fails_once(void **state)
{
	struct place *place = *state;
	struct fake_blob *layers[2];
	struct fake fake;
	long count;
	int fds;

	fake_init(&fake);
	layers[0] = fake_add_layer(&fake, "a", 3000);
	layers[1] = fake_add_layer(&fake, "b", 3000);
	(void)fake_image(&fake, "amd64", layers, 2, NULL);
	count = round_of(place, &fake); /* what is loaded once is loaded now */
	count = round_of(place, &fake);
	fds = open_fds();
	assert_true(count > 100);
	for (fail_at = 1; fail_at <= count + 20; fail_at++) {
		(void)round_of(place, &fake);
		assert_int_equal(open_fds(), fds);
	}
	fake_deinit(&fake);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {PLACE_TEST(every_allocation_fails_once)};

	place_in_memory = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
