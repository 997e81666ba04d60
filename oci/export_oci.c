/* SPDX-License-Identifier: Apache-2.0 */
/* An OCI layout as a tar: the manifest of this platform with what it names, byte for byte
 * as it was received. */
#include "oci/bounds.h"
#include "oci/export.h"

#include "base/fd.h"
#include "base/memory.h"
#include "oci/import_source.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 };

static int by_path(const void *a, const void *b)
{
	const struct digest *one = a, *two = b;

	if (one->algorithm != two->algorithm)
		return one->algorithm < two->algorithm ? -1 : 1;
	return strcmp(one->hex, two->hex);
}

/* The digests of all that the layout holds, sorted, each once. */
static int list_blobs(const struct export *export, struct digest **ret, size_t *ret_count,
		      struct husk_error *err)
{
	const struct manifest *manifest = &export->manifest;
	size_t count = 0, once = 0;
	struct digest *list = calloc(manifest->layer_count + 2, sizeof(*list));

	if (!list)
		return error_oom(err, export->path);
	list[count++] = export->image->manifest;
	list[count++] = manifest->config.digest;
	for (size_t i = 0; i < manifest->layer_count; i++)
		list[count++] = manifest->layers[i].digest;
	qsort(list, count, sizeof(*list), by_path);
	for (size_t i = 0; i < count; i++)
		if (once == 0 || by_path(&list[once - 1], &list[i]) != 0)
			list[once++] = list[i];
	*ret = list;
	*ret_count = once;
	return 0;
}

/* What a blob has by its descriptor; the manifest itself has none here. */
static uint64_t size_of(const struct export *export, const struct digest *digest)
{
	const struct manifest *manifest = &export->manifest;

	if (digest_equal(&manifest->config.digest, digest))
		return manifest->config.size;
	for (size_t i = 0; i < manifest->layer_count; i++) {
		if (digest_equal(&manifest->layers[i].digest, digest))
			return manifest->layers[i].size;
	}
	return OCI_MAX_DOCUMENT;
}

static int damaged(const struct export *export, const char *blob, struct husk_error *err)
{
	error_set(err, HUSK_E_IMAGE, export->path, "%s is damaged in the store", blob);
	error_hint(err, "remove the image and get it again");
	return HUSK_E_IMAGE;
}

/* What leaves the store is looked at once more: whoever reads it could not tell where it
 * was damaged. */
static int copy_checked(struct export *export, const struct digest *digest, int fd,
			const char *blob, char *chunk, struct digest_run *run,
			struct husk_error *err)
{
	uint64_t left = size_of(export, digest);
	struct digest is;
	int r = 0;

	while (r == 0) {
		ssize_t n;

		if (import_stopped(export->cancel_fd))
			return error_set(err, HUSK_E_CANCELLED, export->path,
					 "was cancelled");
		n = fd_read_full(fd, chunk, CHUNK);
		if (n < 0)
			return error_sys(err, (int)-n, export->path, "cannot read %s",
					 blob);
		if (n == 0)
			break;
		if ((uint64_t)n > left)
			return damaged(export, blob, err);
		left -= (uint64_t)n;
		digest_run_add(run, chunk, (size_t)n);
		r = tar_out_data(&export->out, chunk, (size_t)n, err);
	}
	if (r < 0)
		return r;
	digest_run_finish(run, &is);
	return digest_equal(&is, digest) ? 0 : damaged(export, blob, err);
}

static int copy_blob(struct export *export, const struct digest *digest, char *chunk,
		     struct husk_error *err)
{
	CLEANUP_FD int fd = -1;
	struct digest_run *run = NULL;
	char path[BLOB_PATH];
	int r = store_open_blob(export->store, digest, &fd, err);

	if (r == 0)
		r = digest_run_new(digest->algorithm, &run, err);
	if (r < 0)
		return r;
	import_blob_path(digest, path);
	r = tar_out_begin(&export->out, path, err);
	if (r == 0)
		r = copy_checked(export, digest, fd, path, chunk, run, err);
	run = digest_run_free(run);
	return r < 0 ? r : tar_out_end(&export->out, err);
}

