/* SPDX-License-Identifier: Apache-2.0 */
/* Archives and bare root file systems: found out by their content, taken in place. */
#include "tests/unit/oci_made.h"

#include <errno.h>
#include <sys/eventfd.h>

/* gzip with blocks that are not compressed: what matters is the frame. */
static void gzip(struct buffer *to, const struct buffer *from)
{
	static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
	uint32_t end[2] = {0, (uint32_t)from->size};
	size_t at = 0;

	for (size_t i = 0; i < from->size; i++) { /* CRC-32, bit by bit */
		end[0] ^= 0xffffffff;
		end[0] ^= (unsigned char)from->data[i];
		for (int bit = 0; bit < 8; bit++)
			end[0] = end[0] >> 1 ^ (end[0] & 1 ? 0xedb88320 : 0);
		end[0] ^= 0xffffffff;
	}
	assert_int_equal(buffer_add(to, head, sizeof(head)), 0);
	do {
		size_t n = from->size - at < 65535 ? from->size - at : 65535;
		unsigned char block[5] = {at + n == from->size, (unsigned char)n,
					  (unsigned char)(n >> 8), (unsigned char)~n,
					  (unsigned char)(~n >> 8)};

		assert_int_equal(buffer_add(to, block, sizeof(block)), 0);
		assert_int_equal(buffer_add(to, from->data + at, n), 0);
		at += n;
	} while (at < from->size);
	assert_int_equal(buffer_add(to, end, sizeof(end)), 0);
}

/* zstd with raw blocks and without a checksum. */
static void zstd(struct buffer *to, const struct buffer *from)
{
	static const unsigned char head[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58};
	size_t at = 0;

	assert_int_equal(buffer_add(to, head, sizeof(head)), 0);
	do {
		size_t n = from->size - at < 65536 ? from->size - at : 65536;
		size_t bits = n << 3 | (at + n == from->size);
		unsigned char block[3] = {(unsigned char)bits, (unsigned char)(bits >> 8),
					  (unsigned char)(bits >> 16)};

		assert_int_equal(buffer_add(to, block, sizeof(block)), 0);
		assert_int_equal(buffer_add(to, from->data + at, n), 0);
		at += n;
	} while (at < from->size);
}

static void put_buffer(const char *name, const struct buffer *data)
{
	put_file(name, data->data, data->size);
}

/* The command of an image, "" where it has none. */
static void starts(const char *reference, const char *command)
{
	struct husk_image_options options = image_options();
	struct oci_image image;

	assert_int_equal(
	    oci_image_get(reference, &options, HUSK_PULL_NEVER, -1, &image, NULL), 0);
	assert_string_equal(image.config.cmd[0] ? image.config.cmd[0] : "", command);
	oci_image_deinit(&image);
}

static void digest_of_name(const char *reference, char text[DIGEST_TEXT])
{
	struct husk_image_options options = image_options();
	struct store_image image;

	assert_int_equal(oci_find(reference, &options, &image, NULL), 0);
	digest_text(&image.manifest, text);
	store_image_deinit(&image);
}

/* -- root file systems -- */

static void a_root_file_system(void **state)
{
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer packed = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer pressed = BUFFER_INIT(TEXT_MAX);
	char first[DIGEST_TEXT], second[DIGEST_TEXT];

	(void)state;
	tar_add(&tar, "./", '5', "", NULL, 0);
	tar_file(&tar, "./name", "rootfs");
	tar_file(&tar, "./bin/sh", "#!");
	tar_end(&tar);
	put_buffer("plain", &tar);
	refuses("plain", NULL, HUSK_E_INVALID, "import PATH NAME");
	imports("plain", "plain", 1);
	holds("plain", "rootfs");
	starts("plain", "/bin/sh");
	gzip(&packed, &tar);
	put_buffer("packed", &packed);
	imports("packed", "packed:1", 1);
	holds("packed:1", "rootfs");
	starts("packed:1", "/bin/sh");
	zstd(&pressed, &tar);
	put_buffer("pressed", &pressed);
	imports("pressed", "pressed", 1);
	holds("pressed", "rootfs");
	/* The same file is the same image, wherever and whenever. */
	imports("plain", "again", 1);
	digest_of_name("plain", first);
	digest_of_name("again", second);
	assert_string_equal(first, second);
}

