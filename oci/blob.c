/* SPDX-License-Identifier: Apache-2.0 */
/* The file is the queue: the writer appends and moves `written` on, the reader reads what
 * is below it. Nothing is kept in memory, so a reader may be as slow as it likes. */
#include "oci/blob.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "oci/blob_file.h"

enum { HASH_BLOCK = 256 << 10 };
enum blob_state { BLOB_OPEN, BLOB_WHOLE, BLOB_FAILED };

struct blob {
	int fd;
	struct digest digest;
	uint64_t size;
	char *where;
	struct store *owner;
	struct digest_run *run; /* the writer's */
	pthread_mutex_t lock;	/* over all below */
	pthread_cond_t moved;
	uint64_t written;
	enum blob_state state;
	struct husk_error why; /* BLOB_FAILED */
	bool is_abandoned;
	struct husk_error abandoned; /* why */
};

static void put_error(struct husk_error *to, const struct husk_error *from)
{
	if (to)
		*to = *from;
}

/* Whoever is told of it must see a failure. */
static void keep_error(struct husk_error *to, const struct husk_error *from)
{
	*to = *from;
	if (to->code >= 0)
		to->code = HUSK_E_SYSTEM;
}

static int disk_error(const struct blob *blob, int sys_errno, const char *what,
		      struct husk_error *err)
{
	int r = error_sys(err, sys_errno, blob->where, "%s", what);

	if (sys_errno == ENOSPC || sys_errno == EDQUOT)
		error_hint(err, "make room where the image store is, for instance with "
				"husk image prune, and pull again: what has come stays");
	else if (sys_errno == EFBIG)
		error_hint(err, "raise the limit on the size of files (ulimit -f)");
	return r;
}

/* -- the store's side -- */

/* Hash what an earlier pull left. A file that is longer than the blob was never it. */
static int take_over(struct blob *blob, struct husk_error *err)
{
	CLEANUP_FREE char *block = NULL;
	off_t end = lseek(blob->fd, 0, SEEK_END);

	if (end < 0)
		return disk_error(blob, errno, "cannot look at what has come", err);
	if (end == 0)
		return 0;
	if ((uint64_t)end > blob->size)
		return blob_restart(blob, err);
	block = malloc(HASH_BLOCK);
	if (!block)
		return error_oom(err, blob->where);
	while (blob->written < (uint64_t)end) {
		ssize_t n = pread(blob->fd, block, HASH_BLOCK, (off_t)blob->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) /* unreadable, or shorter by now: begin again */
			return blob_restart(blob, err);
		digest_run_add(blob->run, block, (size_t)n);
		blob->written += (uint64_t)n;
	}
	return 0;
}

int blob_new(int fd, const struct digest *digest, uint64_t size, const char *where,
	     struct store *owner, struct blob **ret, struct husk_error *err)
{
	struct blob *blob = calloc(1, sizeof(*blob));
	int r;

	if (!blob) {
		fd_close(&fd);
		return error_oom(err, where);
	}
	(void)pthread_mutex_init(&blob->lock, NULL);
	(void)pthread_cond_init(&blob->moved, NULL);
	blob->fd = fd;
	blob->digest = *digest;
	blob->size = size;
	blob->owner = owner;
	blob->where = strdup(where);
	r = blob->where ? 0 : error_oom(err, where);
	if (r == 0)
		r = digest_run_new(digest->algorithm, &blob->run, err);
	if (r == 0)
		r = take_over(blob, err);
	if (r < 0) {
		(void)blob_free(blob);
		return r;
	}
	*ret = blob;
	return 0;
}

struct blob *blob_free(struct blob *blob)
{
	if (!blob)
		return NULL;
	(void)pthread_cond_destroy(&blob->moved);
	(void)pthread_mutex_destroy(&blob->lock);
	(void)digest_run_free(blob->run);
	fd_close(&blob->fd);
	free(blob->where);
	free(blob);
	return NULL;
}

bool blob_is_whole(struct blob *blob)
{
	bool is_whole;

	(void)pthread_mutex_lock(&blob->lock);
	is_whole = blob->state == BLOB_WHOLE;
	(void)pthread_mutex_unlock(&blob->lock);
	return is_whole;
}

struct store *blob_owner(const struct blob *blob)
{
	return blob->owner;
}

int blob_fd(const struct blob *blob)
{
	return blob->fd;
}

const struct digest *blob_digest(const struct blob *blob)
{
	return &blob->digest;
}

/* -- the writer's side -- */

/* The first outcome stays. */
static void settle(struct blob *blob, enum blob_state state, const struct husk_error *why)
{
	(void)pthread_mutex_lock(&blob->lock);
	if (blob->state == BLOB_OPEN) {
		blob->state = state;
		if (why)
			keep_error(&blob->why, why);
	}
	(void)pthread_cond_broadcast(&blob->moved);
	(void)pthread_mutex_unlock(&blob->lock);
}

static void move_to(struct blob *blob, uint64_t written)
{
	(void)pthread_mutex_lock(&blob->lock);
	blob->written = written;
	(void)pthread_cond_broadcast(&blob->moved);
	(void)pthread_mutex_unlock(&blob->lock);
}

uint64_t blob_have(struct blob *blob)
{
	uint64_t written;

	(void)pthread_mutex_lock(&blob->lock);
	written = blob->written;
	(void)pthread_mutex_unlock(&blob->lock);
	return written;
}

bool blob_is_abandoned(struct blob *blob)
{
	bool is_abandoned;

	(void)pthread_mutex_lock(&blob->lock);
	is_abandoned = blob->is_abandoned;
	(void)pthread_mutex_unlock(&blob->lock);
	return is_abandoned;
}

