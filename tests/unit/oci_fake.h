/* SPDX-License-Identifier: Apache-2.0 */
/* Images made in memory, and a source that has them: with every fault that a registry
 * may have. */
#ifndef TESTS_UNIT_OCI_FAKE_H
#define TESTS_UNIT_OCI_FAKE_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "oci/bounds.h"
#include "oci/fetch.h"
#include "tests/unit/oci_place.h"

enum { FAKE_BLOBS = 64, FAKE_TEXT = 32 << 10 };

#define FAKE_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define FAKE_INDEX    "application/vnd.oci.image.index.v1+json"
#define FAKE_CONFIG   "application/vnd.oci.image.config.v1+json"
#define FAKE_LAYER    "application/vnd.oci.image.layer.v1.tar"
#define FAKE_FOREIGN  "application/vnd.oci.image.layer.nondistributable.v1.tar"

enum fake_fault {
	FAULT_NONE,
	FAULT_SHORT,	 /* ends in the middle, as if that were all */
	FAULT_WRONG,	 /* a byte is another one */
	FAULT_CUT,	 /* half of it, then an error */
	FAULT_MISSING,	 /* an error at once */
	FAULT_HANGS,	 /* half of it, then nothing until it is abandoned */
	FAULT_UNSETTLED, /* says that it is done, and is not */
	FAULT_SLOW,	 /* a pause after every chunk */
};

struct fake_blob {
	struct digest digest;
	char *data;
	size_t size;
	enum fake_fault fault;
};

/* What was asked for; shared with forked processes. */
struct fake_counts {
	atomic_int documents, blobs, hanging;
	atomic_long bytes;
};

struct fake {
	struct fake_blob blobs[FAKE_BLOBS];
	size_t count;
	size_t chunk;
	struct fake_counts *counts;
	const char *layer_type;
	struct descriptor top;
	struct buffer top_data;
};

static inline void fake_init(struct fake *fake)
{
	memset(fake, 0, sizeof(*fake));
	fake->chunk = 1000;
	fake->layer_type = FAKE_LAYER;
	fake->counts = mmap(NULL, sizeof(*fake->counts), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fake->counts != MAP_FAILED);
}

static inline void fake_deinit(struct fake *fake)
{
	for (size_t i = 0; i < fake->count; i++)
		free(fake->blobs[i].data);
	(void)munmap(fake->counts, sizeof(*fake->counts));
	buffer_deinit(&fake->top_data);
}

static inline struct fake_blob *fake_add(struct fake *fake, const void *data, size_t size)
{
	struct fake_blob *blob = &fake->blobs[fake->count++];

	assert_true(fake->count <= FAKE_BLOBS);
	assert_int_equal(digest_of(DIGEST_SHA256, data, size, &blob->digest, NULL), 0);
	blob->data = malloc(size + 1);
	assert_non_null(blob->data);
	memcpy(blob->data, data, size);
	blob->data[size] = '\0';
	blob->size = size;
	return blob;
}

static inline struct fake_blob *fake_add_text(struct fake *fake, const char *text)
{
	return fake_add(fake, text, strlen(text));
}

/* A tar of one file. */
static inline struct fake_blob *fake_add_layer(struct fake *fake, const char *name,
					       size_t size)
{
	size_t whole = 512 + (size + 511) / 512 * 512 + 1024;
	char *tar = calloc(1, whole);
	struct fake_blob *blob;
	unsigned sum = 0;

	assert_non_null(tar);
	(void)snprintf(tar, 100, "%s", name);
	memcpy(tar + 100, "0000644\0000000000\0000000000", 24);
	(void)snprintf(tar + 124, 12, "%011zo", size);
	memcpy(tar + 136, "00000000000\0        0", 21);
	memcpy(tar + 257, "ustar\00000", 8);
	for (int i = 0; i < 512; i++)
		sum += (unsigned char)tar[i];
	(void)snprintf(tar + 148, 8, "%06o", sum);
	tar[155] = ' ';
	memset(tar + 512, name[0], size);
	blob = fake_add(fake, tar, whole);
	free(tar);
	return blob;
}

