/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads for one layer, so that two processors work on it:
 *
 *	the caller's	reads, decompresses, hashes; calls back
 *	our own		reads the tar, places entries; has a umask of its own
 *
 * A ring of buffers lies between them. The first goes on to the end of the stream even
 * when the archive has ended: what follows it belongs to the digest.
 */
#include "oci/unpack.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/memory.h"
#include "oci/inflate.h"
#include "oci/layer_place.h"
#include "oci/own_umask.h"
#include "oci/ring.h"
#include "oci/tar.h"

/* What the two share. */
struct unpacking {
	const struct layer_input *input;
	int dir;
	struct ring ring;
	/* The placing thread's outcome, read after it has ended. */
	int result;
	struct husk_error why;
	uint64_t entries, bytes;
};

/* -- the placing thread ----------------------------------------------------------- */

static ssize_t next_piece(void *user, const void **ret, struct husk_error *err)
{
	struct unpacking *unpacking = user;
	ssize_t size = ring_next(&unpacking->ring, ret);

	/* Why is known to the other thread. */
	return size < 0 ? error_set(err, HUSK_E_IMAGE, unpacking->input->where,
				    "cannot be read")
			: size;
}

static int place_all(struct unpacking *unpacking, struct placer *placer, struct tar *tar,
		     struct husk_error *err)
{
	struct tar_entry entry;
	int rc;

	while ((rc = tar_next(tar, &entry, err)) > 0) {
		rc = placer_add(placer, &entry, tar, err);
		if (rc < 0)
			return rc;
		unpacking->entries++;
	}
	if (rc < 0)
		return rc;
	ring_leave(&unpacking->ring, RING_DONE);
	unpacking->bytes = placer->bytes;
	return placer_finish(placer, err);
}

static int place_layer(struct unpacking *unpacking, struct husk_error *err)
{
	struct tar_source source = {next_piece, unpacking, unpacking->input->where};
	CLEANUP_FREE struct placer *placer = calloc(1, sizeof(*placer));
	struct tar *tar = NULL;
	int rc;

	if (!placer)
		return error_oom(err, unpacking->input->where);
	rc = placer_init(placer, unpacking->dir, own_umask(), unpacking->input->where,
			 err);
	if (rc == 0)
		rc = tar_new(&source, &tar, err);
	if (rc == 0)
		rc = place_all(unpacking, placer, tar, err);
	(void)tar_free(tar);
	placer_deinit(placer);
	return rc;
}

static void *placing_thread(void *user)
{
	struct unpacking *unpacking = user;

	unpacking->result = place_layer(unpacking, &unpacking->why);
	if (unpacking->result < 0)
		ring_leave(&unpacking->ring, RING_FAILED);
	return NULL;
}

/* Signals are the caller's threads' affair. */
static int start_thread(struct unpacking *unpacking, pthread_t *ret,
			struct husk_error *err)
{
	sigset_t all, before;
	int code;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(ret, NULL, placing_thread, unpacking);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code ? error_sys(err, code, unpacking->input->where,
				"a thread cannot be started")
		    : 0;
}

/* -- the caller's thread ---------------------------------------------------------- */

/* One buffer: 1, 0 at the end or when the other side has failed. */
static int pump(struct unpacking *unpacking, struct inflate *inflate,
		struct digest_run *run, uint64_t *done, struct husk_error *err)
{
	const struct layer_input *input = unpacking->input;
	unsigned char *space = ring_space(&unpacking->ring);
	ssize_t size;

	if (!space)
		return 0;
	size = inflate_read(inflate, space, RING_SLOT, err);
	if (size <= 0)
		return (int)size;
	digest_run_add(run, space, (size_t)size);
	ring_put(&unpacking->ring, (size_t)size);
	*done += (uint64_t)size;
	if (input->on_progress && input->on_progress(input->user, *done))
		return error_set(err, HUSK_E_CANCELLED, input->where, "was stopped");
	return 1;
}

static int pump_all(struct unpacking *unpacking, struct inflate *inflate,
		    struct digest_run *run, struct husk_error *err)
{
	uint64_t done = 0;
	int rc;

	while ((rc = pump(unpacking, inflate, run, &done, err)) > 0)
		;
	ring_close(&unpacking->ring, rc < 0 ? RING_FAILED : RING_DONE);
	return rc;
}

static int both(struct unpacking *unpacking, struct inflate *inflate,
		struct digest_run *run, struct husk_error *err)
{
	pthread_t thread;
	int rc = start_thread(unpacking, &thread, err);

	if (rc < 0)
		return rc;
	rc = pump_all(unpacking, inflate, run, err);
	(void)pthread_join(thread, NULL);
	if (rc < 0 || unpacking->result == 0)
		return rc;
	if (err)
		*err = unpacking->why;
	return unpacking->result;
}

int layer_unpack(int dir, const struct layer_input *input, struct layer_summary *ret,
		 struct husk_error *err)
{
	struct unpacking unpacking = {.input = input, .dir = dir};
	struct inflate_source source = {.read = input->read,
					.user = input->user,
					.compression = input->compression,
					.where = input->where,
					.shares_memory = true,
					.waiting = input->on_progress};
	struct digest_run *run = NULL;
	struct inflate *inflate = NULL;
	int rc = ring_init(&unpacking.ring, input->where, err);

	if (rc == 0)
		rc = inflate_new(&source, &inflate, err);
	if (rc == 0)
		rc = digest_run_new(DIGEST_SHA256, &run, err);
	if (rc == 0)
		rc = both(&unpacking, inflate, run, err);
	if (rc == 0) {
		digest_run_finish(run, &ret->diff_id);
		ret->entries = unpacking.entries;
		ret->bytes = unpacking.bytes;
	}
	(void)digest_run_free(run);
	(void)inflate_free(inflate);
	ring_deinit(&unpacking.ring);
	return rc;
}
