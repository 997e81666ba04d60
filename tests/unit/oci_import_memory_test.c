/* SPDX-License-Identifier: Apache-2.0 */
/* Import, export and the door with every allocation failing once: each gives
 * HUSK_E_MEMORY or the right answer, closes what it opened, and leaves store and files
 * whole. */
#include "tests/unit/failing_malloc.h"
#include "tests/unit/oci_made.h"
#include "tests/unit/skipping.h"

#if !FAILING_MALLOC

/* A sanitizer has taken the place of malloc already. */
static void every_allocation_fails_once(void **state)
{
	(void)state;
	skip_because("a sanitizer has taken the place of malloc already");
}

#else

/* One call of the door; what it gave is released. 0 or the error. */
struct job {
	const char *what, *argument, *reference;
};

static int do_import(const struct job *job, const struct husk_image_options *options,
		     struct husk_error *err)
{
	struct store_image *images = NULL;
	size_t count = 0;
	int r =
	    oci_import(job->argument, job->reference, options, -1, &images, &count, err);

	if (r == 0)
		store_images_free(images, count);
	return r;
}

static int do_find(const struct job *job, const struct husk_image_options *options,
		   struct husk_error *err)
{
	struct store_image image;
	char *json = NULL;
	int r = oci_find(job->reference, options, &image, err);

	if (r == 0) {
		store_image_deinit(&image);
		r = oci_inspect(job->reference, options, &json, err);
	}
	if (r == 0)
		free(json);
	return r;
}

static int do_get(const struct job *job, const struct husk_image_options *options,
		  struct husk_error *err)
{
	struct oci_image image;
	uint32_t uid, gid;
	char *home = NULL;
	int r =
	    oci_image_get(job->reference, options, HUSK_PULL_MISSING, -1, &image, err);

	if (r < 0)
		return r;
	r = oci_image_user(image.root, "0:0", &uid, &gid, &home, err);
	free(home);
	oci_image_deinit(&image);
	return r;
}

static int do_job(const struct job *job, const struct husk_image_options *options,
		  struct husk_error *err)
{
	int32_t format =
	    strcmp(job->what, "docker") == 0 ? HUSK_IMAGE_DOCKER : HUSK_IMAGE_OCI;

	if (strcmp(job->what, "import") == 0)
		return do_import(job, options, err);
	if (strcmp(job->what, "find") == 0)
		return do_find(job, options, err);
	if (strcmp(job->what, "get") == 0)
		return do_get(job, options, err);
	return oci_export(job->reference, job->argument, format, options, -1, err);
}

/* Every allocation of one job fails once; how many there were. */
static long fail_each(const struct job *job)
{
	struct husk_image_options options = image_options();
	unsigned long open = open_descriptors();
	long rounds = 0;

	for (fail_at = 1;; fail_at++) {
		struct husk_error err = {0};
		int r;

		atomic_store(&allocation, 0);
		atomic_store(&failing, true);
		r = do_job(job, &options, &err);
		atomic_store(&failing, false);
		if (r != 0 && r != HUSK_E_MEMORY)
			fail_msg("%s, allocation %ld: %d: %s: %s", job->what, fail_at, r,
				 err.where, err.message);
		assert_int_equal(open_descriptors(), open);
		if (atomic_load(&allocation) < fail_at) {
			assert_int_equal(r, 0);
			return rounds;
		}
		rounds++;
	}
}

static void every_allocation_fails_once(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	struct job jobs[] = {
	    {"import", in_place("lay"), "app"},	    {"export", in_place("o.tar"), "app"},
	    {"docker", in_place("d.tar"), "app"},   {"import", in_place("o.tar"), NULL},
	    {"import", in_place("d.tar"), "app:2"}, {"import", in_place("lay"), NULL},
	    {"find", NULL, made.manifest_digest},   {"get", NULL, "app"},
	};

	(void)state;
	make_layout("lay", &made, REF("v1"));
	imports("lay", "app", 1);
	imports("lay", "app:2", 1);
	imports("lay", NULL, 1);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		assert_true(fail_each(&jobs[i]) > 5);
	holds("app", "one");
	holds("app:2", "one");
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(every_allocation_fails_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
