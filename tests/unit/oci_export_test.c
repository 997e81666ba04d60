/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: the same bytes each time, readable by ourselves with the same digests, and
 * never half a file. What other programs make of them is in tests/images. */
#include "tests/unit/oci_made.h"

#include "oci/tar_survey.h"
#include "oci/tar_write.h"

#include <dirent.h>
#include <sys/eventfd.h>
#include <sys/file.h>

static int export_to(const char *reference, const char *name, int32_t format, int cancel,
		     struct husk_error *err)
{
	struct husk_image_options options = image_options();

	return oci_export(reference, in_place(name), format, &options, cancel, err);
}

static void exports(const char *reference, const char *name, int32_t format)
{
	struct husk_error err = {0};

	if (export_to(reference, name, format, -1, &err) != 0)
		fail_msg("%s: %s (%s)", err.where, err.message, err.hint);
}

static void same_bytes(const char *one, const char *other)
{
	CLEANUP_FREE char *a = malloc(TEXT_MAX), *b = malloc(TEXT_MAX);
	ssize_t size = fd_read_text(place_fd, one, a, TEXT_MAX);

	assert_true(size > 0);
	assert_int_equal(size, fd_read_text(place_fd, other, b, TEXT_MAX));
	assert_memory_equal(a, b, (size_t)size);
}

static void stands_for(const char *reference, const char *digest)
{
	struct husk_image_options options = image_options();
	struct store_image image;
	char text[DIGEST_TEXT];

	assert_int_equal(oci_find(reference, &options, &image, NULL), 0);
	digest_text(&image.manifest, text);
	store_image_deinit(&image);
	assert_string_equal(text, digest);
}

static void oci_comes_back(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	uint64_t freed;

	(void)state;
	make_layout("lay", &made, REF("v1"));
	imports("lay", "team/app:7", 1);
	exports("team/app:7", "one.tar", HUSK_IMAGE_OCI);
	exports("team/app:7", "two.tar", HUSK_IMAGE_OCI);
	same_bytes("one.tar", "two.tar");
	{
		struct husk_image_options options = image_options();

		assert_int_equal(oci_remove("team/app:7", &options, &freed, NULL), 0);
		assert_true(freed > 0);
	}
	imports("one.tar", NULL, 1);
	holds("team/app:7", "one");
	stands_for("team/app:7", made.manifest_digest);
	imports("one.tar", "other", 1);
	stands_for("other", made.manifest_digest);
}

static void docker_comes_back(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");

	(void)state;
	make_layout("lay", &made, REF("v1"));
	imports("lay", "team/app:7", 1);
	exports("team/app:7", "one.tar", HUSK_IMAGE_DOCKER);
	exports("team/app:7", "two.tar", HUSK_IMAGE_DOCKER);
	same_bytes("one.tar", "two.tar");
	imports("one.tar", "again", 1);
	holds("again", "one");
	exports("again", "three.tar", HUSK_IMAGE_DOCKER);
	imports("one.tar", NULL, 1);
	holds("team/app:7", "one");
}

static void names_in_exports(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	char reference[160];

	(void)state;
	make_layout("lay", &made, REF("v1"));
	imports("lay", NULL, 1);
	(void)snprintf(reference, sizeof(reference), "oci:%s:v1", in_place("lay"));
	exports(reference, "tagged.tar", HUSK_IMAGE_OCI);
	imports("tagged.tar", NULL, 1);
	(void)snprintf(reference, sizeof(reference), "oci-archive:%s:v1",
		       in_place("tagged.tar"));
	holds(reference, "one");
	exports(reference, "bare.tar", HUSK_IMAGE_DOCKER);
	imports("bare.tar", NULL, 1);
	(void)snprintf(reference, sizeof(reference), "docker-archive:%s",
		       in_place("bare.tar"));
	holds(reference, "one");
}

static void only_files_are_replaced(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	static const struct {
		const char *name, *text;
	} targets[] = {{"dir", "directory"}, {"dir/", "directory"},
		       {"fifo", "neither"},  {"link", "link"},
		       {"dangling", "link"}, {"dir/none/x", "cannot open"}};
	struct stat st;

	(void)state;
	make_layout("lay", &made, REF("v1"));
	imports("lay", "app", 1);
	assert_int_equal(mkdirat(place_fd, "dir", 0755), 0);
	assert_int_equal(mkfifoat(place_fd, "fifo", 0600), 0);
	put_text("file", "what was there");
	assert_int_equal(symlinkat("file", place_fd, "link"), 0);
	assert_int_equal(symlinkat("none", place_fd, "dangling"), 0);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct husk_error err = {0};

		assert_true(export_to("app", targets[i].name, HUSK_IMAGE_OCI, -1, &err) <
			    0);
		assert_non_null(strstr(err.message, targets[i].text));
	}
	exports("app", "file", HUSK_IMAGE_OCI);
	assert_int_equal(fstatat(place_fd, "file", &st, 0), 0);
	assert_true(S_ISREG(st.st_mode) && st.st_size > 1000);
	imports("file", "again", 1);
}

