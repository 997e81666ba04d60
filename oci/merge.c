/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers over one another, bottom first, each in three steps:
 *
 *	hide	what its whiteouts and opaque directories name goes, as the lower layers
 *		left it
 *	link	hard links to what lower layers have
 *	lay	its tree: directories are made or described anew, everything else is
 *linked
 *
 * A directory that the layer merely implies leaves the lower one as it is; where a lower
 * layer has a link to a directory there, it is followed, inside the root. Metadata of
 * directories comes last. All of it goes by descriptors (oci/dirs.h): one table for the
 * root, which only we write to, and one for each layer in its turn.
 */
#include "oci/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/printable.h"
#include "oci/copy.h"
#include "oci/layer_name.h"
#include "oci/notes.h"
#include "oci/tree_walk.h"

enum { IMPLIED_MODE = 0755, WORKING_MODE = 0700, READABLE = 0500 };

struct merger {
	const char *where;
	struct dirs root;
	/* The layer in turn. */
	struct dirs layer; /* nodes' peer: the same directory in the root */
	struct notes notes;
	struct dir_node **stack; /* directories still to be laid; heap */
	size_t stacked, stack_size;
	struct layer_name target;
};

static int failed(const struct merger *merger, const char *name, int sys_errno,
		  struct husk_error *err)
{
	char text[160];

	return error_sys(err, sys_errno, merger->where, "%s cannot be put into its root",
			 printable(text, sizeof(text), *name ? name : "/"));
}

/* Take away what stands at name in the root. 0 or -errno, 0 too where there is nothing.
 */
