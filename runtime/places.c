/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/places.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mix.h"
#include "runtime/layout.h"

/* What of path lies below the directory dir, both relative to the root; NULL: nothing. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

/* The tree of the host's that a target lies in, the innermost one; *ret_rest: where. */
static const struct source *tree_of(const struct box_spec *spec, const char *target,
				    const char **ret_rest)
{
	const struct source *tree = &spec->workspace;
	const char *rest = below(target, "workspace");

	for (size_t i = 0; i < spec->mount_count; i++) {
		const char *inner = below(target, spec->mounts[i].target);

		if (inner && (!rest || strlen(inner) < strlen(rest))) {
			rest = inner;
			tree = &spec->mounts[i].source;
		}
	}
	*ret_rest = rest;
	return tree;
}

/* As init finds it: no link is followed. A number alone may come back with a new file,
 * together with the time at which that was made it does not. */
static void mix_place(uint64_t *hash, int tree, const char *path)
{
	struct open_how how = {
	    .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	CLEANUP_FD int fd = (int)syscall(SYS_openat2, tree, path, &how, sizeof(how));
	struct statx st = {0};
	const struct statx_timestamp *made;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME | STATX_CTIME,
			    &st) < 0) {
		mix(hash, (uint64_t)errno);
		return;
	}
	made = st.stx_mask & STATX_BTIME ? &st.stx_btime : &st.stx_ctime;
	mix(hash, (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor);
	mix(hash, st.stx_ino);
	mix(hash, (uint64_t)made->tv_sec);
	mix(hash, made->tv_nsec);
}

uint64_t places_stamp(const struct box_spec *spec)
{
	uint64_t hash = host_views_stamp(spec->views);

	for (size_t i = 0; i < spec->mount_count; i++) {
		const char *rest;
		const struct source *tree = tree_of(spec, spec->mounts[i].target, &rest);

		if (rest)
			mix_place(&hash, tree->fd, rest);
	}
	return hash;
}
