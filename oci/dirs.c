/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/bounds.h"

static int too_many(const struct dirs *dirs, struct husk_error *err)
{
	return error_set(err, HUSK_E_TOO_BIG, dirs->where,
			 "has more than %d directories (OCI_MAX_DIRECTORIES)",
			 OCI_MAX_DIRECTORIES);
}

/* FNV-1a over the parent's number and the name. Names are chosen by others; the salt, an
 * address, makes it hard to choose such that collide. */
static size_t bucket_of(const struct dirs *dirs, const struct dir_node *parent,
			const char *name, size_t size)
{
	uint64_t hash =
	    0xcbf29ce484222325 ^ dirs->salt ^ (uint64_t)parent->id * 0x9e3779b97f4a7c15;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3;
	hash ^= hash >> 32;
	return hash & (dirs->bucket_count - 1);
}

static void insert(struct dirs *dirs, struct dir_node *node)
{
	size_t bucket = bucket_of(dirs, node->parent, node->name, strlen(node->name));

	node->chain = dirs->buckets[bucket];
	dirs->buckets[bucket] = node;
}

static int grow(struct dirs *dirs, struct husk_error *err)
{
	size_t capacity = dirs->capacity ? dirs->capacity * 2 : 256;
	struct dir_node **nodes, **buckets;

	nodes = reallocarray(dirs->nodes, capacity, sizeof(struct dir_node *));
	if (!nodes)
		return error_oom(err, dirs->where);
	dirs->nodes = nodes;
	buckets = calloc(capacity, sizeof(struct dir_node *));
	if (!buckets)
		return error_oom(err, dirs->where);
	free(dirs->buckets);
	dirs->buckets = buckets;
	dirs->bucket_count = dirs->capacity = capacity;
	for (size_t i = 1; i < dirs->count; i++)
		if (!(dirs->nodes[i]->flags & DIR_DEAD))
			insert(dirs, dirs->nodes[i]);
	return 0;
}

static int add(struct dirs *dirs, struct dir_node *parent, const char *name, size_t size,
	       struct dir_node **ret, struct husk_error *err)
{
	struct dir_node *node;
	int rc = 0;

	if (dirs->count == dirs->capacity)
		rc = grow(dirs, err);
	if (rc < 0)
		return rc;
	node = calloc(1, sizeof(*node) + size + 1);
	if (!node)
		return error_oom(err, dirs->where);
	memcpy(node->name, name, size);
	node->fd = -1;
	node->parent = parent;
	node->depth = parent ? parent->depth + 1 : 0;
	node->id = (uint32_t)dirs->count;
	dirs->nodes[dirs->count++] = node;
	if (parent)
		insert(dirs, node);
	*ret = node;
	return 0;
}

/* A share of the descriptors that the caller's process may have. */
static size_t share_of_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= 32 * DIRS_OPEN)
		return DIRS_OPEN;
	return limit.rlim_cur < 64 ? 2 : limit.rlim_cur / 32;
}

int dirs_init(struct dirs *dirs, int root, const char *where, struct husk_error *err)
{
	struct dir_node *node;
	int rc;

	*dirs = (struct dirs){.where = where, .open_max = share_of_descriptors()};
	rc = add(dirs, NULL, "", 0, &node, err);
	if (rc < 0)
		return rc;
	node->fd = root;
	dirs->salt = (uintptr_t)node;
	return 0;
}

static void close_slot(struct dirs *dirs, size_t slot)
{
	if (dirs->open[slot])
		fd_close(&dirs->open[slot]->fd);
	dirs->open[slot] = NULL;
}

void dirs_deinit(struct dirs *dirs)
{
	for (size_t i = 0; i < DIRS_OPEN; i++)
		close_slot(dirs, i);
	for (size_t i = 0; i < dirs->count; i++)
		free(dirs->nodes[i]);
	free(dirs->nodes);
	free(dirs->buckets);
	*dirs = (struct dirs){0};
}

struct dir_node *dirs_root(const struct dirs *dirs)
{
	return dirs->nodes[0];
}

struct dir_node *dirs_child(const struct dirs *dirs, const struct dir_node *parent,
			    const char *name, size_t size)
{
	struct dir_node *node = dirs->buckets[bucket_of(dirs, parent, name, size)];

	while (node && (node->parent != parent || strncmp(node->name, name, size) != 0 ||
			node->name[size]))
		node = node->chain;
	return node;
}