static int clear(struct merger *merger, struct dir_node *parent, const char *name)
{
	struct dir_node *child = dirs_child(&merger->root, parent, name, strlen(name));
	int fd = dirs_fd(&merger->root, parent);

	if (fd < 0)
		return fd;
	if (child) {
		dirs_kill(&merger->root, child);
		return tree_remove(fd, name);
	}
	return unlinkat(fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* -- where a directory of the layer is in the root --------------------------------- */

/* What the root has in place of a directory that the layer implies: a directory that a
 * link there leads to, or NULL. */
static int through_link(struct merger *merger, struct dir_node *parent, const char *name,
			struct dir_node **ret, struct husk_error *err)
{
	struct tree_walk walk = {.dirs = &merger->root};

	return tree_walk(&walk, parent, name, strlen(name), ret, err);
}

/* Where the layer's directory is in the root so far, or NULL. */
static int find_peer(struct merger *merger, struct dir_node *node, struct husk_error *err)
{
	struct dir_node *parent = node->parent ? node->parent->peer : NULL;

	node->peer = NULL;
	if (!node->parent)
		node->peer = dirs_root(&merger->root);
	if (!parent)
		return 0;
	node->peer = dirs_child(&merger->root, parent, node->name, strlen(node->name));
	if (node->peer || !(node->flags & DIR_IMPLICIT))
		return 0;
	return through_link(merger, parent, node->name, &node->peer, err);
}

static int make_directory(struct merger *merger, struct dir_node *parent,
			  const char *name, struct dir_node **ret, struct husk_error *err)
{
	int fd = dirs_fd(&merger->root, parent), rc = 0;

	if (fd < 0)
		return failed(merger, name, -fd, err);
	if (mkdirat(fd, name, WORKING_MODE) < 0)
		rc = -errno;
	if (rc == -EEXIST) {
		rc = clear(merger, parent, name);
		if (rc == 0 && mkdirat(fd, name, WORKING_MODE) < 0)
			rc = -errno;
	}
	if (rc < 0)
		return failed(merger, name, -rc, err);
	rc = dirs_add(&merger->root, parent, name, strlen(name), ret, err);
	if (rc == 0)
		(*ret)->mode = IMPLIED_MODE;
	return rc;
}

/* The same, made where it is missing. Its parents have peers. */
static int make_peer(struct merger *merger, struct dir_node *node, struct husk_error *err)
{
	int rc;

	if (node->peer)
		return 0;
	rc = find_peer(merger, node, err);
	if (rc < 0 || node->peer)
		return rc;
	return make_directory(merger, node->parent->peer, node->name, &node->peer, err);
}

/* -- hide -------------------------------------------------------------------------- */

/* Everything in a directory of the root. */
static int empty(struct merger *merger, struct dir_node *node)
{
	int above = dirs_fd(&merger->root, node), fd, rc = 0;
	const struct dirent *entry;
	DIR *stream;

	if (above < 0)
		return above;
	fd = openat(above, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stream = fdopendir(fd);
	if (!stream) {
		fd_close(&fd);
		return -errno;
	}
	while (rc == 0 && (errno = 0, entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = clear(merger, node, entry->d_name);
	if (rc == 0)
		rc = -errno;
	(void)closedir(stream);
	return rc;
}

/* What another whiteout has hidden already is not there any more. */
static int hidden(const struct merger *merger, const char *name, int rc,
		  struct husk_error *err)
{
	return rc == 0 || rc == -ENOENT || rc == -ENOTDIR
		   ? 0
		   : failed(merger, name, -rc, err);
}

static int hide(struct merger *merger, struct husk_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < merger->layer.count && rc == 0; i++)
		rc = find_peer(merger, merger->layer.nodes[i], err);
	for (size_t i = 0; i < merger->layer.count && rc == 0; i++) {
		struct dir_node *node = merger->layer.nodes[i];

		if (node->flags & DIR_OPAQUE && node->peer)
			rc = hidden(merger, node->name, empty(merger, node->peer), err);
	}
	for (struct note *note = merger->notes.first; note && rc == 0; note = note->next)
		if (note->kind == NOTE_WHITEOUT && note->dir->peer)
			rc = hidden(merger, note->name,
				    clear(merger, note->dir->peer, note->name), err);
	/* Some of them may be gone now: they are looked for anew. */
	for (size_t i = 0; i < merger->layer.count; i++)
		merger->layer.nodes[i]->peer = NULL;
	return rc;
}

/* -- link -------------------------------------------------------------------------- */

static int link_entry(int from, const char *from_name, int to, const char *to_name)
{
	int rc;

	if (linkat(from, from_name, to, to_name, 0) == 0)
		return 0;
	rc = -errno;
	if (rc != -EMLINK && rc != -EXDEV && rc != -EPERM && rc != -EOPNOTSUPP)
		return rc;
	return copy_entry(from, from_name, to, to_name);
}

static int nowhere(const struct merger *merger, const struct note *note,
		   struct husk_error *err)
{
	char name[120], target[120];

	return error_set(err, HUSK_E_IMAGE, merger->where,
			 "%s is a hard link to %s, which is no file of a lower layer and "
			 "no earlier one of its own",
			 printable(name, sizeof(name), note->name),
			 printable(target, sizeof(target), note->target));
}

/* What the link replaces holds its target. */
static int below_itself(const struct merger *merger, const struct note *note,
			struct husk_error *err)
{
	char name[120];

	return error_set(err, HUSK_E_IMAGE, merger->where,
			 "%s is a hard link to something below itself",
			 printable(name, sizeof(name), note->name));
}

static int link_note(struct merger *merger, struct note *note, struct husk_error *err)
{
	struct tree_walk walk = {.dirs = &merger->root};
	struct layer_name *target = &merger->target;
	struct dir_node *holder = NULL, *to_dir = note->dir->peer, *old;
	int rc, from, to;

	rc = layer_name_clean(target, note->target, "link target", merger->where, err);
	if (rc == 0)
		rc = tree_walk(&walk, dirs_root(&merger->root), target->text,
			       target->parent_size, &holder, err);
	if (rc < 0)
		return rc;
	if (!holder ||
	    dirs_child(&merger->root, holder, target->name, strlen(target->name)))
		return nowhere(merger, note, err);
	/* Its descriptor would be closed before the link is made. */
	old = dirs_child(&merger->root, to_dir, note->name, strlen(note->name));
	if (old && dirs_is_below(holder, old))
		return below_itself(merger, note, err);
	from = dirs_fd(&merger->root, holder);
	to = dirs_fd(&merger->root, to_dir);
	if (from < 0 || to < 0)
		return failed(merger, note->name, from < 0 ? -from : -to, err);
	rc = link_entry(from, target->name, to, note->name);
	if (rc == -EEXIST && holder == to_dir && !strcmp(target->name, note->name))
		return 0;
	if (rc == -EEXIST) {
		rc = clear(merger, to_dir, note->name);
		if (rc == 0)
			rc = link_entry(from, target->name, to, note->name);
	}
	if (rc == -ENOENT)
		return nowhere(merger, note, err);
	return rc < 0 ? failed(merger, note->name, -rc, err) : 0;
}

static int link_all(struct merger *merger, struct husk_error *err)
{
	int rc = 0;

	/* Parents come first in the table, so that each finds its own in place. */
	for (size_t i = 0; merger->notes.links && i < merger->layer.count && rc == 0; i++)
		rc = make_peer(merger, merger->layer.nodes[i], err);
	for (struct note *note = merger->notes.first; note && rc == 0; note = note->next)
		if (note->kind == NOTE_LINK && !note->cancelled)
			rc = link_note(merger, note, err);
	return rc;
}

/* -- lay --------------------------------------------------------------------------- */

static int push(struct merger *merger, struct dir_node *node, struct husk_error *err)
{
	if (merger->stacked == merger->stack_size) {
		size_t size = merger->stack_size ? merger->stack_size * 2 : 256;
		struct dir_node **stack =
		    reallocarray(merger->stack, size, sizeof(struct dir_node *));

		if (!stack)
			return error_oom(err, merger->where);
		merger->stack = stack;
		merger->stack_size = size;
	}
	merger->stack[merger->stacked++] = node;
	return 0;
}

static int push_child(struct merger *merger, struct dir_node *node, const char *name,
		      struct husk_error *err)
{
	struct dir_node *child = dirs_child(&merger->layer, node, name, strlen(name));
	int rc = 0;

	if (!child)
		rc = dirs_add(&merger->layer, node, name, strlen(name), &child, err);
	return rc < 0 ? rc : push(merger, child, err);
}

static int lay_entry(struct merger *merger, int fd, struct dir_node *to, const char *name,
		     struct husk_error *err)
{
	int to_fd = dirs_fd(&merger->root, to), rc;

	if (to_fd < 0)
		return failed(merger, name, -to_fd, err);
	rc = link_entry(fd, name, to_fd, name);
	if (rc == -EEXIST) {
		rc = clear(merger, to, name);
		if (rc == 0)
			rc = link_entry(fd, name, to_fd, name);
	}
	return rc < 0 ? failed(merger, name, -rc, err) : 0;
}

/* Not every file system tells the type. */
static bool is_directory(int fd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

static int lay_entries(struct merger *merger, struct dir_node *node, DIR *stream,
		       struct husk_error *err)
{
	const struct dirent *entry;
	int fd = dirfd(stream), rc = 0;

	while (rc == 0 && (errno = 0, entry = readdir(stream))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (is_directory(fd, entry))
			rc = push_child(merger, node, entry->d_name, err);
		else
			rc = lay_entry(merger, fd, node->peer, entry->d_name, err);
	}
	if (rc == 0 && errno)
		return failed(merger, node->name, errno, err);
	return rc;
}

static void describe(const struct dir_node *node, const struct stat *st)
{
	struct dir_node *peer = node->peer;

	if (node->flags & DIR_IMPLICIT)
		return;
	peer->mode =
	    node->flags & DIR_MODE_NOTED ? node->noted_mode : st->st_mode & 01777;
	if (!peer->parent)
		peer->mode |= READABLE;
	peer->mtime = st->st_mtim;
	peer->flags |= DIR_HAS_TIME;
}

static int lay_directory(struct merger *merger, struct dir_node *node,
			 struct husk_error *err)
{
	int rc = make_peer(merger, node, err), above = dirs_fd(&merger->layer, node), fd;
	struct stat st;
	DIR *stream;

	if (rc < 0)
		return rc;
	if (above < 0)
		return failed(merger, node->name, -above, err);
	fd = openat(above, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		rc = -errno;
	stream = rc == 0 ? fdopendir(fd) : NULL;
	if (!stream) {
		rc = rc < 0 ? rc : -errno;
		fd_close(&fd);
		return failed(merger, node->name, -rc, err);
	}
	describe(node, &st);
	rc = lay_entries(merger, node, stream, err);
	(void)closedir(stream);
	return rc;
}

static int lay(struct merger *merger, struct husk_error *err)
{
	int rc;

	merger->stacked = 0;
	rc = push(merger, dirs_root(&merger->layer), err);
	while (rc == 0 && merger->stacked > 0)
		rc = lay_directory(merger, merger->stack[--merger->stacked], err);
	return rc;
}

/* -- all of it --------------------------------------------------------------------- */

static int add_layer(struct merger *merger, int dir, struct husk_error *err)
{
	CLEANUP_FD int tree =
	    openat(dir, "tree", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc;

	if (tree < 0)
		return failed(merger, "a layer", errno, err);
	notes_init(&merger->notes, merger->where);
	rc = dirs_init(&merger->layer, tree, merger->where, err);
	if (rc == 0)
		rc = notes_read(&merger->notes, &merger->layer, dir, err);
	if (rc == 0)
		rc = hide(merger, err);
	if (rc == 0)
		rc = link_all(merger, err);
	if (rc == 0)
		rc = lay(merger, err);
	notes_deinit(&merger->notes);
	dirs_deinit(&merger->layer);
	return rc;
}

static int merge(struct merger *merger, const int *layers, size_t count,
		 struct husk_error *err)
{
	const char *name = "";
	int rc = 0;

	dirs_root(&merger->root)->mode = IMPLIED_MODE;
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_layer(merger, layers[i], err);
	if (rc < 0)
		return rc;
	rc = dirs_finish(&merger->root, &name);
	return rc < 0 ? failed(merger, name, -rc, err) : 0;
}

int layers_merge(const int *layers, size_t count, int root, const char *where,
		 struct husk_error *err)
{
	struct merger *merger = calloc(1, sizeof(*merger));
	int rc;

	if (!merger)
		return error_oom(err, where);
	merger->where = where;
	rc = dirs_init(&merger->root, root, where, err);
	if (rc == 0)
		rc = merge(merger, layers, count, err);
	dirs_deinit(&merger->root);
	free(merger->stack);
	free(merger);
	return rc;
}
