/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"

enum { LINK_TEXT = 4096 };

static int describe(struct source *source, const char *what, struct husk_error *err)
{
	char link[64], path[LINK_TEXT];
	struct stat st;
	ssize_t n;

	if (fstat(source->fd, &st) < 0)
		return error_sys(err, errno, what, "cannot look at it");
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
		error_set(err, HUSK_E_MOUNT_REFUSED, what,
			  "only directories and regular files may be mounted");
		error_hint(err,
			   "mount the directory that holds it, if the box is to have it");
		return HUSK_E_MOUNT_REFUSED;
	}
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", source->fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return error_sys(err, errno, what,
				 "cannot read back its path from /proc");
	path[n] = '\0';
	if (path[0] != '/')
		return error_set(err, HUSK_E_MOUNT_REFUSED, what,
				 "it lies outside the caller's root directory");
	source->path = strdup(path);
	if (!source->path)
		return error_oom(err, what);
	source->dev = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
	source->ino = st.st_ino;
	source->uid = st.st_uid;
	source->gid = st.st_gid;
	source->directory = S_ISDIR(st.st_mode);
	return 0;
}

int source_pin(const char *path, const char *what, struct source *ret,
	       struct husk_error *err)
{
	struct source source = SOURCE_INIT;
	int r;

	if (path[0] != '/')
		return error_set(err, HUSK_E_MOUNT_REFUSED, what,
				 "the host path must be absolute, got \"%s\"", path);
	source.fd = open(path, O_PATH | O_CLOEXEC);
	if (source.fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return error_set(err, HUSK_E_MOUNT_REFUSED, what, "%s does not exist",
				 path);
	if (source.fd < 0)
		return error_sys(err, errno, what, "cannot open %s", path);
	r = describe(&source, what, err);
	if (r < 0) {
		source_deinit(&source);
		return r;
	}
	*ret = source;
	return 0;
}

int source_pin_fd(int fd, const char *what, struct source *ret, struct husk_error *err)
{
	struct source source = SOURCE_INIT;
	int r;

	source.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (source.fd < 0)
		return error_sys(err, errno, what, "cannot duplicate its descriptor");
	r = describe(&source, what, err);
	if (r < 0) {
		source_deinit(&source);
		return r;
	}
	*ret = source;
	return 0;
}

void source_deinit(struct source *source)
{
	fd_close(&source->fd);
	free(source->path);
	source->path = NULL;
}
