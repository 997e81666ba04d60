/* SPDX-License-Identifier: Apache-2.0 */
/* OCI layouts: which image is meant, under which name, and what a hostile one may not do.
 */
#include "tests/unit/oci_made.h"

#include "oci/bounds.h"

static void one_image_by_its_place_and_by_name(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");

	(void)state;
	make_layout("lay", &made, REF("v1"));
	imports("lay", NULL, 1);
	imports("lay", "mine", 1);
	holds("mine", "one");
	holds("docker.io/library/mine:latest", "one");
	{
		char reference[128];

		(void)snprintf(reference, sizeof(reference), "oci:%s:v1",
			       in_place("lay"));
		holds(reference, "one");
		holds(made.manifest_digest, "one");
	}
}

static void names_of_the_source(void **state)
{
	CLEANUP_MADE struct made a = make_image("a"), b = make_image("b");
	CLEANUP_BUFFER struct buffer index = BUFFER_INIT(TEXT_MAX);

	(void)state;
	layout_begin("lay");
	layout_blobs("lay", &a);
	layout_blobs("lay", &b);
	index_entry(&index, &a, NAMED("registry.test/team/a:7", "7"));
	index_entry(&index, &b, REF("registry.test/b:8"));
	index_end(&index, "lay");
	imports("lay", NULL, 2);
	holds("registry.test/team/a:7", "a");
	holds("registry.test/b:8", "b");
}

static void several_images(void **state)
{
	CLEANUP_MADE struct made a = make_image("a"), b = make_image("b");
	CLEANUP_BUFFER struct buffer index = BUFFER_INIT(TEXT_MAX);

	(void)state;
	layout_begin("lay");
	layout_blobs("lay", &a);
	layout_blobs("lay", &b);
	index_entry(&index, &a, REF("one"));
	index_entry(&index, &b, REF("two"));
	index_entry(&index, &b, REF("three"));
	index_end(&index, "lay");
	refuses("lay", "which", HUSK_E_IMAGE, "one, two, three");
	imports("lay", "which:two", 1);
	holds("which:two", "b");
	imports("lay", NULL, 3);
	{
		struct husk_image_options options = image_options();
		struct husk_error err = {0};
		struct store_image *images = NULL;
		char path[128];
		size_t count;

		(void)snprintf(path, sizeof(path), "oci:%s:three", in_place("lay"));
		assert_int_equal(
		    oci_import(path, "by/tag", &options, -1, &images, &count, &err), 0);
		store_images_free(images, count);
		holds("by/tag", "b");
		(void)snprintf(path, sizeof(path), "oci:%s:four", in_place("lay"));
		assert_int_equal(
		    oci_import(path, "by/tag", &options, -1, &images, &count, &err),
		    HUSK_E_IMAGE);
		assert_non_null(strstr(err.message, "no image four"));
		assert_non_null(strstr(err.message, "one, two, three"));
	}
}

static void names_of_one_image_are_no_doubt(void **state)
{
	CLEANUP_MADE struct made a = make_image("a");
	CLEANUP_BUFFER struct buffer index = BUFFER_INIT(TEXT_MAX);

	(void)state;
	layout_begin("lay");
	layout_blobs("lay", &a);
	index_entry(&index, &a, REF("one"));
	index_entry(&index, &a, REF("two"));
	index_end(&index, "lay");
	imports("lay", "which", 1);
	holds("which", "a");
}

static void platforms_without_names_are_one_image(void **state)
{
	CLEANUP_MADE struct made other = make_image_for("other", "s390x");
	CLEANUP_MADE struct made mine = make_image("mine");
	CLEANUP_BUFFER struct buffer index = BUFFER_INIT(TEXT_MAX);
	char platform[512];

	(void)state;
	layout_begin("lay");
	layout_blobs("lay", &mine);
	index_entry(&index, &other,
		    ",\"platform\":{\"os\":\"linux\",\"architecture\":\"s390x\"}");
	(void)snprintf(platform, sizeof(platform),
		       ",\"platform\":{\"os\":\"linux\",\"architecture\":\"%s\"}",
		       host_arch());
	index_entry(&index, &mine, platform);
	index_end(&index, "lay");
	imports("lay", "multi", 1);
	holds("multi", "mine");
}

static void one_tag_for_several_platforms(void **state)
{
	CLEANUP_MADE struct made other = make_image_for("other", "s390x");
	CLEANUP_MADE struct made mine = make_image("mine");
	CLEANUP_BUFFER struct buffer index = BUFFER_INIT(TEXT_MAX);
	char more[512];

	(void)state;
	layout_begin("lay");
	layout_blobs("lay", &mine);
	layout_blobs("lay", &other);
	index_entry(
	    &index, &other,
	    REF("v1") ",\"platform\":{\"os\":\"linux\",\"architecture\":\"s390x\"}");
	(void)snprintf(
	    more, sizeof(more),
	    REF("v1") ",\"platform\":{\"os\":\"linux\",\"architecture\":\"%s\"}",
	    host_arch());
	index_entry(&index, &mine, more);
	index_end(&index, "lay");
	imports("lay", "multi:v1", 1);
	holds("multi:v1", "mine");
	imports("lay", NULL, 1);
}

/* -- hostile ones -- */

static char blob_path[512];