static inline void fake_descriptor(const struct fake_blob *blob, const char *type,
				   struct descriptor *ret)
{
	*ret = (struct descriptor){.digest = blob->digest, .size = blob->size};
	(void)snprintf(ret->media_type, sizeof(ret->media_type), "%s", type);
	ret->media = media_of(type);
}

static inline void fake_set_top(struct fake *fake, const struct fake_blob *blob,
				const char *type)
{
	fake_descriptor(blob, type, &fake->top);
	buffer_deinit(&fake->top_data);
	fake->top_data = BUFFER_INIT(OCI_MAX_DOCUMENT);
	assert_int_equal(buffer_add(&fake->top_data, blob->data, blob->size), 0);
}

static inline const char *fake_entry(char text[400], const struct fake_blob *blob,
				     const char *type, const char *more)
{
	char digest[DIGEST_TEXT];

	digest_text(&blob->digest, digest);
	(void)snprintf(text, 400,
		       "{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%zu%s}", type,
		       digest, blob->size, more);
	return text;
}

/* The config and manifest of an image of these layers; diff_ids: NULL for theirs. The
 * manifest becomes the top. */
static inline struct fake_blob *fake_image(struct fake *fake, const char *architecture,
					   struct fake_blob *const *layers, size_t count,
					   const struct digest *diff_ids)
{
	CLEANUP_BUFFER struct buffer config = BUFFER_INIT(FAKE_TEXT);
	CLEANUP_BUFFER struct buffer manifest = BUFFER_INIT(FAKE_TEXT);
	char digest[DIGEST_TEXT], entry[400];
	struct fake_blob *blob;

	(void)buffer_addf(&config,
			  "{\"os\":\"linux\",\"architecture\":\"%s\",\"rootfs\":{"
			  "\"type\":\"layers\",\"diff_ids\":[",
			  architecture);
	for (size_t i = 0; i < count; i++) {
		digest_text(diff_ids ? &diff_ids[i] : &layers[i]->digest, digest);
		(void)buffer_addf(&config, "%s\"%s\"", i ? "," : "", digest);
	}
	(void)buffer_addf(&config, "]}}");
	blob = fake_add(fake, config.data, config.size);
	(void)buffer_addf(&manifest,
			  "{\"schemaVersion\":2,\"mediaType\":\"" FAKE_MANIFEST "\","
			  "\"config\":%s,\"layers\":[",
			  fake_entry(entry, blob, FAKE_CONFIG, ""));
	for (size_t i = 0; i < count; i++)
		(void)buffer_addf(&manifest, "%s%s", i ? "," : "",
				  fake_entry(entry, layers[i], fake->layer_type, ""));
	assert_int_equal(buffer_addf(&manifest, "]}"), 0);
	blob = fake_add(fake, manifest.data, manifest.size);
	fake_set_top(fake, blob, FAKE_MANIFEST);
	return blob;
}

/* An index of one; it becomes the top. */
static inline struct fake_blob *fake_index(struct fake *fake, const struct fake_blob *of,
					   const char *type, const char *more)
{
	CLEANUP_BUFFER struct buffer index = BUFFER_INIT(FAKE_TEXT);
	struct fake_blob *blob;
	char entry[400];

	assert_int_equal(buffer_addf(&index,
				     "{\"schemaVersion\":2,\"mediaType\":\"" FAKE_INDEX
				     "\","
				     "\"manifests\":[%s]}",
				     fake_entry(entry, of, type, more)),
			 0);
	blob = fake_add(fake, index.data, index.size);
	fake_set_top(fake, blob, FAKE_INDEX);
	return blob;
}

/* -- the source -- */

static inline struct fake_blob *fake_find(struct fake *fake, const struct digest *digest)
{
	for (size_t i = 0; i < fake->count; i++)
		if (digest_equal(&fake->blobs[i].digest, digest))
			return &fake->blobs[i];
	return NULL;
}

