/* SPDX-License-Identifier: Apache-2.0 */
/* Images made on the spot, as layouts and archives, and a store to put them into. */
#ifndef TESTS_UNIT_OCI_MADE_H
#define TESTS_UNIT_OCI_MADE_H

#include "base/buffer.h"
#include "base/fd.h"
#include "base/memory.h"
#include "oci/import.h"
#include "oci/oci.h"
#include "oci/unpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNUSED_OK   __attribute__((unused))
#define TEXT_MAX    (1 << 20)
#define MANIFEST_V1 "application/vnd.oci.image.manifest.v1+json"
#define INDEX_V1    "application/vnd.oci.image.index.v1+json"

/* -- a place ------------------------------------------------------------------------- */

static char place[64];
static int place_fd = -1;

UNUSED_OK static int place_begin(void **state)
{
	(void)state;
	(void)snprintf(place, sizeof(place), "/tmp/husk-oci-XXXXXX");
	if (!mkdtemp(place))
		return -1;
	place_fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return place_fd < 0 ? -1 : 0;
}

UNUSED_OK static int place_end(void **state)
{
	(void)state;
	CLEANUP_FD int above = openat(place_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	fd_close(&place_fd);
	return tree_remove(above, strrchr(place, '/') + 1);
}

/* An absolute path in the place; good until the eighth call after. */
UNUSED_OK static const char *in_place(const char *name)
{
	static char paths[8][256];
	static unsigned next;
	char *path = paths[next++ % 8];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", place, name);
	return path;
}

UNUSED_OK static void put_file(const char *name, const void *data, size_t size)
{
	CLEANUP_FD int fd =
	    openat(place_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, data, size), 0);
}

UNUSED_OK static void put_text(const char *name, const char *text)
{
	put_file(name, text, strlen(text));
}

/* -- tars ---------------------------------------------------------------------------- */

UNUSED_OK static void tar_add(struct buffer *tar, const char *name, char type,
			      const char *link, const void *data, size_t size)
{
	char block[512] = {0};
	unsigned sum = 0;

	(void)snprintf(block, 100, "%s", name);
	(void)snprintf(block + 100, 8, "%07o", type == '5' ? 0755 : 0644);
	(void)snprintf(block + 108, 8, "%07o", 0);
	(void)snprintf(block + 116, 8, "%07o", 0);
	(void)snprintf(block + 124, 12, "%011o", (unsigned)size);
	(void)snprintf(block + 136, 12, "%011o", 0);
	memset(block + 148, ' ', 8);
	block[156] = type;
	(void)snprintf(block + 157, 100, "%s", link);
	memcpy(block + 257, "ustar\00000", 8);
	for (int i = 0; i < 512; i++)
		sum += (unsigned char)block[i];
	(void)snprintf(block + 148, 8, "%06o", sum);
	assert_int_equal(buffer_add(tar, block, sizeof(block)), 0);
	assert_int_equal(buffer_add(tar, data, size), 0);
	memset(block, 0, sizeof(block));
	assert_int_equal(buffer_add(tar, block, -size % 512), 0);
}

UNUSED_OK static void tar_file(struct buffer *tar, const char *name, const char *text)
{
	tar_add(tar, name, '0', "", text, strlen(text));
}

UNUSED_OK static void tar_end(struct buffer *tar)
{
	static const char zeros[1024];

	assert_int_equal(buffer_add(tar, zeros, sizeof(zeros)), 0);
}

/* -- images -------------------------------------------------------------------------- */

/* One image of one layer, which holds the file `name` with the text content. */
struct made {
	struct buffer layer, config, manifest;
	char layer_digest[DIGEST_TEXT], config_digest[DIGEST_TEXT];
	char manifest_digest[DIGEST_TEXT];
};

static void made_digest(const struct buffer *data, char text[DIGEST_TEXT])
{
	struct digest digest;

	assert_int_equal(digest_of(DIGEST_SHA256, data->data, data->size, &digest, NULL),
			 0);
	digest_text(&digest, text);
}

UNUSED_OK static void made_free(struct made *made)
{
	buffer_deinit(&made->layer);
	buffer_deinit(&made->config);
	buffer_deinit(&made->manifest);
}
#define CLEANUP_MADE __attribute__((cleanup(made_free)))

UNUSED_OK static struct made make_image_for(const char *content, const char *arch)
{
	struct made made = {.layer = BUFFER_INIT(TEXT_MAX),
			    .config = BUFFER_INIT(TEXT_MAX),
			    .manifest = BUFFER_INIT(TEXT_MAX)};

	tar_file(&made.layer, "name", content);
	tar_end(&made.layer);
	made_digest(&made.layer, made.layer_digest);
	assert_int_equal(
	    buffer_addf(
		&made.config,
		"{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":{\"Env\":"
		"[\"A=%s\"]},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"%s\"]}}",
		arch, content, made.layer_digest),
	    0);
	made_digest(&made.config, made.config_digest);
	assert_int_equal(
	    buffer_addf(&made.manifest,
			"{\"schemaVersion\":2,\"mediaType\":\"" MANIFEST_V1
			"\",\"config\":{\"mediaType\":\"application/"
			"vnd.oci.image.config.v1+json\",\"digest\":\"%s\",\"size\":%zu},"
			"\"layers\":[{\"mediaType\":\"application/"
			"vnd.oci.image.layer.v1.tar\",\"digest\":\"%s\",\"size\":%zu}]}",
			made.config_digest, made.config.size, made.layer_digest,
			made.layer.size),
	    0);
	made_digest(&made.manifest, made.manifest_digest);
	return made;
}

static const char *host_arch(void)
{
	static struct platform host;

	platform_host(&host);
	return host.architecture;
}

UNUSED_OK static struct made make_image(const char *content)
{
	return make_image_for(content, host_arch());
}

/* -- layouts ------------------------------------------------------------------------- */

static void put_blob(const char *layout, const char *digest, const struct buffer *data)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/blobs/sha256/%s", layout, digest + 7);
	put_file(path, data->data, data->size);
}

