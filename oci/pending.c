/* SPDX-License-Identifier: Apache-2.0 */
/* Weak stand-ins for what is being written elsewhere; each goes when its part lands, and
 * the file with the last. */
#include "oci/blob.h"
#include "oci/bounds.h"
#include "oci/config.h"
#include "oci/digest.h"
#include "oci/fetch.h"
#include "oci/import.h"
#include "oci/manifest.h"
#include "oci/oci.h"
#include "oci/platform.h"
#include "oci/reference.h"
#include "oci/store.h"
#include "oci/unpack.h"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <errno.h>
#include <sys/stat.h>
__attribute__((weak)) int layers_merge(const int *layers, size_t count, int root,
				       const char *where, struct husk_error *err)
{
	return mkdirat(root, "merged", 0755) < 0 ? error_sys(err, errno, "stand-in", "no")
						 : 0;
}
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* Enough for tests: recursive, a descriptor for each level. */
__attribute__((weak)) int tree_remove(int dir, const char *name)
{
	const struct dirent *entry;
	DIR *stream;
	int fd, r = 0;

	if (unlinkat(dir, name, 0) == 0)
		return 0;
	if (errno != EISDIR)
		return -errno;
	r = fchmodat(dir, name, 0700, 0);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream)
		return -errno;
	while (r == 0 && (entry = readdir(stream)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = tree_remove(dirfd(stream), entry->d_name);
	(void)closedir(stream);
	return r == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0 ? -errno : r;
}
