/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of husk/image.h, and a session that stands on an image. No box is
 * started. */
#include "tests/unit/oci_made.h"

#include <husk.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#define NAME "localhost/made:x"

static struct husk_image_options known(void)
{
	return image_options();
}

/* NAME is in the store; the digest of its manifest. */
static void put_image(const char *content, char digest[DIGEST_TEXT])
{
	CLEANUP_MADE struct made made = make_image(content);

	make_layout("lay", &made, REF("v1"));
	imports("lay", NAME, 1);
	(void)snprintf(digest, DIGEST_TEXT, "%s", made.manifest_digest);
}

static void getters_of_what_was_imported(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	struct husk_image_options options = known();
	husk_images *images = NULL, *list = NULL;
	const husk_image *image;

	(void)state;
	make_layout("lay", &made, REF("v1"));
	assert_int_equal(husk_image_list(&options, &list, NULL), 0);
	assert_int_equal(husk_images_count(list), 0);
	assert_null(husk_images_get(list, 0));
	assert_null(husk_images_free(list));
	assert_int_equal(
	    husk_image_import(in_place("lay"), NAME, &options, &images, NULL), 0);
	assert_int_equal(husk_images_count(images), 1);
	image = husk_images_get(images, 0);
	assert_string_equal(husk_image_name(image), NAME);
	assert_string_equal(husk_image_digest(image), made.manifest_digest);
	assert_string_equal(husk_image_manifest_digest(image), made.manifest_digest);
	assert_non_null(strstr(husk_image_platform(image), "linux/"));
	assert_true(husk_image_bytes(image) == made.layer.size);
	assert_true(husk_image_added(image) > 1700000000);
	assert_null(husk_images_get(images, 1));
	husk_images_free(images);
	/* Nobody wants to know. */
	assert_int_equal(husk_image_import(in_place("lay"), NAME, &options, NULL, NULL),
			 0);
}

static void nothing_is_a_value_too(void **state)
{
	(void)state;
	assert_null(husk_image_free(NULL));
	assert_null(husk_images_free(NULL));
	assert_int_equal(husk_images_count(NULL), 0);
	assert_null(husk_images_get(NULL, 0));
	assert_null(husk_image_name(NULL));
	assert_null(husk_image_digest(NULL));
	assert_null(husk_image_manifest_digest(NULL));
	assert_null(husk_image_platform(NULL));
	assert_int_equal(husk_image_bytes(NULL), 0);
	assert_int_equal(husk_image_added(NULL), 0);
}

