/* SPDX-License-Identifier: Apache-2.0 */
/* A session on an image, and the lists of images, with every allocation failing once:
 * each gives HUSK_E_MEMORY or the right answer, closes what it opened, and lets go of the
 * image. */
#define FAILING_OWN_ALONE
#include "tests/unit/failing_malloc.h"
#include "tests/unit/oci_made.h"
#include "tests/unit/skipping.h"

#include <husk.h>

#if !FAILING_MALLOC

/* A sanitizer has taken the place of malloc already. */
static void every_allocation_fails_once(void **state)
{
	(void)state;
	skip_because("a sanitizer has taken the place of malloc already");
}

#else

/* The call may fail for want of memory, and for nothing else. */
#define ALLOCATING(call)                                                              \
	({                                                                            \
		struct husk_error err = {0};                                          \
		int r_;                                                               \
                                                                                      \
		failing = true;                                                       \
		r_ = (call);                                                          \
		failing = false;                                                      \
		if (r_ != 0 && r_ != HUSK_E_MEMORY)                                   \
			fail_msg("%ld: %s: %s (%d)", fail_at, err.where, err.message, \
				 r_);                                                 \
		r_;                                                                   \
	})

#define NAME "localhost/made:x"

static void use_session(void)
{
	static const char *const env[] = {"B=c", NULL};
	static const char *const argv[] = {"name", NULL};
	struct husk_image_options images = image_options();
	husk_session *session = NULL;
	char *text = NULL;
	HUSK_OPTIONS(options);

	options.image = NAME;
	options.images = &images;
	options.env = env;
	options.temp_dir = place;
	options.workdir = "/x";
	if (ALLOCATING(husk_session_open(&options, &session, &err)) < 0)
		return;
	if (ALLOCATING(husk_session_explain(session, argv, NULL, &text, &err)) == 0) {
		assert_non_null(strstr(text, "A=one"));
		assert_non_null(strstr(text, "B=c"));
	}
	free(text);
	husk_session_close(session);
}

static void use_lists(void)
{
	struct husk_image_options images = image_options();
	husk_images *list = NULL;
	husk_image *image = NULL;
	char *json = NULL;

	if (ALLOCATING(husk_image_list(&images, &list, &err)) == 0)
		assert_int_equal(husk_images_count(list), 1);
	husk_images_free(list);
	if (ALLOCATING(husk_image_find(NAME, &images, &image, &err)) == 0)
		assert_string_equal(husk_image_name(image), NAME);
	husk_image_free(image);
	if (ALLOCATING(husk_image_inspect(NAME, &images, &json, &err)) == 0)
		assert_non_null(strstr(json, NAME));
	free(json);
}

static void every_allocation_fails_once(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	struct husk_image_options images = image_options();
	unsigned long open;

	(void)state;
	make_layout("lay", &made, REF("v1"));
	imports("lay", NAME, 1);
	use_session(); /* what is allocated once for good */
	use_lists();
	open = open_descriptors();
	for (fail_at = 1;; fail_at++) {
		allocation = 0;
		use_session();
		use_lists();
		assert_true(open == open_descriptors());
		if (allocation < fail_at)
			break;
	}
	assert_true(fail_at > 50);
	/* Nobody holds it. */
	assert_int_equal(husk_image_remove(NAME, &images, NULL, NULL), 0);
}

#endif

int main(void)
{
	const struct CMUnitTest session_image_memory[] = {
	    CASE(every_allocation_fails_once),
	};

	return cmocka_run_group_tests(session_image_memory, NULL, NULL);
}