static void no_shell_no_command(void **state)
{
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer linked = BUFFER_INIT(TEXT_MAX);

	(void)state;
	tar_file(&tar, "name", "bare");
	tar_add(&tar, "bin/sh", '5', "", NULL, 0);
	put_buffer("bare", &tar);
	imports("bare", "bare", 1);
	starts("bare", "");
	tar_add(&linked, "bin", '2', "usr/bin", NULL, 0);
	tar_file(&linked, "usr/bin/sh", "#!");
	put_buffer("linked", &linked);
	imports("linked", "linked", 1);
	starts("linked", "/bin/sh");
}

/* umoci leaves out the last padding and the end marker; other readers take it too. */
static void a_tar_without_its_last_padding(void **state)
{
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer packed = BUFFER_INIT(TEXT_MAX);

	(void)state;
	tar_file(&tar, "bin/sh", "#!");
	tar_file(&tar, "name", "whole");
	tar.size -= 512 - strlen("whole");
	put_buffer("short", &tar);
	imports("short", "short", 1);
	holds("short", "whole");
	gzip(&packed, &tar);
	put_buffer("short.gz", &packed);
	imports("short.gz", "short:gz", 1);
	tar.size--;
	put_buffer("cut", &tar);
	refuses("cut", "cut", HUSK_E_IMAGE, "truncated");
}

/* cat one.tar other.tar */
static void tars_one_after_another(void **state)
{
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer packed = BUFFER_INIT(TEXT_MAX);

	(void)state;
	tar_file(&tar, "other", "first");
	tar_end(&tar);
	tar_file(&tar, "name", "second");
	tar_end(&tar);
	put_buffer("both", &tar);
	imports("both", "both", 1);
	holds("both", "second");
	gzip(&packed, &tar);
	put_buffer("both.gz", &packed);
	imports("both.gz", "both:gz", 1);
	holds("both:gz", "second");
}

/* A file system may have a manifest.json of its own. */
static void files_that_only_look_like_an_archive(void **state)
{
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);

	(void)state;
	tar_file(&tar, "name", "app");
	tar_file(&tar, "manifest.json", "{\"short_name\":\"an app of the web\"}");
	tar_end(&tar);
	put_buffer("app", &tar);
	imports("app", "app", 1);
	holds("app", "app");
}

static void other_files_are_named(void **state)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer packed = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);

	(void)state;
	put_text("empty", "");
	refuses("empty", "x", HUSK_E_IMAGE, "is empty");
	put_file("program", "\177ELF\2\1\1", 7);
	refuses("program", "x", HUSK_E_IMAGE, "is a program");
	put_text("script", "#!/bin/sh\n");
	refuses("script", "x", HUSK_E_IMAGE, "is a script");
	put_file("xz", "\3757zXZ\0", 6);
	refuses("xz", "x", HUSK_E_IMAGE, "xz -dk");
	put_file("zip", "PK\3\4", 4);
	refuses("zip", "x", HUSK_E_IMAGE, "zip");
	while (text.size < 4000)
		assert_int_equal(buffer_add_text(&text, "a text of words\n"), 0);
	put_buffer("text", &text);
	refuses("text", "x", HUSK_E_IMAGE, "is not a tar");
	gzip(&packed, &text);
	put_buffer("text.gz", &packed);
	refuses("text.gz", "x", HUSK_E_IMAGE, "is not a tar");
	tar_file(&tar, "name", "cut");
	put_file("cut", tar.data, 513);
	refuses("cut", "x", HUSK_E_IMAGE, "");
	tar.data[0] = 'N';
	put_buffer("bent", &tar);
	refuses("bent", "x", HUSK_E_IMAGE, "not a tar");
	put_file("zeros", (char[1024]){0}, 1024);
	refuses("zeros", "x", HUSK_E_IMAGE, "");
	packed.data[packed.size - 6] ^= 1;
	put_buffer("torn.gz", &packed);
	refuses("torn.gz", "x", HUSK_E_IMAGE, "");
}