static inline int fake_document(void *user, const struct descriptor *what,
				struct buffer *ret, struct husk_error *err)
{
	struct fake *fake = user;
	struct fake_blob *blob = fake_find(fake, &what->digest);
	size_t size;

	atomic_fetch_add(&fake->counts->documents, 1);
	if (!blob || blob->fault == FAULT_MISSING)
		return error_set(err, HUSK_E_REGISTRY, "fake", "no such document");
	size = blob->fault == FAULT_SHORT ? blob->size / 2 : blob->size;
	if (buffer_add(ret, blob->data, size) < 0)
		return error_oom(err, "fake");
	if (blob->fault == FAULT_WRONG)
		ret->data[size / 2] ^= 1;
	return 0;
}

static inline int fake_cut(struct blob *blob, struct husk_error *err)
{
	struct husk_error why = {0};

	(void)error_set(&why, HUSK_E_REGISTRY, "fake", "the line was cut");
	blob_fail(blob, &why);
	if (err)
		*err = why;
	return why.code;
}

static inline int fake_send(struct fake *fake, struct fake_blob *from, struct blob *blob,
			    void (*progress)(void *user, uint64_t bytes),
			    void *progress_user, struct husk_error *err)
{
	size_t at = (size_t)blob_have(blob);
	size_t end = from->fault == FAULT_NONE || from->fault == FAULT_SLOW ||
			     from->fault == FAULT_WRONG
			 ? from->size
			 : from->size / 2;

	while (at < end) {
		size_t size = end - at < fake->chunk ? end - at : fake->chunk;
		char *copy = malloc(size);
		int r;

		if (!copy)
			return error_oom(err, "fake");
		memcpy(copy, from->data + at, size);
		if (from->fault == FAULT_WRONG && at == 0)
			copy[size / 2] ^= 1;
		r = blob_write(blob, copy, size, err);
		free(copy);
		if (r < 0)
			return r;
		atomic_fetch_add(&fake->counts->bytes, (long)size);
		at += size;
		progress(progress_user, at);
		if (from->fault == FAULT_SLOW)
			(void)usleep(1000);
	}
	return 0;
}

static inline int fake_fill(void *user, const struct descriptor *what, struct blob *blob,
			    void (*progress)(void *user, uint64_t bytes),
			    void *progress_user, struct husk_error *err)
{
	struct fake *fake = user;
	struct fake_blob *from = fake_find(fake, &what->digest);
	int r;

	atomic_fetch_add(&fake->counts->blobs, 1);
	if (!from || from->fault == FAULT_MISSING)
		return fake_cut(blob, err);
	r = fake_send(fake, from, blob, progress, progress_user, err);
	if (r < 0) {
		struct husk_error why = {.code = r};

		blob_fail(blob, err ? err : &why);
		return r;
	}
	if (from->fault == FAULT_CUT)
		return fake_cut(blob, err);
	if (from->fault == FAULT_HANGS) {
		atomic_fetch_add(&fake->counts->hanging, 1);
		while (!blob_is_abandoned(blob))
			(void)usleep(1000);
		return fake_cut(blob, err);
	}
	return from->fault == FAULT_UNSETTLED ? 0 : blob_finish(blob, err);
}

static inline struct fetch_options fake_options(const char *name)
{
	struct fetch_options options = {.name = name, .cancel_fd = -1};

	assert_int_equal(platform_parse("linux/amd64", &options.platform, NULL), 0);
	return options;
}

static inline int fake_fetch(struct fake *fake, struct store *store,
			     const struct fetch_options *options, struct husk_error *err)
{
	const struct fetch_source source = {fake_document, fake_fill, fake};
	struct store_image image = {0};
	int r = fetch_image(store, &source, &fake->top, &fake->top_data, options, &image,
			    err);

	if (r == 0) {
		assert_string_equal(image.name, options->name);
		store_image_deinit(&image);
	}
	return r;
}

#endif
