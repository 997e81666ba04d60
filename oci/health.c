/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/health.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/lib_archive.h"
#include "oci/lib_crypto.h"
#include "oci/lib_curl.h"
#include "oci/lib_isal.h"
#include "oci/lib_ssl.h"
#include "oci/lib_zlib.h"
#include "oci/lib_zstd.h"
#include "oci/place.h"

int health_library(enum health_library library, struct husk_error *err)
{
	const struct lib_curl *curl;
	const struct lib_ssl *ssl;
	const struct lib_archive *archive;
	const struct lib_zlib *zlib;
	const struct lib_isal *isal;
	const struct lib_zstd *zstd;
	const struct lib_crypto *crypto;

	switch (library) {
	case HEALTH_CURL:
		return lib_curl(&curl, err);
	case HEALTH_SSL:
		return lib_ssl(&ssl, err);
	case HEALTH_ARCHIVE:
		return lib_archive(&archive, err);
	case HEALTH_ZLIB:
		return lib_zlib(&zlib, err);
	case HEALTH_ISAL:
		return lib_isal(&isal, err);
	case HEALTH_ZSTD:
		return lib_zstd(&zstd, err);
	case HEALTH_CRYPTO:
		return lib_crypto(&crypto, err);
	default:
		return error_set(err, HUSK_E_INVALID, "library", "no such one");
	}
}

/* Cut base until it is there: what a pull would make the store in. */
static int open_base(char base[PATH_MAX])
{
	for (;;) {
		int fd = openat(AT_FDCWD, base, O_PATH | O_DIRECTORY | O_CLOEXEC);
		char *slash;

		if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR))
			return fd < 0 ? -errno : fd;
		slash = strrchr(base, '/');
		if (!slash || strcmp(base, "/") == 0)
			return -ENOENT;
		slash[slash == base] = '\0';
	}
}

static void look_at_base(int fd, struct health_store *ret)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) == 0)
		ret->owner = st.st_uid;
	ret->writable = faccessat(AT_FDCWD, ret->base, W_OK | X_OK, AT_EACCESS) == 0;
	if (fstatfs(fd, &fs) < 0)
		return;
	ret->has_fs = true;
	ret->fs_type = (uint64_t)fs.f_type;
	ret->free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	ret->free_files = fs.f_files > 0 ? (uint64_t)fs.f_ffree : UINT64_MAX;
	ret->read_only = fs.f_flags & ST_RDONLY;
	ret->noexec = fs.f_flags & ST_NOEXEC;
}

static bool has_version(const char *path)
{
	char version[PATH_MAX + 16];
	struct stat st;

	(void)snprintf(version, sizeof(version), "%s/version", path);
	return fstatat(AT_FDCWD, version, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void look_into(struct health_store *ret)
{
	struct store *store = NULL;

	if (store_open(ret->path, STORE_READ, &store, &ret->problem) == 0) {
		ret->there = true;
		(void)store_close(store);
	} else if (ret->problem.code == HUSK_E_IMAGE && !has_version(ret->path)) {
		ret->problem = (struct husk_error){0}; /* a pull makes it */
	}
}

void health_store(const char *path, struct health_store *ret)
{
	const struct husk_image_options options = {.size = sizeof(options),
						   .store = path};
	CLEANUP_FD int fd = -1;

	*ret = (struct health_store){0};
	if (place_own(&options, ret->path, &ret->problem) < 0) {
		ret->path[0] = '\0';
		return;
	}
	look_into(ret);
	(void)snprintf(ret->base, sizeof(ret->base), "%s", ret->path);
	fd = open_base(ret->base);
	if (fd >= 0)
		look_at_base(fd, ret);
	else if (ret->problem.code == 0)
		(void)error_sys(&ret->problem, -fd, ret->path, "cannot look at it");
}