/* -- archives of docker save -- */

static void docker_image(struct buffer *tar, const struct made *made, const char *layer)
{
	char config[160];

	(void)snprintf(config, sizeof(config), "%s.json", made->config_digest + 7);
	tar_add(tar, config, '0', "", made->config.data, made->config.size);
	if (layer)
		tar_add(tar, layer, '0', "", made->layer.data, made->layer.size);
}

static void docker_row(struct buffer *list, const struct made *made, const char *tags,
		       const char *layer)
{
	assert_int_equal(buffer_addf(list,
				     "%s{\"Config\":\"%s.json\",\"RepoTags\":%s,"
				     "\"Layers\":[\"%s\"]}",
				     list->size ? "," : "[", made->config_digest + 7,
				     tags, layer),
			 0);
}

static void docker_end(struct buffer *tar, struct buffer *list)
{
	assert_int_equal(buffer_add_text(list, "]"), 0);
	tar_file(tar, "manifest.json", list->data);
	tar_end(tar);
}

static void docker_archives(void **state)
{
	CLEANUP_MADE struct made a = make_image("a"), b = make_image("b");
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer list = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer packed = BUFFER_INIT(TEXT_MAX);
	char reference[160];

	(void)state;
	docker_image(&tar, &a, "aa/layer.tar");
	docker_image(&tar, &b, "./bb/layer.tar");
	docker_row(&list, &a, "[\"team/a:1\",\"team/a:latest\"]", "aa/layer.tar");
	docker_row(&list, &b, "[\"localhost:5000/b:2\"]", "bb/layer.tar");
	docker_end(&tar, &list);
	put_buffer("two", &tar);
	refuses("two", "mine", HUSK_E_IMAGE, "1, latest, 2");
	imports("two", NULL, 3);
	holds("team/a:1", "a");
	holds("team/a", "a");
	holds("localhost:5000/b:2", "b");
	imports("two", "localhost:5000/b:2", 1);
	gzip(&packed, &tar);
	put_buffer("two.gz", &packed);
	imports("two.gz", NULL, 3);
	(void)snprintf(reference, sizeof(reference), "docker-archive:%s:team/a:1",
		       in_place("two.gz"));
	{
		struct husk_image_options options = image_options();
		struct husk_error err = {0};
		struct oci_image image;

		assert_int_equal(oci_image_get(reference, &options, HUSK_PULL_MISSING, -1,
					       &image, &err),
				 0);
		assert_string_equal(image.name, reference);
		oci_image_deinit(&image);
	}
}

static void layers_that_are_links_inside(void **state)
{
	CLEANUP_MADE struct made a = make_image("a");
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer list = BUFFER_INIT(TEXT_MAX);

	(void)state;
	tar_add(&tar, "bb/layer.tar", '2', "../aa/layer.tar", NULL, 0);
	docker_image(&tar, &a, "aa/layer.tar");
	docker_row(&list, &a, "null", "bb/layer.tar");
	docker_end(&tar, &list);
	put_buffer("linked", &tar);
	imports("linked", "linked", 1);
	holds("linked", "a");
}

static void links_that_lead_elsewhere(void **state)
{
	static const char *const links[] = {"../../../../etc/passwd",
					    "/etc/passwd",
					    "bb/layer.tar",
					    "layer.tar",
					    ".",
					    ""};

	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		CLEANUP_MADE struct made a = make_image("a");
		CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
		CLEANUP_BUFFER struct buffer list = BUFFER_INIT(TEXT_MAX);

		tar_add(&tar, "bb/layer.tar", '2', links[i], NULL, 0);
		docker_image(&tar, &a, NULL);
		docker_row(&list, &a, "[\"a:1\"]", "bb/layer.tar");
		docker_end(&tar, &list);
		put_buffer("linked", &tar);
		refuses("linked", NULL, HUSK_E_IMAGE, "bb/layer.tar");
	}
}