int dirs_add(struct dirs *dirs, struct dir_node *parent, const char *name, size_t size,
	     struct dir_node **ret, struct husk_error *err)
{
	if (dirs->count > OCI_MAX_DIRECTORIES)
		return too_many(dirs, err);
	if (parent->depth >= OCI_MAX_DEPTH)
		return error_set(err, HUSK_E_TOO_BIG, dirs->where,
				 "has a path of more than %d components (OCI_MAX_DEPTH)",
				 OCI_MAX_DEPTH);
	return add(dirs, parent, name, size, ret, err);
}

bool dirs_is_below(const struct dir_node *node, const struct dir_node *top)
{
	while (node && node != top)
		node = node->parent;
	return node == top;
}

void dirs_kill(struct dirs *dirs, struct dir_node *node)
{
	struct dir_node **at;

	for (size_t i = 0; i < DIRS_OPEN; i++)
		if (dirs->open[i] && dirs_is_below(dirs->open[i], node))
			close_slot(dirs, i);
	at =
	    &dirs->buckets[bucket_of(dirs, node->parent, node->name, strlen(node->name))];
	while (*at != node)
		at = &(*at)->chain;
	*at = node->chain;
	node->flags |= DIR_DEAD;
}

void dirs_bury(struct dirs *dirs)
{
	for (size_t i = 1; i < dirs->count; i++)
		dirs->nodes[i]->flags |= dirs->nodes[i]->parent->flags & DIR_DEAD;
}

/* The slot that was used longest ago, emptied. */
static size_t free_slot(struct dirs *dirs)
{
	size_t oldest = 0;

	for (size_t i = 0; i < dirs->open_max; i++) {
		if (!dirs->open[i])
			return i;
		if (dirs->open[i]->used < dirs->open[oldest]->used)
			oldest = i;
	}
	close_slot(dirs, oldest);
	return oldest;
}

/* Open one below the other, from the nearest that is open; only the last is kept. */
static int open_chain(const struct dir_node *node)
{
	const struct dir_node *chain[OCI_MAX_DEPTH + 1];
	CLEANUP_FD int held = -1;
	size_t count = 0;
	int fd;

	while (node->fd < 0) {
		chain[count++] = node;
		node = node->parent;
	}
	fd = node->fd;
	while (count > 0) {
		int next = openat(fd, chain[--count]->name,
				  O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (next < 0)
			return -errno;
		fd_close(&held);
		fd = held = next;
	}
	return fd_take(&held);
}

int dirs_fd(struct dirs *dirs, struct dir_node *node)
{
	size_t slot;
	int fd;

	node->used = ++dirs->clock;
	if (node->fd >= 0)
		return node->fd;
	slot = free_slot(dirs);
	fd = open_chain(node);
	if (fd < 0)
		return fd;
	node->fd = fd;
	dirs->open[slot] = node;
	return fd;
}

static int finish(struct dirs *dirs, const struct dir_node *node)
{
	const struct timespec times[2] = {node->mtime, node->mtime};
	bool chmod_needed = !(node->flags & DIR_HAS_MODE);
	int fd;

	if (!node->parent) {
		if ((chmod_needed && fchmod(node->fd, node->mode) < 0) ||
		    (node->flags & DIR_HAS_TIME && futimens(node->fd, times) < 0))
			return -errno;
		return 0;
	}
	fd = dirs_fd(dirs, node->parent);
	if (fd < 0)
		return fd;
	/* A directory that we made, in a tree that is ours: no link is in the way. */
	if (chmod_needed && fchmodat(fd, node->name, node->mode, 0) < 0)
		return -errno;
	if (node->flags & DIR_HAS_TIME &&
	    utimensat(fd, node->name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

int dirs_finish(struct dirs *dirs, const char **ret_name)
{
	dirs_bury(dirs);
	for (size_t i = dirs->count; i-- > 0;) {
		const struct dir_node *node = dirs->nodes[i];
		int rc = node->flags & DIR_DEAD ? 0 : finish(dirs, node);

		if (rc < 0) {
			*ret_name = node->name;
			return rc;
		}
	}
	return 0;
}
