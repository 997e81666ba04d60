/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/trees.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

enum {
	TREE_RECURSIVE = 0x8000, /* AT_RECURSIVE, <linux/fcntl.h> */
	TREE_PRIVATE =
	    1 << 18, /* MS_PRIVATE; <sys/mount.h> clashes with <linux/mount.h> */
};

/* mapping: the user namespace of the id-mapping, or -1 for none. */
static int make_tree(const struct source *source, bool writable, int mapping)
{
	struct mount_attr attr = {
	    .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	    .propagation = TREE_PRIVATE,
	};
	CLEANUP_FD int fd = (int)syscall(SYS_open_tree, source->fd, "",
					 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
					     AT_EMPTY_PATH | TREE_RECURSIVE);

	if (fd < 0)
		return -errno;
	if (!writable)
		attr.attr_set |= MOUNT_ATTR_RDONLY;
	if (mapping >= 0) {
		attr.attr_set |= MOUNT_ATTR_IDMAP;
		attr.userns_fd = (uint64_t)mapping;
	}
	if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | TREE_RECURSIVE, &attr,
		    sizeof(attr)) < 0)
		return -errno;
	return fd_take(&fd);
}

static int make_mapped(const struct box_spec *spec, const struct source *source,
		       bool writable)
{
	int mapping = box_spec_mapping(spec, source);

	return mapping < 0 ? -EINVAL : make_tree(source, writable, mapping);
}

static int keep(int fd, const struct source *source, int *ret, const char **ret_subject)
{
	if (fd < 0) {
		*ret_subject = source->path;
		return fd;
	}
	*ret = fd;
	return 0;
}

int trees_make(const struct box_spec *spec, struct layout_trees *trees,
	       const char **ret_subject)
{
	int r = 0;

	if (!spec->ids.foreign)
		return 0;
	if (spec->root == BOX_ROOT_DIR && spec->image.fd >= 0)
		r = keep(make_mapped(spec, &spec->image, false), &spec->image,
			 &trees->image, ret_subject);
	if (r == 0) {
		/* Handed over also where it is the box's own: its path may lead through
		 * directories that are closed to the box's id. */
		int fd = spec->workspace_idmapped
			     ? make_mapped(spec, &spec->workspace, true)
			     : make_tree(&spec->workspace, true, -1);

		r = keep(fd, &spec->workspace, &trees->workspace, ret_subject);
	}
	if (r < 0 || spec->mount_count == 0)
		return r;
	trees->mounts = calloc(spec->mount_count, sizeof(*trees->mounts));
	if (!trees->mounts)
		return -ENOMEM;
	for (size_t i = 0; i < spec->mount_count; i++)
		trees->mounts[i] = -1;
	for (size_t i = 0; r == 0 && i < spec->mount_count; i++) {
		const struct box_mount *mount = &spec->mounts[i];
		int fd = mount->plain
			     ? make_tree(&mount->source, mount->writable, -1)
			     : make_mapped(spec, &mount->source, mount->writable);

		r = keep(fd, &mount->source, &trees->mounts[i], ret_subject);
	}
	return r;
}