static const char *path_of(const char *layout, const char *digest)
{
	(void)snprintf(blob_path, sizeof(blob_path), "%s/blobs/sha256/%s", layout,
		       digest + 7);
	return blob_path;
}

static void links_are_not_followed(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	const char *parts[] = {made.manifest_digest, made.config_digest,
			       made.layer_digest};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const char *path;

		make_layout("lay", &made, REF("v1"));
		path = path_of("lay", parts[i]);
		/* What it leads to is the right thing, and refused all the same. */
		assert_int_equal(renameat(place_fd, path, place_fd, "outside"), 0);
		assert_int_equal(symlinkat(in_place("outside"), place_fd, path), 0);
		refuses("lay", "x", HUSK_E_IMAGE, "link");
		assert_int_equal(unlinkat(place_fd, path, 0), 0);
	}
	make_layout("lay", &made, REF("v1"));
	assert_int_equal(renameat(place_fd, "lay/blobs", place_fd, "blobs"), 0);
	assert_int_equal(symlinkat("../blobs", place_fd, "lay/blobs"), 0);
	refuses("lay", "x", HUSK_E_IMAGE, "link");
}

static void special_files_are_not_opened(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	static const char *const names[] = {"lay/oci-layout", "lay/index.json"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		make_layout("lay", &made, REF("v1"));
		assert_int_equal(unlinkat(place_fd, names[i], 0), 0);
		assert_int_equal(mkfifoat(place_fd, names[i], 0644), 0);
		refuses("lay", "x", HUSK_E_IMAGE, "no regular file");
		assert_int_equal(unlinkat(place_fd, names[i], 0), 0);
		assert_int_equal(symlinkat("/dev/zero", place_fd, names[i]), 0);
		refuses("lay", "x", HUSK_E_IMAGE, "link");
		assert_int_equal(unlinkat(place_fd, names[i], 0), 0);
		assert_int_equal(mkdirat(place_fd, names[i], 0755), 0);
		refuses("lay", "x", HUSK_E_IMAGE, "no regular file");
		assert_int_equal(unlinkat(place_fd, names[i], AT_REMOVEDIR), 0);
	}
	make_layout("lay", &made, REF("v1"));
	assert_int_equal(unlinkat(place_fd, path_of("lay", made.layer_digest), 0), 0);
	assert_int_equal(mkfifoat(place_fd, blob_path, 0644), 0);
	refuses("lay", "x", HUSK_E_IMAGE, "no regular file");
}

static void documents_are_bounded(void **state)
{
	CLEANUP_MADE struct made made = make_image("one");
	CLEANUP_FD int fd = -1;

	(void)state;
	make_layout("lay", &made, REF("v1"));
	fd = openat(place_fd, "lay/index.json", O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	refuses("lay", "x", HUSK_E_TOO_BIG, "at most");
	put_text("lay/index.json", "{\"schemaVersion\":2,\"manifests\":[]}");
	refuses("lay", "x", HUSK_E_IMAGE, "no image");
	put_text("lay/index.json", "{");
	refuses("lay", "x", HUSK_E_IMAGE, "");
	put_text("lay/oci-layout", "{\"imageLayoutVersion\":\"2.0.0\"}");
	refuses("lay", "x", HUSK_E_IMAGE, "version 2.0.0");
	put_text("lay/oci-layout", "nothing");
	refuses("lay", "x", HUSK_E_IMAGE, "imageLayoutVersion");
}

static void blobs_are_what_their_names_say(void **state)
{
	CLEANUP_MADE struct made made = make_image("one"), other = make_image("two");
	const char *parts[] = {made.manifest_digest, made.config_digest,
			       made.layer_digest};
	const struct buffer *wrong[] = {&other.manifest, &other.config, &other.layer};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		make_layout("lay", &made, REF("v1"));
		put_blob("lay", parts[i], wrong[i]);
		refuses("lay", "x", HUSK_E_IMAGE, "");
		put_file(path_of("lay", parts[i]), "", 0);
		refuses("lay", "x", HUSK_E_IMAGE, "");
		assert_int_equal(unlinkat(place_fd, blob_path, 0), 0);
		refuses("lay", "x", HUSK_E_IMAGE, "not there");
	}
	make_layout("lay", &made, REF("v1"));
	imports("lay", "x", 1);
	holds("x", "one");
}

static void what_is_no_layout(void **state)
{
	(void)state;
	assert_int_equal(mkdirat(place_fd, "dir", 0755), 0);
	refuses("dir", "x", HUSK_E_IMAGE, "tar -C DIR");
	refuses("none", "x", HUSK_E_IMAGE, "no such file");
	assert_int_equal(mkfifoat(place_fd, "fifo", 0644), 0);
	refuses("fifo", "x", HUSK_E_IMAGE, "neither a file nor a directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(one_image_by_its_place_and_by_name),
	    CASE(names_of_the_source),
	    CASE(several_images),
	    CASE(names_of_one_image_are_no_doubt),
	    CASE(platforms_without_names_are_one_image),
	    CASE(one_tag_for_several_platforms),
	    CASE(links_are_not_followed),
	    CASE(special_files_are_not_opened),
	    CASE(documents_are_bounded),
	    CASE(blobs_are_what_their_names_say),
	    CASE(what_is_no_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
