/* SPDX-License-Identifier: Apache-2.0 */
/* One layer: its blob and its tree. Either may be in the store already, or be damaged
 * there; then it is made again from the other side. Locks are always taken in the order
 * tree, blob, so that no two fetches can wait for each other. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/fetch_own.h"
#include "oci/unpack.h"

enum { REST_MAX = 64 << 20 };

static const struct descriptor *descriptor_of(const struct fetch_layer *layer)
{
	return &layer->fetch->manifest.layers[layer->index];
}

static const struct digest *diff_id_of(const struct fetch_layer *layer)
{
	return &layer->fetch->config.diff_ids[layer->index];
}

/* -- the tree -- */

/* What layer_unpack's callbacks get. */
struct unpacking {
	struct fetch_layer *layer;
	int dir;
	int stored;	  /* where the bytes come from: a descriptor */
	uint64_t at;	  /* or layer->blob, which is read from here on */
	pthread_t thread; /* then */
	int result;
	struct husk_error err;
};

static int go_on(void *user, uint64_t bytes)
{
	const struct unpacking *unpacking = user;

	(void)bytes;
	return fetch_is_stopped(unpacking->layer->fetch);
}

static int check_diff_id(const struct fetch_layer *layer, const struct digest *is,
			 struct husk_error *err)
{
	char text[DIGEST_TEXT], wanted[DIGEST_TEXT];

	if (digest_equal(is, diff_id_of(layer)))
		return 0;
	digest_text(is, text);
	digest_text(diff_id_of(layer), wanted);
	return error_set(err, HUSK_E_IMAGE, layer->where,
			 "its content is not what the config promises: %s, not %s", text,
			 wanted);
}

static int unpack(struct unpacking *unpacking,
		  ssize_t (*read_from)(void *, void *, size_t, struct husk_error *),
		  struct husk_error *err)
{
	const struct fetch_layer *layer = unpacking->layer;
	const struct layer_input input = {
	    .read = read_from,
	    .user = unpacking,
	    .compression = descriptor_of(layer)->media.compression,
	    .where = layer->where,
	    .on_progress = go_on,
	};
	struct layer_summary summary;
	int r = layer_unpack(unpacking->dir, &input, &summary, err);

	return r < 0 ? r : check_diff_id(layer, &summary.diff_id, err);
}

/* -- from a blob that the store has -- */