UNUSED_OK static void layout_begin(const char *name)
{
	char path[512];

	(void)mkdirat(place_fd, name, 0755);
	(void)snprintf(path, sizeof(path), "%s/blobs", name);
	(void)mkdirat(place_fd, path, 0755);
	(void)snprintf(path, sizeof(path), "%s/blobs/sha256", name);
	(void)mkdirat(place_fd, path, 0755);
	(void)snprintf(path, sizeof(path), "%s/oci-layout", name);
	put_text(path, "{\"imageLayoutVersion\":\"1.0.0\"}");
}

UNUSED_OK static void layout_blobs(const char *name, const struct made *made)
{
	put_blob(name, made->layer_digest, &made->layer);
	put_blob(name, made->config_digest, &made->config);
	put_blob(name, made->manifest_digest, &made->manifest);
}

/* more: JSON members with a comma before them, or "". */
UNUSED_OK static void index_entry(struct buffer *index, const struct made *made,
				  const char *more)
{
	if (index->size == 0)
		(void)buffer_add_text(index, "{\"schemaVersion\":2,\"manifests\":[");
	else
		(void)buffer_add_text(index, ",");
	assert_int_equal(buffer_addf(index,
				     "{\"mediaType\":\"" MANIFEST_V1
				     "\",\"digest\":\"%s\",\"size\":%zu%s}",
				     made->manifest_digest, made->manifest.size, more),
			 0);
}

UNUSED_OK static void index_end(struct buffer *index, const char *layout)
{
	char path[512];

	assert_int_equal(buffer_add_text(index, "]}"), 0);
	(void)snprintf(path, sizeof(path), "%s/index.json", layout);
	put_file(path, index->data, index->size);
}

#define REF(tag) ",\"annotations\":{\"org.opencontainers.image.ref.name\":\"" tag "\"}"
#define NAMED(name, tag)                                         \
	",\"annotations\":{\"io.containerd.image.name\":\"" name \
	"\",\"org.opencontainers.image.ref.name\":\"" tag "\"}"

/* A layout of one image and one tag. */
UNUSED_OK static void make_layout(const char *name, const struct made *made,
				  const char *more)
{
	CLEANUP_BUFFER struct buffer index = BUFFER_INIT(TEXT_MAX);

	layout_begin(name);
	layout_blobs(name, made);
	index_entry(&index, made, more);
	index_end(&index, name);
}

/* -- the store ----------------------------------------------------------------------- */

UNUSED_OK static struct husk_image_options image_options(void)
{
	static char store[128];
	HUSK_IMAGE_OPTIONS(options);

	(void)snprintf(store, sizeof(store), "%s/store", place);
	options.store = store;
	return options;
}

/* Import, and how it went; the images are released. */
UNUSED_OK static int try_import(const char *name, const char *reference,
				size_t *ret_count, struct husk_error *err)
{
	struct husk_image_options options = image_options();
	struct store_image *images = NULL;
	size_t count = 0;
	int r = oci_import(in_place(name), reference, &options, -1, &images, &count, err);

	if (r == 0)
		store_images_free(images, count);
	if (ret_count)
		*ret_count = count;
	return r;
}

/* It fails with that code, and the message or the hint has that text. */
UNUSED_OK static void refuses(const char *name, const char *reference, int code,
			      const char *text)
{
	struct husk_error err = {0};
	int r = try_import(name, reference, NULL, &err);

	if (r != code || (!strstr(err.message, text) && !strstr(err.hint, text)))
		fail_msg("%s: %d %s: %s (%s)", name, r, err.where, err.message, err.hint);
}

UNUSED_OK static void imports(const char *name, const char *reference, size_t count)
{
	struct husk_error err = {0};
	size_t got = 0;

	if (try_import(name, reference, &got, &err) != 0)
		fail_msg("%s: %s: %s (%s)", name, err.where, err.message, err.hint);
	assert_int_equal(got, count);
}

/* What the file `name` of an image of the store says. */
UNUSED_OK static void holds(const char *reference, const char *content)
{
	struct husk_image_options options = image_options();
	struct husk_error err = {0};
	struct oci_image image;
	char text[64] = "";

	if (oci_image_get(reference, &options, HUSK_PULL_NEVER, -1, &image, &err) != 0)
		fail_msg("%s: %s: %s (%s)", reference, err.where, err.message, err.hint);
	assert_true(fd_read_text(image.root, "name", text, sizeof(text)) >= 0);
	oci_image_deinit(&image);
	assert_string_equal(text, content);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, place_begin, place_end)

#endif
