/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/import_source.h"

#include "base/memory.h"
#include "oci/bounds.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 256 << 10 };

bool import_stopped(int cancel_fd)
{
	struct pollfd watch = {.fd = cancel_fd, .events = POLLIN};

	return cancel_fd >= 0 && poll(&watch, 1, 0) > 0;
}

void import_blob_path(const struct digest *digest, char path[BLOB_PATH])
{
	(void)snprintf(path, BLOB_PATH, "blobs/%s/%s",
		       digest_algorithm_name(digest->algorithm), digest->hex);
}

static const struct source_item *find_item(const struct import_source *source,
					   const struct digest *digest)
{
	for (size_t i = 0; i < source->count; i++)
		if (digest_equal(&source->items[i].digest, digest))
			return &source->items[i];
	return NULL;
}

/* The member that holds a blob; what is wrong with its size is said here. */
static int open_blob(const struct import_source *source, const struct descriptor *what,
		     struct member *ret, struct husk_error *err)
{
	const struct source_item *item = find_item(source, &what->digest);
	char path[BLOB_PATH];
	int r;

	import_blob_path(&what->digest, path);
	if (item) {
		*ret = item->member;
		ret->owned = false;
	} else if (source->layout) {
		r = members_open(source->layout, path, ret, err);
		if (r < 0)
			return r;
	} else {
		return error_set(err, HUSK_E_IMAGE, source->path, "%s is not there",
				 path);
	}
	if (ret->size == what->size)
		return 0;
	r = error_set(err, HUSK_E_IMAGE, source->path, "%s has %llu bytes, not %llu",
		      path, (unsigned long long)ret->size,
		      (unsigned long long)what->size);
	member_close(ret);
	return r;
}

static int read_document(void *user, const struct descriptor *what, struct buffer *ret,
			 struct husk_error *err)
{
	const struct import_source *source = user;
	const struct source_item *item = find_item(source, &what->digest);
	CLEANUP_MEMBER struct member member = MEMBER_NONE;
	char *to;
	int r;

	if (item && item->data)
		return buffer_add(ret, item->data, item->size) < 0
			   ? error_oom(err, source->path)
			   : 0;
	r = open_blob(source, what, &member, err);
	if (r < 0)
		return r;
	if (member.size > OCI_MAX_DOCUMENT || member.size > ret->max - ret->size)
		return error_set(err, HUSK_E_TOO_BIG, source->path,
				 "a document has %llu bytes, at most %llu are taken",
				 (unsigned long long)member.size,
				 (unsigned long long)OCI_MAX_DOCUMENT);
	to = buffer_reserve(ret, (size_t)member.size);
	if (!to)
		return error_oom(err, source->path);
	r = member_read_at(&member, 0, to, (size_t)member.size, source->path, err);
	if (r < 0)
		return r;
	ret->size += (size_t)member.size;
	to[member.size] = '\0';
	return 0;
}

static int copy_blob(const struct import_source *source, const struct member *member,
		     struct blob *blob,
		     void (*progress)(void *progress_user, uint64_t bytes),
		     void *progress_user, struct husk_error *err)
{
	CLEANUP_FREE char *chunk = malloc(CHUNK);
	uint64_t at = blob_have(blob);
	int r = 0;

	if (!chunk)
		return error_oom(err, source->path);
	if (at > member->size) {
		at = 0;
		r = blob_restart(blob, err);
	}
	while (r == 0 && at < member->size) {
		size_t n =
		    member->size - at < CHUNK ? (size_t)(member->size - at) : CHUNK;

		if (import_stopped(source->cancel_fd))
			return error_set(err, HUSK_E_CANCELLED, source->path,
					 "was cancelled");
		r = member_read_at(member, at, chunk, n, source->path, err);
		if (r == 0)
			r = blob_write(blob, chunk, n, err);
		at += n;
		if (r == 0 && progress)
			progress(progress_user, at);
	}
	return r;
}

static int give_blob(void *user, const struct descriptor *what, struct blob *blob,
		     void (*progress)(void *progress_user, uint64_t bytes),
		     void *progress_user, struct husk_error *err)
{
	const struct import_source *source = user;
	CLEANUP_MEMBER struct member member = MEMBER_NONE;
	struct husk_error own = {0};
	int r = open_blob(source, what, &member, &own);

	if (r == 0)
		r = copy_blob(source, &member, blob, progress, progress_user, &own);
	if (r == 0)
		return blob_finish(blob, err);
	blob_fail(blob, &own);
	if (err)
		*err = own;
	return r;
}

struct fetch_source import_source_use(struct import_source *source)
{
	return (struct fetch_source){
	    .document = read_document, .blob = give_blob, .user = source};
}