static void docker_archives_that_lie(void **state)
{
	CLEANUP_MADE struct made a = make_image("a"), b = make_image("b");

	(void)state;
	for (int i = 0; i < 4; i++) {
		CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
		CLEANUP_BUFFER struct buffer list = BUFFER_INIT(TEXT_MAX);

		if (i == 0) /* another layer than the config's */
			tar_add(&tar, "l", '0', "", b.layer.data, b.layer.size);
		if (i == 1) /* a device in its place */
			tar_add(&tar, "l", '3', "", NULL, 0);
		docker_image(&tar, &a, i == 2 ? "other" : i == 3 ? "l" : NULL);
		docker_row(&list, &a, "[\"a:1\"]", i == 3 ? "l\",\"l" : "l");
		docker_end(&tar, &list);
		put_buffer("lies", &tar);
		refuses("lies", NULL, HUSK_E_IMAGE, "");
	}
}

static void archives_before_manifests(void **state)
{
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	char name[80];

	(void)state;
	memset(name, 'a', 64);
	(void)snprintf(name + 64, sizeof(name) - 64, "/layer.tar");
	tar_file(&tar, name, "");
	tar_file(&tar, "repositories", "{}");
	tar_end(&tar);
	put_buffer("old", &tar);
	refuses("old", "x", HUSK_E_IMAGE, "before 1.10");
}

/* -- OCI archives -- */

static void oci_archive(struct buffer *tar, const struct made *made, const char *more)
{
	CLEANUP_BUFFER struct buffer index = BUFFER_INIT(TEXT_MAX);
	const struct buffer *parts[] = {&made->layer, &made->config, &made->manifest};
	const char *digests[] = {made->layer_digest, made->config_digest,
				 made->manifest_digest};

	index_entry(&index, made, more);
	(void)buffer_add_text(&index, "]}");
	tar_file(tar, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
	for (size_t i = 0; i < 3; i++) {
		char name[160];

		(void)snprintf(name, sizeof(name), "./blobs/sha256/%s", digests[i] + 7);
		tar_add(tar, name, '0', "", parts[i]->data, parts[i]->size);
	}
	tar_add(tar, "index.json", '0', "", index.data, index.size);
	tar_end(tar);
}

struct seen {
	int done, found;
};

static int look(void *user, const struct husk_progress *event)
{
	struct seen *seen = user;

	seen->done += event->kind == HUSK_PROGRESS_LAYER_DONE;
	seen->found += event->kind == HUSK_PROGRESS_LAYER_FOUND;
	return 0;
}

static void an_archive_is_taken_once(void **state)
{
	CLEANUP_MADE struct made a = make_image("a"), b = make_image("b");
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer other = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer packed = BUFFER_INIT(TEXT_MAX);
	struct husk_image_options options = image_options();
	static const char *const names[] = {"a.tar", "a.tar.gz"};

	(void)state;
	oci_archive(&tar, &a, REF("v1"));
	oci_archive(&other, &b, REF("v1"));
	put_buffer("a.tar", &tar);
	gzip(&packed, &tar);
	put_buffer("a.tar.gz", &packed);
	for (size_t i = 0; i < 2; i++) {
		struct husk_error err = {0};
		struct seen seen = {0};
		struct oci_image image;
		char reference[160];

		options.on_progress = look;
		options.user = &seen;
		(void)snprintf(reference, sizeof(reference), "oci-archive:%s:v1",
			       in_place(names[i]));
		for (int times = 0; times < 2; times++) {
			assert_int_equal(oci_image_get(reference, &options,
						       HUSK_PULL_MISSING, -1, &image,
						       &err),
					 0);
			oci_image_deinit(&image);
			assert_int_equal(seen.done, i == 0);
		}
		holds(reference, "a");
		put_buffer(names[i], &other);
		assert_int_equal(oci_image_get(reference, &options, HUSK_PULL_MISSING, -1,
					       &image, &err),
				 0);
		oci_image_deinit(&image);
		holds(reference, "b");
		/* A file that is gone: what the store has of it serves. */
		assert_int_equal(unlinkat(place_fd, names[i], 0), 0);
		assert_int_equal(oci_image_get(reference, &options, HUSK_PULL_MISSING, -1,
					       &image, &err),
				 0);
		oci_image_deinit(&image);
		assert_int_equal(oci_image_get(reference, &options, HUSK_PULL_ALWAYS, -1,
					       &image, &err),
				 HUSK_E_IMAGE);
	}
}

static void formats_are_what_their_prefix_says(void **state)
{
	CLEANUP_MADE struct made a = make_image("a");
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	struct husk_image_options options = image_options();
	static const struct {
		const char *prefix, *name, *hint;
	} wrong[] = {
	    {"oci", "a.tar", "oci-archive:"},
	    {"oci-archive", "lay", "oci:PATH"},
	    {"docker-archive", "lay", "oci:PATH"},
	    {"docker-archive", "a.tar", "husk image import"},
	};

	(void)state;
	make_layout("lay", &a, REF("v1"));
	oci_archive(&tar, &a, REF("v1"));
	put_buffer("a.tar", &tar);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct husk_error err = {0};
		struct oci_image image;
		char reference[160];

		(void)snprintf(reference, sizeof(reference), "%s:%s", wrong[i].prefix,
			       in_place(wrong[i].name));
		assert_int_equal(oci_image_get(reference, &options, HUSK_PULL_MISSING, -1,
					       &image, &err),
				 HUSK_E_IMAGE);
		assert_non_null(strstr(err.hint, wrong[i].hint));
	}
}

