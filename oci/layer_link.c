/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/layer_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "oci/copy.h"
#include "oci/tree_walk.h"

/* Where the layer has the target's parent, or NULL. */
static int find_parent(struct placer *placer, struct dir_node **ret,
		       struct husk_error *err)
{
	struct tree_walk walk = {.dirs = &placer->dirs};

	return tree_walk(&walk, dirs_root(&placer->dirs), placer->target.text,
			 placer->target.parent_size, ret, err);
}

static int link_or_copy(int from, const char *from_name, int to, const char *to_name)
{
	int rc;

	if (linkat(from, from_name, to, to_name, 0) == 0)
		return 0;
	rc = -errno;
	if (rc != -EMLINK && rc != -EPERM && rc != -EOPNOTSUPP)
		return rc;
	return copy_entry(from, from_name, to, to_name);
}

/* A target that this layer does not have (yet) may be a lower one's. */
static int note(struct placer *placer, struct dir_node *parent, const char *name,
		const struct tar_entry *entry, struct husk_error *err)
{
	int rc = placer_clear(placer, parent, name);

	if (rc < 0)
		return placer_failed(placer, entry->path, -rc, err);
	return notes_add(&placer->notes, NOTE_LINK, parent, name, placer->target.text,
			 err);
}

/* Its place would be taken from the target before it could be linked: the descriptor of
 * the target's parent would be closed by then, and its number perhaps another's. */
static bool takes_away(const struct placer *placer, const struct dir_node *parent,
		       const char *name, const struct dir_node *holder)
{
	const struct dir_node *old =
	    dirs_child(&placer->dirs, parent, name, strlen(name));

	return old && dirs_is_below(holder, old);
}

int placer_hardlink(struct placer *placer, struct dir_node *parent, const char *name,
		    const struct tar_entry *entry, struct husk_error *err)
{
	struct layer_name *target = &placer->target;
	struct dir_node *holder = NULL;
	char text[160];
	int from, to, rc;

	rc = layer_name_clean(target, entry->link, "link target", placer->where, err);
	if (rc == 0)
		rc = find_parent(placer, &holder, err);
	if (rc < 0)
		return rc;
	if (!holder)
		return note(placer, parent, name, entry, err);
	if (!*target->name ||
	    dirs_child(&placer->dirs, holder, target->name, strlen(target->name)))
		return error_set(err, HUSK_E_IMAGE, placer->where,
				 "entry %s is a hard link to a directory",
				 printable(text, sizeof(text), entry->path));
	if (takes_away(placer, parent, name, holder))
		return error_set(err, HUSK_E_IMAGE, placer->where,
				 "entry %s is a hard link to something below itself",
				 printable(text, sizeof(text), entry->path));
	from = dirs_fd(&placer->dirs, holder);
	to = dirs_fd(&placer->dirs, parent);
	if (from < 0 || to < 0)
		return placer_failed(placer, entry->path, from < 0 ? -from : -to, err);
	rc = link_or_copy(from, target->name, to, name);
	if (rc == -EEXIST) {
		/* To itself: it is there already. */
		if (holder == parent && !strcmp(target->name, name))
			return 0;
		rc = placer_clear(placer, parent, name);
		if (rc == 0)
			rc = link_or_copy(from, target->name, to, name);
	}
	if (rc == -ENOENT)
		return note(placer, parent, name, entry, err);
	return rc < 0 ? placer_failed(placer, entry->path, -rc, err) : 0;
}
