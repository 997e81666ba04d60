/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a store: made, opened and judged. Who can write to a store decides what
 * boxes run, so nothing in its frame may be a link or be open to changes by others. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/printable.h"
#include "oci/store_own.h"

static const char version_text[] = "husk store 1\n";

/* Partial blobs and what is being made are nobody else's business. */
static const struct frame {
	const char *name;
	enum store_part in;
	mode_t mode;
} frames[STORE_PARTS] = {
    [STORE_BLOBS] = {"blobs", STORE_TOP, 0755},
    [STORE_SHA256] = {"sha256", STORE_BLOBS, 0755},
    [STORE_SHA512] = {"sha512", STORE_BLOBS, 0755},
    [STORE_PARTIAL] = {"partial", STORE_TOP, 0700},
    [STORE_LAYERS] = {"layers", STORE_TOP, 0755},
    [STORE_ROOTS] = {"roots", STORE_TOP, 0755},
    [STORE_IMAGES] = {"images", STORE_TOP, 0755},
    [STORE_TMP] = {"tmp", STORE_TOP, 0700},
};

int store_open_dir_at(int dir, const char *name)
{
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int saved = errno;

	if (fd >= 0)
		return fd;
	if (saved == ENOTDIR && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		return -ELOOP;
	return -saved;
}

int store_open_file_at(int dir, const char *name, int flags)
{
	CLEANUP_FD int fd = openat(
	    dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? fd_take(&fd) : -EINVAL;
}

int store_read_file_at(int dir, const char *name, size_t max, struct buffer *ret)
{
	CLEANUP_FD int fd = store_open_file_at(dir, name, O_RDONLY);
	CLEANUP_BUFFER struct buffer got = BUFFER_INIT(max + 1);
	struct stat st;
	size_t size;
	char *to;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	size = (size_t)st.st_size;
	to = buffer_reserve(&got, size + 1);
	if (!to)
		return -ENOMEM;
	n = fd_read_full(fd, to, size + 1);
	if (n < 0)
		return (int)n;
	if ((size_t)n > size)
		return -EBUSY; /* it grows; nothing of ours does */
	got.size += (size_t)n;
	to[n] = '\0';
	buffer_deinit(ret);
	*ret = got;
	got = (struct buffer){0};
	return 0;
}

bool store_is_here(int dir, const char *name, int fd)
{
	struct stat by_name, by_fd;

	return fstatat(dir, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstat(fd, &by_fd) == 0 && by_name.st_dev == by_fd.st_dev &&
	       by_name.st_ino == by_fd.st_ino;
}

/* -- who may write to it -- */

static int check_part(const struct store *store, enum store_part part, uid_t owner,
		      struct husk_error *err)
{
	const char *name = part == STORE_TOP ? "the store" : frames[part].name;
	struct stat st;
	int r;

	if (fstat(store->part[part], &st) < 0)
		return store_error(store, errno, err, "cannot look at %s", name);
	if (part == STORE_TOP)
		owner = st.st_uid == 0 ? 0 : geteuid();
	if (st.st_uid != owner) {
		r = error_set(err, HUSK_E_INVALID, store->where,
			      "%s belongs to user %u: who owns a store decides what "
			      "boxes run",
			      name, (unsigned)st.st_uid);
		error_hint(err,
			   "name a store of your own, or give this one to user %u "
			   "(chown -R)",
			   (unsigned)owner);
		return r;
	}
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	r = error_set(err, HUSK_E_INVALID, store->where,
		      "%s can be written to by others (mode %04o)", name,
		      (unsigned)st.st_mode & 07777);
	error_hint(err, "look whether they did, then take it from them: chmod -R go-w");
	return r;
}

/* -- the version -- */

static bool is_ours(const char *name)
{
	static const char *const others[] = {".", "..", "lock", "version", "lost+found"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(name, others[i]) == 0)
			return true;
	for (int i = 0; i < STORE_PARTS; i++)
		if (frames[i].name && frames[i].in == STORE_TOP &&
		    strcmp(name, frames[i].name) == 0)
			return true;
	return false;
}

/* A directory without a version is a store that is being made, unless it holds something
 * else: nobody shall have a store strewn among their files. */
static int check_fresh(const struct store *store, struct husk_error *err)
{
	int fd = store_open_dir_at(store->part[STORE_TOP], ".");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	char odd[64] = "";
	int r;

	if (!dir) {
		r = fd < 0 ? fd : -errno;
		fd_close(&fd);
		return store_error(store, -r, err, "cannot look into it");
	}
	while (odd[0] == '\0' && (entry = readdir(dir)) != NULL)
		if (!is_ours(entry->d_name))
			(void)printable(odd, sizeof(odd), entry->d_name);
	(void)closedir(dir);
	if (odd[0] == '\0')
		return 0;
	r = error_set(err, HUSK_E_INVALID, store->where,
		      "it is no image store: it holds \"%s\" and no version", odd);
	error_hint(err, "name an empty directory, or one that is not there yet");
	return r;
}

static int check_version(const struct store *store, bool *ret_fresh,
			 struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(0);
	int r = store_read_file_at(store->part[STORE_TOP], "version", 256, &text);
	char shown[64];

	*ret_fresh = r == -ENOENT;
	if (r == -ENOENT && store->mode == STORE_WRITE)
		return check_fresh(store, err);
	if (r == -ENOENT) {
		r = check_fresh(store, err);
		if (r < 0)
			return r;
		r = error_set(err, HUSK_E_IMAGE, store->where,
			      "it is no image store: it has no version");
		error_hint(err, "pull or import an image into it first");
		return r;
	}
	if (r < 0 && r != -EFBIG && r != -EINVAL && r != -ELOOP)
		return store_error(store, -r, err, "cannot read its version");
	if (r == 0 && text.size == sizeof(version_text) - 1 &&
	    memcmp(text.data, version_text, text.size) == 0)
		return 0;
	if (r == 0 && text.size > 0 && text.data[text.size - 1] == '\n')
		text.data[text.size - 1] = '\0';
	(void)printable(shown, sizeof(shown), r == 0 ? text.data : "not a text");
	r = error_set(err, HUSK_E_IMAGE, store->where,
		      "this husk does not know its version: \"%s\"", shown);
	error_hint(err, "use the husk that made it, or name another store");
	return r;
}

/* -- all of it -- */

static int open_part(struct store *store, enum store_part part, bool make, uid_t owner,
		     struct husk_error *err)
{
	const struct frame *frame = &frames[part];
	int in = store->part[frame->in], fd, r;
	bool made = false;

	if (in < 0)
		return 0;
	if (make) {
		made = mkdirat(in, frame->name, frame->mode) == 0;
		if (!made && errno != EEXIST)
			return store_error(store, errno, err, "cannot make %s",
					   frame->name);
	}
	fd = store_open_dir_at(in, frame->name);
	if (fd == -ELOOP || fd == -ENOTDIR) {
		r = error_set(err, HUSK_E_INVALID, store->where,
			      "%s in it is no directory", frame->name);
		error_hint(err, "move it away; what was lost is pulled again");
		return r;
	}
	if (fd < 0 && store->mode == STORE_READ && (fd == -EACCES || fd == -ENOENT))
		return 0; /* it is not needed, or what it would hold is not there */
	if (fd < 0)
		return store_error(store, -fd, err, "cannot open %s", frame->name);
	store->part[part] = fd;
	if (made)
		(void)fchmod(fd, frame->mode);
	return check_part(store, part, owner, err);
}

static int write_version(const struct store *store, struct husk_error *err)
{
	int r = store_put_file(store, store->part[STORE_TOP], "version", version_text,
			       sizeof(version_text) - 1);

	return r < 0 ? store_error(store, -r, err, "cannot write its version") : 0;
}

int store_open_parts(struct store *store, bool make, struct husk_error *err)
{
	bool is_fresh = false;
	struct stat st;
	int r = check_part(store, STORE_TOP, 0, err);

	if (r == 0 && fstat(store->part[STORE_TOP], &st) < 0)
		r = store_error(store, errno, err, "cannot look at it");
	if (r == 0)
		r = check_version(store, &is_fresh, err);
	if (r == 0)
		r = store_lock_open(store, err);
	for (int i = STORE_TOP + 1; r == 0 && i < STORE_PARTS; i++)
		r = open_part(store, (enum store_part)i, make, st.st_uid, err);
	/* Last: with it the directory is a store. */
	if (r == 0 && is_fresh)
		r = write_version(store, err);
	return r;
}
