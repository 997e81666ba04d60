/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/import_stream.h"

#include "base/fd.h"
#include "base/memory.h"
#include "oci/import_source.h"
#include "oci/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { CHUNK = 128 << 10 };

struct stream {
	int fd;
	const char *path;
	int cancel_fd;
	uint64_t read_at; /* in the file */
	uint64_t at;	  /* in the tar */
	struct inflate *inflate;
	struct digest_run *file_run; /* NULL: not wanted */
	struct digest_run *tar_run;
	char chunk[CHUNK];
};

static void stream_end(struct stream **stream)
{
	struct stream *s = *stream;

	if (!s)
		return;
	(void)inflate_free(s->inflate);
	(void)digest_run_free(s->file_run);
	(void)digest_run_free(s->tar_run);
	free(s);
	*stream = NULL;
}
#define CLEANUP_STREAM __attribute__((cleanup(stream_end)))

static ssize_t read_raw(void *user, void *data, size_t size, struct husk_error *err)
{
	struct stream *s = user;
	ssize_t n;

	if (import_stopped(s->cancel_fd))
		return error_set(err, HUSK_E_CANCELLED, s->path, "was cancelled");
	do {
		n = pread(s->fd, data, size, (off_t)s->read_at);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_sys(err, errno, s->path, "cannot read");
	s->read_at += (uint64_t)n;
	if (s->file_run)
		digest_run_add(s->file_run, data, (size_t)n);
	return n;
}

static int stream_begin(int fd, enum compression compression, const char *path,
			int cancel_fd, bool hash, struct stream **ret,
			struct husk_error *err)
{
	CLEANUP_STREAM struct stream *s = calloc(1, sizeof(*s));
	struct inflate_source source = {
	    .read = read_raw, .user = s, .compression = compression, .where = path};
	int r = 0;

	if (!s)
		return error_oom(err, path);
	s->fd = fd;
	s->path = path;
	s->cancel_fd = cancel_fd;
	if (hash)
		r = digest_run_new(DIGEST_SHA256, &s->file_run, err);
	if (r == 0 && hash)
		r = digest_run_new(DIGEST_SHA256, &s->tar_run, err);
	if (r == 0)
		r = inflate_new(&source, &s->inflate, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

/* The next bytes of the tar; fewer than asked only at the end. */
static ssize_t read_plain(struct stream *s, void *data, size_t size,
			  struct husk_error *err)
{
	ssize_t n = inflate_read(s->inflate, data, size, err);

	if (n > 0) {
		s->at += (uint64_t)n;
		if (s->tar_run)
			digest_run_add(s->tar_run, data, (size_t)n);
	}
	return n;
}

static ssize_t read_tar(void *user, uint64_t offset, void *data, size_t size,
			struct husk_error *err)
{
	struct stream *s = user;

	while (s->at < offset) {
		uint64_t gap = offset - s->at;
		ssize_t n = read_plain(s, s->chunk,
				       gap < CHUNK ? (size_t)gap : sizeof(s->chunk), err);

		if (n < 0)
			return n;
		if (n == 0 && gap < TAR_BLOCK)
			return 0; /* the padding of the last member, left out */
		if (n == 0)
			return error_set(err, HUSK_E_IMAGE, s->path,
					 "the tar is cut short");
	}
	return read_plain(s, data, size, err);
}

/* Read on to the end of both, and finish the digests. */
static int drain(struct stream *s, struct digest *ret_digest, struct digest *ret_diff_id,
		 struct husk_error *err)
{
	ssize_t n;

	do {
		n = read_plain(s, s->chunk, sizeof(s->chunk), err);
	} while (n > 0);
	while (n == 0 && (n = read_raw(s, s->chunk, sizeof(s->chunk), err)) > 0)
		n = 0;
	if (n < 0)
		return (int)n;
	digest_run_finish(s->file_run, ret_digest);
	digest_run_finish(s->tar_run, ret_diff_id);
	return 0;
}

static int stopped(void *user)
{
	const struct stream *s = user;

	return import_stopped(s->cancel_fd);
}

int import_stream_survey(int fd, enum compression compression, const char *path,
			 int cancel_fd, struct tar_survey *ret, struct digest *ret_digest,
			 struct digest *ret_diff_id, struct husk_error *err)
{
	CLEANUP_SURVEY struct tar_survey survey = {0};
	CLEANUP_STREAM struct stream *s = NULL;
	struct tar_input input = {.read = read_tar, .where = path};
	int r = stream_begin(fd, compression, path, cancel_fd, true, &s, err);

	if (r < 0)
		return r;
	input.user = s;
	r = tar_survey_take(&input, stopped, s, &survey, err);
	if (r == 0)
		r = drain(s, ret_digest, ret_diff_id, err);
	if (r < 0)
		return r;
	*ret = survey;
	survey = (struct tar_survey){0};
	return 0;
}

int import_stream_hash(int fd, enum compression compression, const char *path,
		       int cancel_fd, struct digest *ret_digest,
		       struct digest *ret_diff_id, struct husk_error *err)
{
	CLEANUP_STREAM struct stream *s = NULL;
	int r = stream_begin(fd, compression, path, cancel_fd, true, &s, err);

	return r < 0 ? r : drain(s, ret_digest, ret_diff_id, err);
}

/* A file without a name, so that nothing is left whatever happens. */
static int open_unnamed(const char *scratch, const char *path, struct husk_error *err)
{
	CLEANUP_FD int dir =
	    openat(AT_FDCWD, scratch, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char name[64];
	int fd;

	if (dir < 0)
		return error_sys(err, errno, path, "cannot open %s", scratch);
	fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd >= 0
			   ? fd
			   : error_sys(err, errno, path, "cannot write to %s", scratch);
	(void)snprintf(name, sizeof(name), "plain-%d-%p", (int)getpid(), (void *)&name);
	fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_sys(err, errno, path, "cannot write to %s", scratch);
	(void)unlinkat(dir, name, 0);
	return fd;
}

int import_stream_plain(int fd, enum compression compression, const char *path,
			const char *scratch, int cancel_fd, int *ret,
			struct husk_error *err)
{
	CLEANUP_STREAM struct stream *s = NULL;
	CLEANUP_FD int plain = -1;
	int w, r = stream_begin(fd, compression, path, cancel_fd, false, &s, err);
	ssize_t n;

	if (r < 0)
		return r;
	plain = open_unnamed(scratch, path, err);
	if (plain < 0)
		return plain;
	while ((n = read_plain(s, s->chunk, sizeof(s->chunk), err)) > 0) {
		w = fd_may_write((size_t)s->at);
		if (w == 0)
			w = fd_write_all(plain, s->chunk, (size_t)n);
		if (w < 0)
			return error_sys(err, -w, path,
					 "cannot write its plain form to %s", scratch);
	}
	if (n < 0)
		return (int)n;
	*ret = fd_take(&plain);
	return 0;
}

/* Append the bytes from at up to end (UINT64_MAX: all) to a file. */
static int append(int to, int fd, uint64_t at, uint64_t end, struct stream *s,
		  struct husk_error *err)
{
	while (at < end) {
		size_t want = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		ssize_t n = pread(fd, s->chunk, want, (off_t)at);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, errno, s->path, "cannot read");
		if (n == 0)
			return 0;
		if (import_stopped(s->cancel_fd))
			return error_set(err, HUSK_E_CANCELLED, s->path, "was cancelled");
		s->at += (uint64_t)n;
		r = fd_may_write((size_t)s->at);
		if (r == 0)
			r = fd_write_all(to, s->chunk, (size_t)n);
		if (r < 0)
			return error_sys(err, -r, s->path, "cannot write a copy of it");
		at += (uint64_t)n;
	}
	return 0;
}

int import_stream_join(int fd, const struct tar_survey *survey, const char *path,
		       const char *scratch, int cancel_fd, int *ret,
		       struct husk_error *err)
{
	CLEANUP_STREAM struct stream *s = calloc(1, sizeof(*s));
	CLEANUP_FD int joined = -1;
	uint64_t at = 0;
	int r = 0;

	if (!s)
		return error_oom(err, path);
	s->path = path;
	s->cancel_fd = cancel_fd;
	joined = open_unnamed(scratch, path, err);
	if (joined < 0)
		return joined;
	for (size_t i = 0; r == 0 && i < survey->joint_count; i++) {
		r = append(joined, fd, at, survey->joints[i].end, s, err);
		at = survey->joints[i].next;
	}
	if (r == 0)
		r = append(joined, fd, at, UINT64_MAX, s, err);
	if (r < 0)
		return r;
	*ret = fd_take(&joined);
	return 0;
}
