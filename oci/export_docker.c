/* SPDX-License-Identifier: Apache-2.0 */
/* What `docker save` writes and `docker load` reads: the config, the layers as plain tars
 * by their diff ids, and manifest.json. */
#include "oci/export.h"

#include "base/fd.h"
#include "base/memory.h"
#include "base/printable.h"
#include "oci/bounds.h"
#include "oci/config.h"
#include "oci/import_source.h"
#include "oci/inflate.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 << 10, MEMBER_NAME = 100 };

/* One file of the archive: the config where layer is NULL. */
struct part {
	char name[MEMBER_NAME];
	const struct descriptor *layer;
	struct digest diff_id;
};

struct layer_source {
	int fd;
	const struct export *export;
};

/* The digits of a sha512 with their ending would be past what a tar's name holds. */
static void part_name(const struct digest *digest, const char *ending,
		      char name[MEMBER_NAME])
{
	(void)snprintf(name, MEMBER_NAME, "%.64s%s", digest->hex, ending);
}

static ssize_t read_layer(void *user, void *data, size_t size, struct husk_error *err)
{
	const struct layer_source *source = user;
	ssize_t n;

	if (import_stopped(source->export->cancel_fd))
		return error_set(err, HUSK_E_CANCELLED, source->export->path,
				 "was cancelled");
	n = fd_read_full(source->fd, data, size);
	return n < 0
		   ? error_sys(err, (int)-n, source->export->path, "cannot read a layer")
		   : n;
}

static int copy_plain(struct export *export, struct inflate *inflate,
		      struct digest_run *run, char *chunk, struct husk_error *err)
{
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = inflate_read(inflate, chunk, CHUNK, err)) != 0) {
		if (n < 0)
			return (int)n;
		digest_run_add(run, chunk, (size_t)n);
		r = tar_out_data(&export->out, chunk, (size_t)n, err);
	}
	return r;
}

static int write_layer(struct export *export, const struct part *part, char *chunk,
		       struct husk_error *err)
{
	CLEANUP_FD int fd = -1;
	struct layer_source from = {.export = export};
	struct inflate_source source = {.read = read_layer,
					.user = &from,
					.compression = part->layer->media.compression,
					.where = export->path};
	struct inflate *inflate = NULL;
	struct digest_run *run = NULL;
	struct digest digest;
	int r = store_open_blob(export->store, &part->layer->digest, &fd, err);

	from.fd = fd;
	if (r == 0)
		r = digest_run_new(part->diff_id.algorithm, &run, err);
	if (r == 0)
		r = inflate_new(&source, &inflate, err);
	if (r == 0)
		r = tar_out_begin(&export->out, part->name, err);
	if (r == 0)
		r = copy_plain(export, inflate, run, chunk, err);
	if (r == 0)
		r = tar_out_end(&export->out, err);
	if (r == 0) {
		digest_run_finish(run, &digest);
		if (!digest_equal(&digest, &part->diff_id))
			r = error_set(err, HUSK_E_IMAGE, export->path,
				      "a layer in the store is damaged");
	}
	inflate = inflate_free(inflate);
	run = digest_run_free(run);
	return r;
}

static int by_name(const void *a, const void *b)
{
	const struct part *one = a, *two = b;

	return strcmp(one->name, two->name);
}

static int write_parts(struct export *export, struct part *parts, size_t count,
		       const struct buffer *config, struct husk_error *err)
{
	CLEANUP_FREE char *chunk = malloc(CHUNK);
	int r = chunk ? 0 : error_oom(err, export->path);

	qsort(parts, count, sizeof(*parts), by_name);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (i > 0 && strcmp(parts[i].name, parts[i - 1].name) == 0)
			continue; /* a layer that is there twice */
		if (parts[i].layer)
			r = write_layer(export, &parts[i], chunk, err);
		else
			r = tar_out_file(&export->out, parts[i].name, config->data,
					 config->size, err);
	}
	return r;
}

static char *listing(const struct export *export, const struct part *parts, size_t count)
{
	char name[EXPORT_NAME], *text;
	json_t *layers = json_array(), *tags = NULL, *list;

	export_name(export, true, name);
	for (size_t i = 1; i < count; i++)
		(void)json_array_append_new(layers, json_string(parts[i].name));
	if (json_array_size(layers) != count - 1) {
		json_decref(layers);
		return NULL;
	}
	tags = name[0] ? json_pack("[s]", name) : json_null();
	list = json_pack("[{s:s, s:o, s:o}]", "Config", parts[0].name, "RepoTags", tags,
			 "Layers", layers);
	text = list ? json_dumps(list, JSON_COMPACT) : NULL;
	json_decref(list);
	return text;
}

static int write_image(struct export *export, const struct buffer *config,
		       const struct image_config *parsed, struct husk_error *err)
{
	const struct manifest *manifest = &export->manifest;
	size_t count = manifest->layer_count + 1;
	CLEANUP_FREE struct part *parts = calloc(count, sizeof(*parts));
	CLEANUP_FREE char *text = NULL;
	int r;

	if (!parts)
		return error_oom(err, export->path);
	if (parsed->diff_id_count != manifest->layer_count)
		return error_set(err, HUSK_E_IMAGE, export->path,
				 "the image's config does not fit its layers");
	part_name(&manifest->config.digest, ".json", parts[0].name);
	for (size_t i = 1; i < count; i++) {
		parts[i].layer = &manifest->layers[i - 1];
		parts[i].diff_id = parsed->diff_ids[i - 1];
		part_name(&parts[i].diff_id, ".tar", parts[i].name);
	}
	text = listing(export, parts, count);
	if (!text)
		return error_oom(err, export->path);
	r = write_parts(export, parts, count, config, err);
	return r < 0
		   ? r
		   : tar_out_file(&export->out, "manifest.json", text, strlen(text), err);
}

int export_docker(struct export *export, struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer config = BUFFER_INIT(OCI_MAX_DOCUMENT);
	struct image_config parsed = {0};
	int r =
	    store_read_blob(export->store, &export->manifest.config.digest, &config, err);

	if (r == 0)
		r = image_config_parse(config.data, config.size, export->image->name,
				       &parsed, err);
	if (r < 0)
		return r;
	r = write_image(export, &config, &parsed, err);
	image_config_deinit(&parsed);
	return r;
}
