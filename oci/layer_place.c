/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/layer_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/printable.h"
#include "oci/tree_walk.h"
#include "oci/unpack.h"

enum {
	IMPLIED_MODE = 0755, /* of directories that nobody describes */
	WORKING_MODE = 0700, /* of directories while entries may still come */
	READABLE = 0500,     /* what it takes to read a directory */
};

int placer_failed(const struct placer *placer, const char *path, int sys_errno,
		  struct husk_error *err)
{
	char text[160];

	return error_sys(err, sys_errno, placer->where, "entry %s cannot be unpacked",
			 printable(text, sizeof(text), path));
}

int placer_clear(struct placer *placer, struct dir_node *parent, const char *name)
{
	struct dir_node *child = dirs_child(&placer->dirs, parent, name, strlen(name));
	int fd = dirs_fd(&placer->dirs, parent);

	if (fd < 0)
		return fd;
	if (child) {
		dirs_kill(&placer->dirs, child);
		return tree_remove(fd, name);
	}
	return unlinkat(fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* -- directories ------------------------------------------------------------------ */

/* Make a directory; what stands there instead goes. */
static int make_directory(struct placer *placer, struct dir_node *parent,
			  const char *name, mode_t mode, struct dir_node **ret,
			  struct husk_error *err)
{
	bool final = placer->exact && (mode & WORKING_MODE) == WORKING_MODE;
	mode_t first = final ? mode : WORKING_MODE;
	int fd = dirs_fd(&placer->dirs, parent), rc = 0;
	struct dir_node *node;

	if (fd < 0)
		return placer_failed(placer, name, -fd, err);
	if (mkdirat(fd, name, first) < 0) {
		if (errno != EEXIST)
			return placer_failed(placer, name, errno, err);
		rc = placer_clear(placer, parent, name);
		if (rc == 0 && mkdirat(fd, name, first) < 0)
			rc = -errno;
	}
	if (rc < 0)
		return placer_failed(placer, name, -rc, err);
	rc = dirs_add(&placer->dirs, parent, name, strlen(name), &node, err);
	if (rc < 0)
		return rc;
	notes_cancel_link(&placer->notes, parent, name);
	node->mode = mode;
	node->flags |= final ? DIR_HAS_MODE : 0;
	*ret = node;
	return 0;
}

/* A parent that no entry has described so far. */
static int imply(void *user, struct dir_node *parent, const char *name,
		 struct dir_node **ret, struct husk_error *err)
{
	struct placer *placer = user;
	int rc = make_directory(placer, parent, name, IMPLIED_MODE, ret, err);

	if (rc == 0)
		(*ret)->flags |= DIR_IMPLICIT;
	return rc;
}

/* The same for a whiteout. Where the layer has something else there, a link too, all that
 * was below is hidden anyway: such whiteouts come from tools that compare directories. */
static int imply_for_whiteout(void *user, struct dir_node *parent, const char *name,
			      struct dir_node **ret, struct husk_error *err)
{
	struct placer *placer = user;
	struct stat st;
	int fd = dirs_fd(&placer->dirs, parent);

	if (fd < 0)
		return placer_failed(placer, name, -fd, err);
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return imply(user, parent, name, ret, err);
}

static void describe(struct dir_node *node, const struct tar_entry *entry)
{
	mode_t mode = entry->mode & 01777;

	if (!node->parent)
		mode |= READABLE; /* or it is of no use */
	if (mode != node->mode)
		node->flags &= ~(uint32_t)DIR_HAS_MODE;
	node->mode = mode;
	node->mtime = entry->mtime;
	node->flags &= ~(uint32_t)DIR_IMPLICIT;
	node->flags |= DIR_HAS_TIME;
}

static int place_directory(struct placer *placer, struct dir_node *parent,
			   const char *name, const struct tar_entry *entry,
			   struct husk_error *err)
{
	struct dir_node *node = dirs_child(&placer->dirs, parent, name, strlen(name));
	int rc = 0;

	if (!node)
		rc =
		    make_directory(placer, parent, name, entry->mode & 01777, &node, err);
	if (rc == 0)
		describe(node, entry);
	return rc;
}

/* -- the rest --------------------------------------------------------------------- */

static int make_special(const struct placer *placer, int fd, const char *name,
			const struct tar_entry *entry)
{
	const struct timespec times[2] = {entry->mtime, entry->mtime};
	mode_t mode = entry->mode & 0777;
	int rc;

	if (entry->type == TAR_SYMLINK)
		rc = symlinkat(entry->link, fd, name);
	else
		rc = mkfifoat(fd, name, placer->exact ? mode : 0600);
	if (rc < 0)
		return -errno;
	/* The FIFO is ours and new: nobody has put a link there. */
	if (entry->type == TAR_FIFO && !placer->exact && fchmodat(fd, name, mode, 0) < 0)
		return -errno;
	return utimensat(fd, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* What the kernel would refuse with less clear words. */
static int check_target(const struct placer *placer, const struct tar_entry *entry,
			struct husk_error *err)
{
	char text[160];

	if (entry->type != TAR_SYMLINK)
		return 0;
	(void)printable(text, sizeof(text), entry->path);
	if (!*entry->link)
		return error_set(err, HUSK_E_IMAGE, placer->where,
				 "entry %s is a link to nothing", text);
	if (strlen(entry->link) >= PATH_MAX)
		return error_set(err, HUSK_E_TOO_BIG, placer->where,
				 "entry %s is a link to a path of more than %d bytes",
				 text, PATH_MAX - 1);
	return 0;
}

/* A symlink or a FIFO. */
static int place_special(struct placer *placer, struct dir_node *parent, const char *name,
			 const struct tar_entry *entry, struct husk_error *err)
{
	int fd = dirs_fd(&placer->dirs, parent), rc;

	if (fd < 0)
		return placer_failed(placer, entry->path, -fd, err);
	rc = check_target(placer, entry, err);
	if (rc < 0)
		return rc;
	rc = make_special(placer, fd, name, entry);
	if (rc == -EEXIST) {
		rc = placer_clear(placer, parent, name);
		if (rc == 0)
			rc = make_special(placer, fd, name, entry);
	}
	return rc < 0 ? placer_failed(placer, entry->path, -rc, err) : 0;
}

/* A device is not made, but what it would have hidden does not come through. */
static int drop(struct placer *placer, struct dir_node *parent, const char *name,
		const struct tar_entry *entry, struct husk_error *err)
{
	int rc = placer_clear(placer, parent, name);

	if (rc < 0)
		return placer_failed(placer, entry->path, -rc, err);
	return notes_add(&placer->notes, NOTE_WHITEOUT, parent, name, NULL, err);
}

static int place(struct placer *placer, struct dir_node *parent, const char *name,
		 const struct tar_entry *entry, struct tar *tar, struct husk_error *err)
{
	notes_cancel_link(&placer->notes, parent, name);
	switch (entry->type) {
	case TAR_FILE:
		return placer_file(placer, parent, name, entry, tar, err);
	case TAR_DIRECTORY:
		return place_directory(placer, parent, name, entry, err);
	case TAR_HARDLINK:
		return placer_hardlink(placer, parent, name, entry, err);
	case TAR_SYMLINK:
	case TAR_FIFO:
		return place_special(placer, parent, name, entry, err);
	default:
		return drop(placer, parent, name, entry, err);
	}
}

static int place_root(struct placer *placer, const struct tar_entry *entry,
		      struct husk_error *err)
{
	if (entry->type != TAR_DIRECTORY)
		return error_set(err, HUSK_E_IMAGE, placer->where,
				 "its root is not a directory but something else");
	describe(dirs_root(&placer->dirs), entry);
	return 0;
}

static int hide(struct placer *placer, enum layer_name_kind kind, struct husk_error *err)
{
	struct tree_walk walk = {&placer->dirs, imply_for_whiteout, placer, true};
	const struct layer_name *name = &placer->name;
	struct dir_node *parent = NULL;
	int rc = tree_walk(&walk, dirs_root(&placer->dirs), name->text, name->parent_size,
			   &parent, err);

	if (rc < 0 || !parent)
		return rc;
	if (kind == NAME_WHITEOUT)
		return notes_add(&placer->notes, NOTE_WHITEOUT, parent, name->name, NULL,
				 err);
	parent->flags |= DIR_OPAQUE;
	return 0;
}

int placer_add(struct placer *placer, const struct tar_entry *entry, struct tar *tar,
	       struct husk_error *err)
{
	struct tree_walk walk = {&placer->dirs, imply, placer, false};
	struct layer_name *name = &placer->name;
	struct dir_node *parent = NULL;
	int rc = layer_name_clean(name, entry->path, "entry", placer->where, err), kind;

	if (rc < 0)
		return rc;
	kind = layer_name_kind(name, placer->where, err);
	if (kind < 0 || kind == NAME_SKIPPED)
		return kind < 0 ? kind : 0;
	if (kind == NAME_ROOT)
		return place_root(placer, entry, err);
	if (kind != NAME_PLAIN)
		return hide(placer, (enum layer_name_kind)kind, err);
	rc = tree_walk(&walk, dirs_root(&placer->dirs), name->text, name->parent_size,
		       &parent, err);
	return rc < 0 ? rc : place(placer, parent, name->name, entry, tar, err);
}

/* -- beginning and end ------------------------------------------------------------ */

/* Do modes come out as they go in? A default ACL or a set-group-ID directory around the
 * store would change them. */
static bool modes_are_exact(int dir)
{
	struct stat st;

	return fstatat(dir, "tree", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (st.st_mode & 07777) == 0777;
}

int placer_init(struct placer *placer, int dir, bool own_umask, const char *where,
		struct husk_error *err)
{
	struct rlimit limit;
	int rc = 0;

	placer->where = where;
	placer->dir = dir;
	placer->tree = -1;
	placer->bytes = 0;
	placer->dirs = (struct dirs){0};
	notes_init(&placer->notes, where);
	placer->max_file = UINT64_MAX;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		placer->max_file = limit.rlim_cur;
	if (mkdirat(dir, "tree", 0777) < 0)
		return placer_failed(placer, "/", errno, err);
	placer->exact = own_umask && modes_are_exact(dir);
	if (fchmodat(dir, "tree", IMPLIED_MODE, 0) < 0)
		return placer_failed(placer, "/", errno, err);
	placer->tree =
	    openat(dir, "tree", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (placer->tree < 0)
		return placer_failed(placer, "/", errno, err);
	rc = dirs_init(&placer->dirs, placer->tree, where, err);
	if (rc < 0)
		return rc;
	dirs_root(&placer->dirs)->mode = IMPLIED_MODE;
	dirs_root(&placer->dirs)->flags = DIR_IMPLICIT | DIR_HAS_MODE;
	return 0;
}

void placer_deinit(struct placer *placer)
{
	dirs_deinit(&placer->dirs);
	notes_deinit(&placer->notes);
	fd_close(&placer->tree);
}

/* As an ordinary user a layer whose directories cannot be read could not be merged: those
 * get a wider mode in the tree, and the notes tell the right one. */
static void widen(struct placer *placer)
{
	for (size_t i = 0; i < placer->dirs.count; i++) {
		struct dir_node *node = placer->dirs.nodes[i];

		if ((node->mode & READABLE) == READABLE)
			continue;
		node->noted_mode = node->mode;
		node->mode |= READABLE;
		node->flags |= DIR_MODE_NOTED;
	}
}

int placer_finish(struct placer *placer, struct husk_error *err)
{
	const char *name = "";
	int rc;

	widen(placer);
	rc = dirs_finish(&placer->dirs, &name);
	if (rc < 0)
		return placer_failed(placer, name, -rc, err);
	return notes_write(&placer->notes, &placer->dirs, placer->dir, err);
}
