/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `dir:` root: an overlay of the image under a skeleton of our own. The skeleton
 * holds a real directory or file for every place where something is mounted, and lies on
 * top: a link that the image has at such a place (at /proc, at /workspace, at a parent of
 * a mount target) is covered and steers nothing. The image itself is never written to.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/layout.h"

enum { TARGET_TEXT = 4096 + 8 };

void layout_dir_open(struct layout *layout)
{
	const struct source *image = &layout->spec->image;
	struct plan *plan = layout->plan;

	if (image->fd < 0)
		return;
	if (layout->trees->image >= 0) {
		layout->image_slot =
		    plan_tree_given(plan, image->path, layout->trees->image);
		return;
	}
	layout->image_slot = plan_tree_open(plan, image->path, image->dev, image->ino);
	plan_tree_attr(plan, layout->image_slot, image->path,
		       MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

/* The image's own links on the way to a target were followed when the session was opened
 * (runtime/spec.c); whatever is a link by now is covered. */
static void skeleton_target(struct layout *layout, const struct box_mount *mount)
{
	char path[TARGET_TEXT];

	if (strncmp(mount->target, "workspace/", 10) == 0)
		return;
	(void)snprintf(path, sizeof(path), "skel/%s", mount->target);
	plan_dirs(layout->plan, path, mount->source.directory);
	if (!mount->source.directory)
		plan_node(layout->plan, path, 0644);
}

static bool image_has_directory(const struct layout *layout, const char *name)
{
	struct stat st;

	return layout->spec->image.fd >= 0 &&
	       fstatat(layout->spec->image.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

void layout_dir_root(struct layout *layout)
{
	static const char *const own[] = {
	    "skel", "skel/dev", "skel/proc", "skel/tmp", "skel/workspace", "image", "dev",
	};
	const struct box_spec *spec = layout->spec;
	struct plan *plan = layout->plan;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		plan_dir(plan, own[i], 0755);
	layout_sys_dirs(plan, "skel/");
	for (size_t i = 0; i < spec->mount_count; i++)
		skeleton_target(layout, &spec->mounts[i]);
	/* An /etc that is a link or missing stays the image's business. */
	if (image_has_directory(layout, "etc")) {
		plan_dir(plan, "skel/etc", 0755);
		layout_etc(layout, "skel/", false);
	}
	/* Of an image that holds nothing, the empty directory is all there is. */
	if (spec->image.fd >= 0)
		plan_mount(plan, layout->image_slot, "image");
	if (spec->writable_root) {
		plan_dir(plan, "upper", 0755);
		plan_dir(plan, "work", 0755);
		plan_overlay(plan, "root",
			     "lowerdir=skel:image,upperdir=upper,workdir=work,userxattr");
	} else {
		plan_overlay(plan, "root", "lowerdir=skel:image,userxattr");
	}
	plan_enter(plan, "root");
	plan_bind(plan, "../dev", "dev", 0, STEP_MOUNT_TREE);
}
