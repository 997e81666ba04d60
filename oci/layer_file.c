/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/layer_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"

/* The bits of a mode that are kept: no set-id. */
enum { KEPT = 01777 };

static int open_new(const struct placer *placer, int dir, const char *name,
		    const struct tar_entry *entry)
{
	mode_t mode = placer->exact ? entry->mode & 0777 : 0600;
	int fd =
	    openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

static int write_at(int fd, const char *data, size_t size, uint64_t offset)
{
	while (size > 0) {
		ssize_t n = pwrite(fd, data, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static int content(struct placer *placer, int fd, const struct tar_entry *entry,
		   struct tar *tar, struct husk_error *err)
{
	uint64_t end = 0, offset;
	const void *data;
	size_t size;
	int rc, result = 0;

	if (entry->size > placer->max_file)
		return placer_failed(placer, entry->path, EFBIG, err);
	while ((rc = tar_data(tar, &data, &size, &offset, err)) > 0) {
		if (offset > entry->size || size > entry->size - offset)
			return placer_failed(placer, entry->path, EFBIG, err);
		result = write_at(fd, data, size, offset);
		if (result < 0)
			return placer_failed(placer, entry->path, -result, err);
		placer->bytes += size;
		if (offset + size > end)
			end = offset + size;
	}
	/* A hole at the end. */
	if (rc == 0 && end < entry->size && ftruncate(fd, (off_t)entry->size) < 0)
		return placer_failed(placer, entry->path, errno, err);
	return rc;
}

/* user.* is for whoever can write the file; user.overlay.* steers union mounts. */
static bool is_harmless(const char *attribute)
{
	return !strncmp(attribute, "user.", 5) &&
	       strncmp(attribute, "user.overlay.", 13) != 0;
}

/* Failures do not matter: not every file system takes attributes. true: the mode was
 * changed for it. */
static bool attributes(int fd, struct tar *tar)
{
	const char *name;
	const void *value;
	size_t size;
	bool opened = false;

	while (tar_attribute(tar, &name, &value, &size) > 0) {
		if (!name || !is_harmless(name))
			continue;
		if (!opened)
			(void)fchmod(fd, 0600);
		opened = true;
		(void)fsetxattr(fd, name, value, size, 0);
	}
	return opened;
}

int placer_file(struct placer *placer, struct dir_node *parent, const char *name,
		const struct tar_entry *entry, struct tar *tar, struct husk_error *err)
{
	const struct timespec times[2] = {entry->mtime, entry->mtime};
	int dir = dirs_fd(&placer->dirs, parent), rc;
	CLEANUP_FD int fd = -1;
	bool chmod_needed;

	if (dir < 0)
		return placer_failed(placer, entry->path, -dir, err);
	fd = open_new(placer, dir, name, entry);
	if (fd == -EEXIST) {
		rc = placer_clear(placer, parent, name);
		if (rc < 0)
			return placer_failed(placer, entry->path, -rc, err);
		fd = open_new(placer, dir, name, entry);
	}
	if (fd < 0)
		return placer_failed(placer, entry->path, -fd, err);
	rc = content(placer, fd, entry, tar, err);
	if (rc < 0)
		return rc;
	chmod_needed = attributes(fd, tar) || !placer->exact || entry->mode & 01000;
	if (chmod_needed && fchmod(fd, entry->mode & KEPT) < 0)
		return placer_failed(placer, entry->path, errno, err);
	if (futimens(fd, times) < 0)
		return placer_failed(placer, entry->path, errno, err);
	return 0;
}
