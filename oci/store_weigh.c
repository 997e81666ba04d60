/* SPDX-License-Identifier: Apache-2.0 */
/* How much a tree takes that goes with it. Paths of directories to be looked at are kept
 * on a stack, so that a tree may be as deep as it likes; each is opened in pieces, since
 * it may be longer than the kernel takes at once. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "oci/store_own.h"

enum { PIECE = 2048, BLOCK = 512, FIRST_SLOTS = 1024 };

/* Files with several links: how many of them were seen. */
struct links {
	struct link {
		ino_t inode; /* 0: free */
		nlink_t seen;
	} * slots;
	size_t count, capacity; /* a power of two */
};

struct weigher {
	struct links links;
	struct buffer stack; /* paths, each with a NUL before and after it */
	uint64_t bytes;
};

static struct link *slot_of(const struct links *links, ino_t inode)
{
	size_t at = (size_t)((uint64_t)inode * 0x9e3779b97f4a7c15ULL >> 20);

	for (;; at++) {
		struct link *slot = &links->slots[at & (links->capacity - 1)];

		if (slot->inode == inode || slot->inode == 0)
			return slot;
	}
}

static int grow(struct links *links)
{
	size_t capacity = links->capacity ? links->capacity * 2 : FIRST_SLOTS;
	struct links grown = {
	    .slots = calloc(capacity, sizeof(*grown.slots)),
	    .count = links->count,
	    .capacity = capacity,
	};

	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < links->capacity; i++)
		if (links->slots[i].inode)
			*slot_of(&grown, links->slots[i].inode) = links->slots[i];
	free(links->slots);
	*links = grown;
	return 0;
}

/* One more link of this file: was it the last? */
static bool is_last_link(struct links *links, const struct stat *st)
{
	struct link *slot;

	if (links->count * 2 >= links->capacity && grow(links) < 0)
		return false;
	slot = slot_of(links, st->st_ino);
	if (slot->inode == 0)
		links->count++;
	slot->inode = st->st_ino;
	return ++slot->seen == st->st_nlink;
}

static void weigh_one(struct weigher *w, const struct stat *st)
{
	if (S_ISDIR(st->st_mode) || st->st_nlink < 2 || is_last_link(&w->links, st))
		w->bytes += (uint64_t)st->st_blocks * BLOCK;
}

/* Open the directory at path below dir; path is broken up. */
static int open_long(int dir, char *path)
{
	CLEANUP_FD int at = -1;

	for (;;) {
		char *end = path + strnlen(path, PIECE);
		int next;

		if (*end != '\0')
			while (end > path && *end != '/')
				end--;
		if (*end == '/')
			*end++ = '\0';
		next = openat(at < 0 ? dir : at, path,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		fd_close(&at);
		if (next < 0 || *end == '\0')
			return next;
		at = next;
		path = end;
	}
}

static int push(struct weigher *w, const char *above, const char *name)
{
	int r = buffer_addf(&w->stack, "%s%s%s", above, *above ? "/" : "", name);

	return r < 0 ? r : buffer_add(&w->stack, "", 1);
}

/* What cannot be looked at is not counted. */
static void weigh_dir(struct weigher *w, DIR *dir, const char *path)
{
	const struct dirent *entry;
	struct stat st;

	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		weigh_one(w, &st);
		if (!S_ISDIR(st.st_mode))
			continue;
		if ((st.st_mode & S_IRWXU) != S_IRWXU &&
		    fchmodat(dirfd(dir), entry->d_name, 0700, 0) < 0)
			continue;
		(void)push(w, path, entry->d_name);
	}
}

static char *pop(struct weigher *w)
{
	size_t at = w->stack.size - 1;

	while (at > 0 && w->stack.data[at - 1] != '\0')
		at--;
	w->stack.size = at;
	return strdup(w->stack.data + at);
}

static void weigh_tree(struct weigher *w, int top)
{
	(void)buffer_add(&w->stack, "", 1);
	(void)buffer_add(&w->stack, ".", sizeof("."));
	while (w->stack.size > 1) {
		CLEANUP_FREE char *path = pop(w);
		CLEANUP_FREE char *broken = path ? strdup(path) : NULL;
		int fd = broken ? open_long(top, broken) : -1;
		DIR *dir = fd < 0 ? NULL : fdopendir(fd);

		if (!dir) {
			fd_close(&fd);
			continue;
		}
		weigh_dir(w, dir, path);
		(void)closedir(dir);
	}
}

uint64_t store_weigh(int dir, const char *name)
{
	struct weigher w = {.stack = BUFFER_INIT(SIZE_MAX / 2)};
	CLEANUP_FD int top = -1;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	weigh_one(&w, &st);
	if (S_ISDIR(st.st_mode))
		top = store_open_dir_at(dir, name);
	if (top >= 0)
		weigh_tree(&w, top);
	buffer_deinit(&w.stack);
	free(w.links.slots);
	return w.bytes;
}