static size_t names_below(void)
{
	CLEANUP_FD int fd = openat(place_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fdopendir(fd_take(&fd));
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count;
}

/* The old file stays whole, and nothing is left beside it. */
static void a_failure_leaves_what_was(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	CLEANUP_FD int stop = eventfd(1, EFD_CLOEXEC);
	char text[64], path[512];
	struct husk_error err = {0};
	size_t before;

	(void)state;
	make_layout("lay", &made, REF("v1"));
	imports("lay", "app", 1);
	put_text("file", "what was there");
	before = names_below();
	assert_int_equal(export_to("app", "file", HUSK_IMAGE_OCI, stop, &err),
			 HUSK_E_CANCELLED);
	assert_int_equal(export_to("app", "file", HUSK_IMAGE_DOCKER, stop, &err),
			 HUSK_E_CANCELLED);
	(void)snprintf(path, sizeof(path), "store/blobs/sha256/%s",
		       made.layer_digest + 7);
	assert_int_equal(unlinkat(place_fd, path, 0), 0);
	assert_true(export_to("app", "file", HUSK_IMAGE_OCI, -1, &err) < 0);
	assert_true(export_to("app", "file", HUSK_IMAGE_DOCKER, -1, &err) < 0);
	assert_int_equal(names_below(), before);
	assert_true(fd_read_text(place_fd, "file", text, sizeof(text)) > 0);
	assert_string_equal(text, "what was there");
}

static void a_damaged_layer_is_not_exported_as_plain(void **state)
{
	CLEANUP_MADE struct made made = make_image("one"), other = make_image("two");
	struct husk_error err = {0};
	char path[512];

	(void)state;
	make_layout("lay", &made, REF("v1"));
	imports("lay", "app", 1);
	(void)snprintf(path, sizeof(path), "store/blobs/sha256/%s",
		       made.layer_digest + 7);
	assert_int_equal(unlinkat(place_fd, path, 0), 0);
	put_file(path, other.layer.data, other.layer.size);
	assert_int_equal(export_to("app", "file", HUSK_IMAGE_DOCKER, -1, &err),
			 HUSK_E_IMAGE);
}

/* The names of a layout with sha512 pass what a header holds. */
static void long_names_have_a_record(void **state)
{
	CLEANUP_SURVEY struct tar_survey survey = {0};
	CLEANUP_FD int fd = openat(place_fd, "t", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct tar_out out = {.fd = fd, .where = "t"};
	struct tar_file *file = NULL;
	struct tar_input input;
	char name[150];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(tar_out_directory(&out, "d/", NULL), 0);
	assert_int_equal(tar_out_file(&out, name, "long", 4, NULL), 0);
	assert_int_equal(tar_out_file(&out, "short", "short", 5, NULL), 0);
	assert_int_equal(tar_out_finish(&out, NULL), 0);
	assert_int_equal(out.at % 10240, 0);
	assert_int_equal(tar_file_new(fd, out.at, "t", &file, &input, NULL), 0);
	assert_int_equal(tar_survey_take(&input, NULL, NULL, &survey, NULL), 0);
	file = tar_file_free(file);
	assert_int_equal(survey.count, 3);
	assert_int_equal(survey.members[0].type, '5');
	assert_string_equal(survey.members[1].name, name);
	assert_int_equal(survey.members[1].size, 4);
	assert_string_equal(survey.members[2].name, "short");
}

/* Of an export that was killed when its file had a name, but not yet its own. */
static void what_killed_exports_left_goes(void **state)
{
	static const char dead[] = ".husk-export-0123456789abcdef.tmp";
	static const char held[] = ".husk-export-fedcba9876543210.tmp";
	CLEANUP_MADE struct made made = make_image("one");
	int fd, dead_fd;

	(void)state;
	make_layout("lay", &made, REF("v1"));
	imports("lay", "team/app:7", 1);
	dead_fd = openat(place_fd, dead, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(dead_fd >= 0);
	close(dead_fd);
	fd = openat(place_fd, held, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	exports("team/app:7", "one.tar", HUSK_IMAGE_OCI);
	assert_int_equal(faccessat(place_fd, dead, F_OK, 0), -1);
	assert_int_equal(faccessat(place_fd, held, F_OK, 0), 0);
	close(fd);
	exports("team/app:7", "one.tar", HUSK_IMAGE_OCI);
	assert_int_equal(faccessat(place_fd, held, F_OK, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(oci_comes_back),
	    CASE(docker_comes_back),
	    CASE(names_in_exports),
	    CASE(only_files_are_replaced),
	    CASE(a_failure_leaves_what_was),
	    CASE(a_damaged_layer_is_not_exported_as_plain),
	    CASE(long_names_have_a_record),
	    CASE(what_killed_exports_left_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