static void damaged_names_are_counted(void **state)
{
	struct husk_image_options options = known();
	struct husk_error err = {0};
	husk_images *list = NULL;
	char digest[DIGEST_TEXT], path[160];

	(void)state;
	put_image("one", digest);
	assert_int_equal(husk_image_list(&options, &list, &err), 0);
	assert_int_equal(husk_images_damaged(list, &err), 0);
	assert_int_equal(err.code, 0);
	husk_images_free(list);
	(void)snprintf(path, sizeof(path), "%s/%064d", in_place("store/images"), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(husk_image_list(&options, &list, &err), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(husk_images_count(list), 1);
	assert_int_equal(husk_images_damaged(list, NULL), 1);
	assert_int_equal(husk_images_damaged(list, &err), 1);
	assert_int_equal(err.code, HUSK_E_IMAGE);
	assert_non_null(strstr(err.message, "damaged"));
	husk_images_free(list);
	assert_int_equal(husk_images_damaged(NULL, NULL), 0);
	assert_int_equal(rmdir(path), 0);
}

static void finding_and_inspecting(void **state)
{
	struct husk_image_options options = known();
	char digest[DIGEST_TEXT], beginning[16], *json = NULL;
	husk_image *image = NULL;

	(void)state;
	put_image("one", digest);
	(void)snprintf(beginning, sizeof(beginning), "%.8s", digest + 7);
	assert_int_equal(husk_image_find(NAME, &options, NULL, NULL), 0);
	assert_int_equal(husk_image_find(beginning, &options, &image, NULL), 0);
	assert_string_equal(husk_image_digest(image), digest);
	husk_image_free(image);
	assert_int_equal(husk_image_inspect(digest, &options, &json, NULL), 0);
	assert_non_null(strstr(json, digest));
	free(json);
	assert_int_equal(husk_image_find("localhost/none:x", &options, &image, NULL),
			 HUSK_E_IMAGE);
}

static void what_is_refused(void **state)
{
	struct husk_image_options options = known(), odd = known();
	struct husk_error err = {0};

	(void)state;
	odd.size = 1;
	assert_int_equal(husk_image_find(NULL, &options, NULL, &err), HUSK_E_INVALID);
	assert_int_equal(husk_image_find("", &options, NULL, &err), HUSK_E_INVALID);
	assert_int_equal(husk_image_pull("host", &options, NULL, &err), HUSK_E_INVALID);
	assert_int_equal(husk_image_pull("dir:/x", &options, NULL, &err), HUSK_E_INVALID);
	assert_int_equal(husk_image_pull(NAME, &odd, NULL, &err), HUSK_E_INVALID);
	assert_int_equal(husk_image_import(NULL, NAME, &options, NULL, &err),
			 HUSK_E_INVALID);
	assert_int_equal(husk_image_import("/x", "host", &options, NULL, &err),
			 HUSK_E_INVALID);
	assert_int_equal(husk_image_export(NAME, "", 0, &options, &err), HUSK_E_INVALID);
	assert_int_equal(husk_image_export(NAME, "/x", 2, &options, &err),
			 HUSK_E_INVALID);
	assert_int_equal(husk_image_remove("localhost/none:x", &options, NULL, &err),
			 HUSK_E_IMAGE);
}

static husk_session *open_on(const char *image, const struct husk_image_options *images)
{
	husk_session *session = NULL;
	struct husk_error err = {0};
	HUSK_OPTIONS(options);

	options.image = image;
	options.images = images;
	options.pull = HUSK_PULL_NEVER;
	if (husk_session_open(&options, &session, &err) != 0)
		fail_msg("%s: %s: %s", image, err.where, err.message);
	return session;
}

/* While a session stands on it, and no longer. */
static void a_session_holds_its_image(void **state)
{
	static const char *const none[] = {NULL};
	struct husk_image_options options = known();
	char digest[DIGEST_TEXT], *text = NULL;
	husk_session *session;
	struct husk_error err = {0};
	uint64_t freed = 0;

	(void)state;
	put_image("one", digest);
	session = open_on(NAME, &options);
	assert_int_equal(husk_image_remove(NAME, &options, &freed, &err), HUSK_E_IN_USE);
	assert_int_equal(husk_image_prune(&options, NULL, NULL, NULL), 0);
	/* It has no command of its own. */
	assert_int_equal(husk_session_explain(session, NULL, NULL, &text, &err),
			 HUSK_E_INVALID);
	assert_int_equal(husk_session_explain(session, none, NULL, &text, &err),
			 HUSK_E_INVALID);
	husk_session_close(session);
	assert_int_equal(husk_image_remove(NAME, &options, &freed, &err), 0);
	assert_true(freed > 0);
	assert_int_equal(husk_image_find(NAME, &options, NULL, NULL), HUSK_E_IMAGE);
}

static void leave(const char *name)
{
	int fd = openat(place_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

/* What dead makers left goes and is counted; what somebody is making, and what has its
 * name, stays. */
static void sweeping_takes_what_is_unfinished(void **state)
{
	struct husk_image_options options = known();
	char digest[DIGEST_TEXT];
	uint64_t count = 7;
	int lock;

	(void)state;
	assert_int_equal(husk_image_sweep(&options, &count, NULL), 0);
	assert_int_equal(count, 0); /* and no store is made */
	assert_int_equal(faccessat(place_fd, "store", F_OK, 0), -1);
	put_image("one", digest);
	assert_int_equal(mkdirat(place_fd, "store/tmp/root-x", 0700), 0);
	leave("store/tmp/root-x/file");
	leave("store/tmp/t12.lock");
	leave("store/tmp/t12");
	leave("store/tmp/t34.lock");
	leave("store/tmp/t56.lock");
	leave("store/tmp/t56");
	lock = openat(place_fd, "store/tmp/t56.lock", O_RDWR | O_CLOEXEC);
	assert_true(lock >= 0);
	assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(husk_image_sweep(&options, &count, NULL), 0);
	assert_int_equal(count, 2);
	assert_int_equal(faccessat(place_fd, "store/tmp/root-x", F_OK, 0), -1);
	assert_int_equal(faccessat(place_fd, "store/tmp/t12", F_OK, 0), -1);
	assert_int_equal(faccessat(place_fd, "store/tmp/t34.lock", F_OK, 0), -1);
	assert_int_equal(faccessat(place_fd, "store/tmp/t56", F_OK, 0), 0);
	close(lock);
	assert_int_equal(husk_image_find(NAME, &options, NULL, NULL), 0);
	assert_int_equal(husk_image_sweep(&options, NULL, NULL), 0);
	assert_int_equal(faccessat(place_fd, "store/tmp/t56", F_OK, 0), -1);
}

/* A look at settings opens no store, and asks nobody. */
static void checking_fetches_nothing(void **state)
{
	struct husk_image_options images = known();
	struct husk_error err = {0};
	HUSK_OPTIONS(options);

	(void)state;
	options.image = "127.0.0.1:1/none:x";
	options.images = &images;
	options.pull = HUSK_PULL_ALWAYS;
	assert_int_equal(husk_options_check(&options, &err), 0);
	options.user = "app:staff";
	assert_int_equal(husk_options_check(&options, &err), 0);
	assert_int_equal(faccessat(place_fd, "store", F_OK, 0), -1);
	options.user = "7x";
	assert_int_equal(husk_options_check(&options, &err), HUSK_E_INVALID);
	options.user = NULL;
	options.image = "Upper/case";
	assert_int_equal(husk_options_check(&options, &err), HUSK_E_INVALID);
	options.image = "host";
	options.user = "root";
	assert_int_equal(husk_options_check(&options, &err), HUSK_E_INVALID);
	assert_non_null(strstr(err.hint, "UID"));
	images.size = 3;
	options.image = "127.0.0.1:1/none:x";
	options.user = NULL;
	assert_int_equal(husk_session_open(&options, &(husk_session *){NULL}, &err),
			 HUSK_E_INVALID);
}

/* Nor does it, or an opening that fails, close what the caller has: 0 is a descriptor
 * like others. */
static void what_the_caller_has_open_stays(void **state)
{
	struct husk_image_options images = known();
	husk_session *session = NULL;
	struct stat before, after;
	HUSK_OPTIONS(options);

	(void)state;
	options.images = &images;
	assert_int_equal(fstat(STDIN_FILENO, &before), 0);
	assert_int_equal(husk_options_check(&options, NULL), 0);
	options.image = "made/nowhere:x";
	options.pull = HUSK_PULL_NEVER;
	assert_int_equal(husk_session_open(&options, &session, NULL), HUSK_E_IMAGE);
	options.image = "Upper/case";
	assert_int_equal(husk_options_check(&options, NULL), HUSK_E_INVALID);
	assert_int_equal(husk_session_open(&options, &session, NULL), HUSK_E_INVALID);
	assert_int_equal(fstat(STDIN_FILENO, &after), 0);
	assert_true(before.st_dev == after.st_dev && before.st_ino == after.st_ino);
}

/* That it was cancelled before it began is seen before anybody is asked. */
static void a_session_that_is_cancelled(void **state)
{
	struct husk_image_options images = known();
	husk_session *session = NULL;
	struct husk_error err = {0};
	HUSK_OPTIONS(options);

	(void)state;
	assert_int_equal(husk_cancel_new(&images.cancel, NULL), 0);
	husk_cancel_fire(images.cancel);
	options.image = "127.0.0.1:1/none:x";
	options.images = &images;
	assert_int_equal(husk_session_open(&options, &session, &err), HUSK_E_CANCELLED);
	assert_null(session);
	husk_cancel_free(images.cancel);
}

int main(void)
{
	const struct CMUnitTest session_images[] = {
	    CASE(getters_of_what_was_imported),
	    CASE(nothing_is_a_value_too),
	    CASE(finding_and_inspecting),
	    CASE(what_is_refused),
	    CASE(damaged_names_are_counted),
	    CASE(a_session_holds_its_image),
	    CASE(sweeping_takes_what_is_unfinished),
	    CASE(checking_fetches_nothing),
	    CASE(what_the_caller_has_open_stays),
	    CASE(a_session_that_is_cancelled),
	};

	return cmocka_run_group_tests(session_images, NULL, NULL);
}
