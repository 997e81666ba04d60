/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/blob_file.h"
#include "oci/bounds.h"
#include "oci/store_own.h"

static int blob_dir(const struct store *store, const struct digest *digest)
{
	return store->part[store_blob_part(digest)];
}

bool store_has_blob(struct store *store, const struct digest *digest, uint64_t *ret_size)
{
	struct stat st;

	if (digest->algorithm == DIGEST_NONE || blob_dir(store, digest) < 0 ||
	    fstatat(blob_dir(store, digest), digest->hex, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return false;
	if (ret_size)
		*ret_size = (uint64_t)st.st_size;
	return true;
}

static int missing(const struct store *store, const struct digest *digest, int r,
		   struct husk_error *err)
{
	char text[DIGEST_TEXT];

	digest_text(digest, text);
	if (r != -ENOENT && r != -EBADF)
		return store_error(store, -r, err, "cannot read blob %s", text);
	r = error_set(err, HUSK_E_IMAGE, store->where, "it does not have blob %s", text);
	error_hint(err, "pull or import the image again");
	return r;
}

int store_open_blob(struct store *store, const struct digest *digest, int *ret_fd,
		    struct husk_error *err)
{
	int fd = store_open_file_at(blob_dir(store, digest), digest->hex, O_RDONLY);

	if (fd < 0)
		return missing(store, digest, fd, err);
	*ret_fd = fd;
	return 0;
}

int store_read_blob(struct store *store, const struct digest *digest, struct buffer *ret,
		    struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer got = BUFFER_INIT(0);
	char text[DIGEST_TEXT];
	struct digest is;
	int r = store_read_file_at(blob_dir(store, digest), digest->hex, OCI_MAX_DOCUMENT,
				   &got);

	digest_text(digest, text);
	if (r == -EFBIG)
		return error_set(err, HUSK_E_TOO_BIG, store->where,
				 "blob %s is larger than the %llu bytes that a document "
				 "may have",
				 text, (unsigned long long)OCI_MAX_DOCUMENT);
	if (r < 0)
		return missing(store, digest, r, err);
	r = digest_of(digest->algorithm, got.data, got.size, &is, err);
	if (r < 0)
		return r;
	if (!digest_equal(&is, digest)) {
		r = error_set(err, HUSK_E_IMAGE, store->where,
			      "blob %s in it is damaged: its content has another digest",
			      text);
		error_hint(err, "pull or import the image again; look after the disk");
		return r;
	}
	buffer_deinit(ret);
	*ret = got;
	got = (struct buffer){0};
	return 0;
}

/* Whether the store has just these bytes: a damaged blob is to be written again. */
static bool has_same(struct store *store, const struct digest *digest, const void *data,
		     size_t size)
{
	CLEANUP_BUFFER struct buffer got = BUFFER_INIT(0);

	return store_read_file_at(blob_dir(store, digest), digest->hex, size, &got) ==
		   0 &&
	       got.size == size && memcmp(got.data, data, size) == 0;
}

int store_add_blob(struct store *store, const struct digest *digest, const void *data,
		   size_t size, struct husk_error *err)
{
	char text[DIGEST_TEXT];
	struct digest is;
	int r = store_check_writable(store, err);

	if (r == 0)
		r = digest_of(digest->algorithm, data, size, &is, err);
	if (r < 0)
		return r;
	digest_text(digest, text);
	if (!digest_equal(&is, digest))
		return error_set(err, HUSK_E_IMAGE, text,
				 "its content has another digest");
	if (has_same(store, digest, data, size))
		return 0;
	r = store_put_file(store, blob_dir(store, digest), digest->hex, data, size);
	return r < 0 ? store_error(store, -r, err, "cannot write blob %s", text) : 0;
}

/* Hash a stored blob. 1: it is what it should be; 0: it is not; -errno. */
static int is_sound(struct store *store, const struct digest *digest)
{
	CLEANUP_FD int fd =
	    store_open_file_at(blob_dir(store, digest), digest->hex, O_RDONLY);
	struct husk_error unheard;
	struct digest_run *run = NULL;
	char block[16 << 10];
	struct digest is;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (digest_run_new(digest->algorithm, &run, &unheard) < 0)
		return -ENOMEM;
	while ((n = fd_read_full(fd, block, sizeof(block))) > 0)
		digest_run_add(run, block, (size_t)n);
	digest_run_finish(run, &is);
	(void)digest_run_free(run);
	return n < 0 ? (int)n : digest_equal(&is, digest);
}

bool store_drop_damaged_blob(struct store *store, const struct digest *digest)
{
	if (store->mode != STORE_WRITE || is_sound(store, digest) != 0)
		return false;
	return unlinkat(blob_dir(store, digest), digest->hex, 0) == 0;
}

/* -- a large one -- */

static bool is_there(struct store *store, const struct digest *digest, uint64_t size)
{
	uint64_t has;

	return store_has_blob(store, digest, &has) && has == size;
}

/* The lock is that of the partial file itself; a commit takes the name away. */
static int take_partial(struct store *store, const struct digest *digest, uint64_t size,
			int (*waiting)(void *user), void *user, int *ret_fd,
			struct husk_error *err)
{
	char key[STORE_KEY];
	int fd, r;

	store_key(digest, key);
	for (unsigned turn = 0;; turn++) {
		if (is_there(store, digest, size))
			return 0;
		fd = store_try_lock_file(store->part[STORE_PARTIAL], key);
		if (fd >= 0)
			break;
		if (fd != -EWOULDBLOCK)
			return store_error(store, -fd, err, "cannot begin blob %s", key);
		r = store_wait_turn(turn, waiting, user, key, err);
		if (r < 0)
			return r;
	}
	if (is_there(store, digest, size)) {
		(void)unlinkat(store->part[STORE_PARTIAL], key, 0);
		fd_close(&fd);
		return 0;
	}
	*ret_fd = fd;
	return 0;
}

int store_blob_begin(struct store *store, const struct digest *digest, uint64_t size,
		     int (*waiting)(void *user), void *user, struct blob **ret,
		     struct husk_error *err)
{
	char text[DIGEST_TEXT], where[64];
	int fd = -1, r = store_check_writable(store, err);

	digest_text(digest, text);
	if (r == 0 && digest->algorithm == DIGEST_NONE)
		r = error_set(err, HUSK_E_INVALID, store->where, "a blob has a digest");
	if (r == 0 && size > OCI_MAX_BLOB)
		r = error_set(err, HUSK_E_TOO_BIG, text,
			      "%llu bytes are more than the %llu that a blob may have",
			      (unsigned long long)size, (unsigned long long)OCI_MAX_BLOB);
	if (r == 0)
		r = take_partial(store, digest, size, waiting, user, &fd, err);
	if (r < 0)
		return r;
	if (fd < 0) {
		*ret = NULL;
		return 0;
	}
	(void)snprintf(where, sizeof(where), "blob %.40s...", text);
	return blob_new(fd, digest, size, where, store, ret, err);
}

int store_blob_commit(struct blob *blob, struct husk_error *err)
{
	const struct store *store = blob_owner(blob);
	const struct digest *digest = blob_digest(blob);
	int dir = blob_dir(store, digest);
	char key[STORE_KEY];

	store_key(digest, key);
	if (!blob_is_whole(blob))
		return error_set(err, HUSK_E_INVALID, store->where,
				 "blob %s is not finished", key);
	if (fchmod(blob_fd(blob), 0644) < 0 || fsync(blob_fd(blob)) < 0 ||
	    renameat(store->part[STORE_PARTIAL], key, dir, digest->hex) < 0 ||
	    fsync(dir) < 0)
		return store_error(store, errno, err, "cannot keep blob %s", key);
	return 0;
}

/* What came stays in partial/, unless that is nothing. */
struct blob *store_blob_free(struct blob *blob)
{
	const struct store *store;
	char key[STORE_KEY];

	if (!blob)
		return NULL;
	store = blob_owner(blob);
	store_key(blob_digest(blob), key);
	if (blob_have(blob) == 0 &&
	    store_is_here(store->part[STORE_PARTIAL], key, blob_fd(blob)))
		(void)unlinkat(store->part[STORE_PARTIAL], key, 0);
	return blob_free(blob);
}