static int write_blobs(struct export *export, struct husk_error *err)
{
	CLEANUP_FREE char *chunk = malloc(CHUNK);
	CLEANUP_FREE struct digest *list = NULL;
	size_t count = 0;
	int r =
	    chunk ? list_blobs(export, &list, &count, err) : error_oom(err, export->path);

	if (r == 0)
		r = tar_out_directory(&export->out, "blobs/", err);
	for (size_t i = 0; r == 0 && i < count; i++) {
		char directory[32];

		(void)snprintf(directory, sizeof(directory), "blobs/%s/",
			       digest_algorithm_name(list[i].algorithm));
		if (i == 0 || list[i].algorithm != list[i - 1].algorithm)
			r = tar_out_directory(&export->out, directory, err);
		if (r == 0)
			r = copy_blob(export, &list[i], chunk, err);
	}
	return r;
}

/* The tag alone is what readers of layouts look for; the whole name is in another
 * annotation, where readers that keep images by name have it. */
static json_t *annotations(const struct export *export)
{
	char name[EXPORT_NAME];
	const char *tag;

	export_name(export, false, name);
	if (name[0] == '\0') { /* "oci:PATH:TAG" */
		tag = strrchr(export->image->name, ':');
		if (!tag || strchr(tag, '/') || strchr(export->image->name, '@') ||
		    tag == strchr(export->image->name, ':'))
			return json_object();
		return json_pack("{s:s}", "org.opencontainers.image.ref.name", tag + 1);
	}
	tag = strrchr(name, ':');
	return json_pack("{s:s, s:s}", "io.containerd.image.name", name,
			 "org.opencontainers.image.ref.name", tag ? tag + 1 : "latest");
}

static json_t *platform_json(const char *text)
{
	struct platform platform;
	json_t *json;

	if (platform_parse(text, &platform, NULL) < 0)
		return json_object();
	json = json_pack("{s:s, s:s}", "architecture", platform.architecture, "os",
			 platform.os);
	if (json && platform.variant[0] != '\0' &&
	    json_object_set_new(json, "variant", json_string(platform.variant)) < 0) {
		json_decref(json);
		return NULL;
	}
	return json;
}

/* A manifest has its media type from the registry or by its own word. */
static const char *manifest_type(const struct export *export)
{
	return export->manifest.config.media.docker
		   ? "application/vnd.docker.distribution.manifest.v2+json"
		   : "application/vnd.oci.image.manifest.v1+json";
}

static char *index_text(const struct export *export, uint64_t size)
{
	char digest[DIGEST_TEXT];
	json_t *index;
	char *text;

	digest_text(&export->image->manifest, digest);
	index =
	    json_pack("{s:i, s:s, s:[{s:s, s:s, s:I, s:o, s:o}]}", "schemaVersion", 2,
		      "mediaType", "application/vnd.oci.image.index.v1+json", "manifests",
		      "mediaType", manifest_type(export), "digest", digest, "size",
		      (json_int_t)size, "annotations", annotations(export), "platform",
		      platform_json(export->image->platform));
	text = index ? json_dumps(index, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(index);
	return text;
}

int export_oci(struct export *export, struct husk_error *err)
{
	static const char mark[] = "{\"imageLayoutVersion\":\"1.0.0\"}";
	CLEANUP_FREE char *index = NULL;
	uint64_t size = 0;
	int r;

	if (!store_has_blob(export->store, &export->image->manifest, &size))
		return error_set(err, HUSK_E_IMAGE, export->path,
				 "the store lacks the image's manifest");
	index = index_text(export, size);
	if (!index)
		return error_oom(err, export->path);
	r = write_blobs(export, err);
	if (r == 0)
		r = tar_out_file(&export->out, "index.json", index, strlen(index), err);
	if (r == 0)
		r = tar_out_file(&export->out, "oci-layout", mark, sizeof(mark) - 1, err);
	return r;
}