static ssize_t read_stored(void *user, void *data, size_t size, struct husk_error *err)
{
	const struct unpacking *unpacking = user;
	ssize_t n;

	do
		n = read(unpacking->stored, data, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_sys(err, errno, "image store", "cannot read a blob");
	return n;
}

static int unpack_stored(struct fetch_layer *layer, int dir, struct husk_error *err)
{
	struct unpacking unpacking = {.layer = layer, .dir = dir, .stored = -1};
	int r = store_open_blob(layer->fetch->store, &descriptor_of(layer)->digest,
				&unpacking.stored, err);

	layer->was_stored = true;
	if (r == 0)
		r = unpack(&unpacking, read_stored, err);
	fd_close(&unpacking.stored);
	return r;
}

/* -- from the source -- */

static ssize_t read_behind(void *user, void *data, size_t size, struct husk_error *err)
{
	struct unpacking *unpacking = user;
	ssize_t n = blob_read(unpacking->layer->blob, unpacking->at, data, size, err);

	if (n > 0)
		unpacking->at += (uint64_t)n;
	return n;
}

/* Bytes that make no layer may be bytes that were changed on the way, and only the digest
 * tells: so the rest may come, if it is not much. */
static bool is_worth_the_rest(const struct unpacking *unpacking)
{
	const struct fetch_layer *layer = unpacking->layer;

	return unpacking->result == HUSK_E_IMAGE &&
	       descriptor_of(layer)->size - blob_have(layer->blob) <= REST_MAX;
}

static void *unpack_behind(void *user)
{
	struct unpacking *unpacking = user;

	unpacking->result = unpack(unpacking, read_behind, &unpacking->err);
	if (unpacking->result < 0 && !is_worth_the_rest(unpacking))
		blob_abandon(unpacking->layer->blob, &unpacking->err);
	return NULL;
}

static void tell_received(void *user, uint64_t bytes)
{
	struct fetch_layer *layer = user;

	(void)bytes;
	fetch_tell_bytes(layer->fetch, layer->index, blob_have(layer->blob));
}

/* A registry need not have the layers of some systems' licences; then its own words alone
 * would puzzle. */
static void explain_foreign(const struct fetch_layer *layer, struct husk_error *why)
{
	char words[320];

	if (!descriptor_of(layer)->media.foreign || why->code == HUSK_E_CANCELLED)
		return;
	(void)snprintf(words, sizeof(words), "%.300s", why->message);
	(void)error_set(why, why->code, layer->where,
			"this foreign (non-distributable) layer could not be had from "
			"where the image is: %s",
			words);
	error_hint(why, "such layers are kept elsewhere than the rest of an image; take "
			"an image without them");
}

/* The source's part. Whatever it does, the blob is settled afterwards. */
static int fill(struct fetch_layer *layer, struct husk_error *err)
{
	const struct fetch_source *source = layer->fetch->source;
	struct husk_error why = {0};
	int r = source->blob(source->user, descriptor_of(layer), layer->blob,
			     tell_received, layer, &why);

	if (r == 0)
		(void)error_set(&why, HUSK_E_IMAGE, layer->where,
				"its source stopped before the end");
	blob_fail(layer->blob, &why);
	if (r == 0)
		return blob_wait(layer->blob, err);
	explain_foreign(layer, &why);
	if (err)
		*err = why;
	return r;
}

static int fill_and_unpack(struct fetch_layer *layer, int dir, struct husk_error *err)
{
	struct unpacking unpacking = {.layer = layer, .dir = dir};
	int r;

	if (dir >= 0) {
		r = fetch_start_thread(&unpacking.thread, unpack_behind, &unpacking);
		if (r != 0)
			return error_sys(err, r, layer->where, "cannot start a thread");
	}
	r = fill(layer, err);
	if (dir >= 0)
		(void)pthread_join(unpacking.thread, NULL);
	if (r == 0 && unpacking.result < 0 && err)
		*err = unpacking.err;
	return r < 0 ? r : unpacking.result;
}

/* Make the blob known to fetch_stop, or not any more. */
static void set_active(struct fetch_layer *layer, struct blob *blob)
{
	struct fetch *fetch = layer->fetch;

	layer->blob = blob;
	(void)pthread_mutex_lock(&fetch->lock);
	fetch->active[layer->slot] = blob;
	if (blob && fetch->is_stopped)
		blob_abandon(blob, &fetch->why);
	(void)pthread_mutex_unlock(&fetch->lock);
}

static int receive(struct fetch_layer *layer, int dir, struct husk_error *err)
{
	const struct descriptor *what = descriptor_of(layer);
	struct blob *blob = NULL;
	struct husk_error unheard;
	int r = store_blob_begin(layer->fetch->store, &what->digest, what->size,
				 fetch_tell_waiting, layer, &blob, err);

	if (r < 0)
		return r;
	if (!blob) /* somebody else has just received it */
		return dir >= 0 ? unpack_stored(layer, dir, err) : 0;
	layer->was_resumed = blob_have(blob) > 0;
	set_active(layer, blob);
	r = fill_and_unpack(layer, dir, err);
	set_active(layer, NULL);
	if (r == 0)
		r = store_blob_commit(blob, err);
	/* Bytes of which no layer can be made are not to be built on. */
	if (r == HUSK_E_IMAGE && layer->was_resumed)
		(void)blob_restart(blob, &unheard);
	(void)store_blob_free(blob);
	return r;
}

/* -- both -- */

static bool has_blob(const struct fetch_layer *layer)
{
	const struct descriptor *what = descriptor_of(layer);
	uint64_t size;

	return store_has_blob(layer->fetch->store, &what->digest, &size) &&
	       size == what->size;
}

static int try_layer(struct fetch_layer *layer, struct husk_error *err)
{
	struct store *store = layer->fetch->store;
	struct store_making *making = NULL;
	int dir = -1, r;

	layer->was_stored = layer->was_resumed = false;
	r = store_layer_begin(store, diff_id_of(layer), fetch_tell_waiting, layer,
			      &making, &dir, err);
	if (r < 0)
		return r;
	if (!has_blob(layer))
		r = receive(layer, dir, err);
	else if (making)
		r = unpack_stored(layer, dir, err);
	if (r == 0 && making)
		r = store_making_commit(making, err);
	(void)store_making_free(making);
	return r;
}

/* Was the failure that of bytes which were there before? Then they are gone now. */
static bool is_healed(const struct fetch_layer *layer)
{
	if (layer->was_stored)
		return store_drop_damaged_blob(layer->fetch->store,
					       &descriptor_of(layer)->digest);
	return layer->was_resumed;
}

/* The same layer twice in one image is one layer. */
static bool is_repeated(const struct fetch *fetch, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (digest_equal(&fetch->config.diff_ids[i],
				 &fetch->config.diff_ids[index]) &&
		    digest_equal(&fetch->manifest.layers[i].digest,
				 &fetch->manifest.layers[index].digest))
			return true;
	return false;
}

/* The unpacker hashes with the algorithm that all images use. */
static int check_algorithm(const struct fetch_layer *layer, struct husk_error *err)
{
	if (diff_id_of(layer)->algorithm == DIGEST_SHA256)
		return 0;
	return error_set(
	    err, HUSK_E_IMAGE, layer->where,
	    "the config names its content by a %s digest, where husk can only "
	    "check sha256",
	    digest_algorithm_name(diff_id_of(layer)->algorithm));
}

int fetch_one_layer(struct fetch *fetch, size_t index, size_t slot,
		    struct husk_error *err)
{
	struct fetch_layer layer = {.fetch = fetch, .index = index, .slot = slot};
	const struct descriptor *what = descriptor_of(&layer);
	int r;

	(void)snprintf(layer.where, sizeof(layer.where), "%.100s: layer %zu (%.19s)",
		       fetch->where, index + 1, what->digest.hex);
	if (is_repeated(fetch, index) ||
	    (has_blob(&layer) && store_has_layer(fetch->store, diff_id_of(&layer)))) {
		fetch_tell(fetch, HUSK_PROGRESS_LAYER_FOUND, (int32_t)index, what->size,
			   what->size);
		return 0;
	}
	r = check_algorithm(&layer, err);
	if (r == 0)
		r = try_layer(&layer, err);
	if (r == HUSK_E_IMAGE && !fetch_is_stopped(fetch) && is_healed(&layer))
		r = try_layer(&layer, err);
	if (r == 0)
		fetch_tell(fetch, HUSK_PROGRESS_LAYER_DONE, (int32_t)index, what->size,
			   what->size);
	return r;
}