static void a_document_that_is_there_twice(void **state)
{
	CLEANUP_MADE struct made a = make_image("a"), b = make_image("b");
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	CLEANUP_BUFFER struct buffer list = BUFFER_INIT(TEXT_MAX);

	(void)state;
	docker_image(&tar, &a, "a");
	docker_image(&tar, &b, "b");
	docker_row(&list, &a, "[\"x:1\"]", "a");
	(void)buffer_add_text(&list, "]");
	tar_file(&tar, "manifest.json", list.data);
	list.size = 0;
	docker_row(&list, &b, "[\"x:1\"]", "b");
	docker_end(&tar, &list);
	put_buffer("double", &tar);
	refuses("double", NULL, HUSK_E_IMAGE, "twice");
}

static void cancelled(void **state)
{
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	CLEANUP_FD int stop = eventfd(1, EFD_CLOEXEC);
	struct husk_image_options options = image_options();
	struct store_image *images;
	struct husk_error err = {0};
	size_t count;

	(void)state;
	tar_file(&tar, "name", "never");
	tar_end(&tar);
	put_buffer("plain", &tar);
	assert_int_equal(
	    oci_import(in_place("plain"), "x", &options, stop, &images, &count, &err),
	    HUSK_E_CANCELLED);
}

static void names_that_an_import_cannot_have(void **state)
{
	CLEANUP_BUFFER struct buffer tar = BUFFER_INIT(TEXT_MAX);
	CLEANUP_MADE struct made a = make_image("a");
	char name[200];

	(void)state;
	tar_file(&tar, "name", "x");
	put_buffer("plain", &tar);
	refuses("plain", "Upper", HUSK_E_INVALID, "");
	refuses("plain", "a//b", HUSK_E_INVALID, "");
	(void)snprintf(name, sizeof(name), "a@%s", a.manifest_digest);
	refuses("plain", name, HUSK_E_INVALID, "tag");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(a_root_file_system),
	    CASE(no_shell_no_command),
	    CASE(a_tar_without_its_last_padding),
	    CASE(tars_one_after_another),
	    CASE(files_that_only_look_like_an_archive),
	    CASE(other_files_are_named),
	    CASE(docker_archives),
	    CASE(layers_that_are_links_inside),
	    CASE(links_that_lead_elsewhere),
	    CASE(docker_archives_that_lie),
	    CASE(archives_before_manifests),
	    CASE(an_archive_is_taken_once),
	    CASE(formats_are_what_their_prefix_says),
	    CASE(a_document_that_is_there_twice),
	    CASE(cancelled),
	    CASE(names_that_an_import_cannot_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
