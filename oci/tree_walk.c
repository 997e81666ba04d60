/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tree_walk.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/printable.h"
#include "oci/bounds.h"

/* What is left to walk: a path and, in front of it, targets of links. */
struct way {
	const struct tree_walk *walk;
	struct dir_node *at; /* NULL: nowhere */
	struct buffer spliced;
	const char *left;
	size_t size;
	int links;
};

/* Put the target of a link in front of what is left. */
static int splice(struct way *way, const char *target, size_t size,
		  struct husk_error *err)
{
	struct buffer joined =
	    BUFFER_INIT((DIRS_MAX_LINKS + 1) * (PATH_MAX + OCI_MAX_PATH));
	int rc = buffer_add(&joined, target, size);

	if (rc == 0)
		rc = buffer_add(&joined, "/", 1);
	if (rc == 0)
		rc = buffer_add(&joined, way->left, way->size);
	buffer_deinit(&way->spliced);
	way->spliced = joined;
	if (rc < 0)
		return error_oom(err, way->walk->dirs->where);
	way->left = joined.data;
	way->size = joined.size;
	if (*target == '/')
		way->at = dirs_root(way->walk->dirs);
	return 0;
}

/* No directory of that name is known. */
static int missing(struct way *way, const char *name, struct husk_error *err)
{
	const struct tree_walk *walk = way->walk;
	struct dir_node *parent = way->at;

	way->at = NULL;
	if (!walk->missing)
		return 0;
	return walk->missing(walk->user, parent, name, &way->at, err);
}

static int follow(struct way *way, const char *name, struct husk_error *err)
{
	const struct tree_walk *walk = way->walk;
	char target[PATH_MAX], text[160];
	int fd = dirs_fd(walk->dirs, way->at);
	ssize_t size;

	if (fd < 0)
		return error_sys(err, -fd, walk->dirs->where,
				 "its directory cannot be opened");
	size = readlinkat(fd, name, target, sizeof(target));
	if (size <= 0)
		return missing(way, name, err);
	if (++way->links > DIRS_MAX_LINKS)
		return error_set(err, HUSK_E_IMAGE, walk->dirs->where,
				 "has an entry behind more than %d links, the last is %s",
				 DIRS_MAX_LINKS, printable(text, sizeof(text), name));
	return splice(way, target, (size_t)size, err);
}

static int component(struct way *way, const char *name, size_t size,
		     struct husk_error *err)
{
	char text[OCI_MAX_COMPONENT + 1];
	struct dir_node *child;

	if (size == 0 || (size == 1 && name[0] == '.'))
		return 0;
	if (size == 2 && name[0] == '.' && name[1] == '.') {
		if (way->at->parent)
			way->at = way->at->parent;
		return 0;
	}
	child = dirs_child(way->walk->dirs, way->at, name, size);
	if (child) {
		way->at = child;
		return 0;
	}
	if (size > OCI_MAX_COMPONENT)
		return error_set(
		    err, HUSK_E_TOO_BIG, way->walk->dirs->where,
		    "has a link whose target has a name of more than %d bytes "
		    "(OCI_MAX_COMPONENT)",
		    OCI_MAX_COMPONENT);
	memcpy(text, name, size);
	text[size] = '\0';
	return way->walk->no_links ? missing(way, text, err) : follow(way, text, err);
}

int tree_walk(const struct tree_walk *walk, struct dir_node *from, const char *path,
	      size_t size, struct dir_node **ret, struct husk_error *err)
{
	struct way way = {.walk = walk, .at = from, .left = path, .size = size};
	int rc = 0;

	while (rc == 0 && way.at && way.size > 0) {
		const char *name = way.left;
		const char *slash = memchr(name, '/', way.size);
		size_t length = slash ? (size_t)(slash - name) : way.size;
		size_t used = slash ? length + 1 : length;

		way.left += used;
		way.size -= used;
		rc = component(&way, name, length, err);
	}
	buffer_deinit(&way.spliced);
	if (rc == 0)
		*ret = way.at;
	return rc;
}