/* May the writer go on? */
static int check_wanted(struct blob *blob, struct husk_error *err)
{
	int r = 0;

	(void)pthread_mutex_lock(&blob->lock);
	if (blob->is_abandoned) {
		r = blob->abandoned.code;
		put_error(err, &blob->abandoned);
	} else if (blob->state == BLOB_FAILED) {
		r = blob->why.code;
		put_error(err, &blob->why);
	}
	(void)pthread_mutex_unlock(&blob->lock);
	return r;
}

static int put(struct blob *blob, const char *data, size_t size, struct husk_error *err)
{
	uint64_t at = blob->written;

	while (size > 0) {
		ssize_t n = pwrite(blob->fd, data, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return disk_error(blob, n < 0 ? errno : EIO,
					  "cannot write it to the store", err);
		data += n;
		size -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

/* `written` is only changed by the writer, so it may read it without the lock. */
int blob_write(struct blob *blob, const void *data, size_t size, struct husk_error *err)
{
	int r = check_wanted(blob, err);

	if (r < 0)
		return r;
	if (size > blob->size - blob->written)
		return error_set(err, HUSK_E_TOO_BIG, blob->where,
				 "more bytes come than the %llu that its manifest names",
				 (unsigned long long)blob->size);
	if (fd_may_write(blob->written + size) < 0)
		return disk_error(blob, EFBIG, "cannot write it to the store", err);
	r = put(blob, data, size, err);
	if (r < 0)
		return r;
	digest_run_add(blob->run, data, size);
	move_to(blob, blob->written + size);
	return 0;
}

int blob_restart(struct blob *blob, struct husk_error *err)
{
	struct digest_run *run = NULL;
	int r = digest_run_new(blob->digest.algorithm, &run, err);

	if (r < 0)
		return r;
	(void)digest_run_free(blob->run);
	blob->run = run;
	/* First the readers must not believe in the bytes any more. */
	move_to(blob, 0);
	if (ftruncate(blob->fd, 0) < 0)
		return disk_error(blob, errno, "cannot begin it again", err);
	return 0;
}

/* The bytes are not those that were promised: nobody shall build on them. */
static int refuse(struct blob *blob, const struct husk_error *why, struct husk_error *err)
{
	struct husk_error unheard;

	settle(blob, BLOB_FAILED, why);
	(void)blob_restart(blob, &unheard);
	put_error(err, why);
	return why->code;
}

int blob_finish(struct blob *blob, struct husk_error *err)
{
	struct husk_error why = {0};
	struct digest got;
	char is[DIGEST_TEXT], wanted[DIGEST_TEXT];
	int r = check_wanted(blob, err);

	if (r < 0)
		return r;
	if (blob->written != blob->size) {
		/* What has come may be right: it stays for the next time. */
		r = error_set(&why, HUSK_E_IMAGE, blob->where,
			      "it ends after %llu bytes, its manifest names %llu",
			      (unsigned long long)blob->written,
			      (unsigned long long)blob->size);
		settle(blob, BLOB_FAILED, &why);
		put_error(err, &why);
		return r;
	}
	digest_run_finish(blob->run, &got);
	if (digest_equal(&got, &blob->digest)) {
		settle(blob, BLOB_WHOLE, NULL);
		return 0;
	}
	digest_text(&got, is);
	digest_text(&blob->digest, wanted);
	(void)error_set(&why, HUSK_E_IMAGE, blob->where,
			"its digest is wrong: %s came, %s was promised", is, wanted);
	error_hint(&why, "somebody changed it on the way, or the source is damaged; pull "
			 "again, from another place if this stays");
	return refuse(blob, &why, err);
}

void blob_fail(struct blob *blob, const struct husk_error *why)
{
	settle(blob, BLOB_FAILED, why);
}

/* -- the reader's side -- */

ssize_t blob_read(struct blob *blob, uint64_t offset, void *data, size_t size,
		  struct husk_error *err)
{
	uint64_t there;
	ssize_t n;

	for (;;) {
		int r = 0;

		(void)pthread_mutex_lock(&blob->lock);
		while (blob->written <= offset && blob->state == BLOB_OPEN)
			(void)pthread_cond_wait(&blob->moved, &blob->lock);
		there = blob->written;
		if (blob->state == BLOB_FAILED) {
			r = blob->why.code;
			put_error(err, &blob->why);
		}
		(void)pthread_mutex_unlock(&blob->lock);
		if (r < 0)
			return r;
		if (there <= offset)
			return 0;
		if (size > there - offset)
			size = (size_t)(there - offset);
		n = pread(blob->fd, data, size, (off_t)offset);
		if (n > 0)
			return n;
		if (n < 0 && errno != EINTR)
			return disk_error(blob, errno, "cannot read it back", err);
		/* 0: the writer has begun again meanwhile. */
		if (n == 0 && blob_is_whole(blob))
			return disk_error(blob, EIO, "cannot read it back", err);
	}
}

int blob_wait(struct blob *blob, struct husk_error *err)
{
	int r = 0;

	(void)pthread_mutex_lock(&blob->lock);
	while (blob->state == BLOB_OPEN)
		(void)pthread_cond_wait(&blob->moved, &blob->lock);
	if (blob->state == BLOB_FAILED) {
		r = blob->why.code;
		put_error(err, &blob->why);
	}
	(void)pthread_mutex_unlock(&blob->lock);
	return r;
}

void blob_abandon(struct blob *blob, const struct husk_error *why)
{
	(void)pthread_mutex_lock(&blob->lock);
	if (!blob->is_abandoned)
		keep_error(&blob->abandoned, why);
	blob->is_abandoned = true;
	(void)pthread_cond_broadcast(&blob->moved);
	(void)pthread_mutex_unlock(&blob->lock);
}
