/* SPDX-License-Identifier: Apache-2.0 */
#include "session/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fd.h"
#include "base/memory.h"
#include "session/beneath.h"

enum {
	NAMES_MAX = 256 << 20,
	PATH_TEXT = 4096,
};

struct visit {
	tree_fn fn;
	void *user;
	const char *skip;
	size_t left; /* how many entries may still come */
	char path[PATH_TEXT];
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a directory, one after the other, each with its NUL. */
static int read_names(int fd, struct buffer *names, size_t *ret_count)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *stream = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;
	size_t count = 0;

	if (!stream) {
		r = -errno;
		fd_close(&again);
		return r;
	}
	errno = 0;
	while (r == 0 && (entry = readdir(stream))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			r = buffer_add(names, entry->d_name, strlen(entry->d_name) + 1);
			count++;
		}
		errno = 0;
	}
	if (r == 0 && errno != 0)
		r = -errno;
	(void)closedir(stream);
	*ret_count = count;
	return r == -EFBIG ? -E2BIG : r;
}

static int sorted_names(int fd, struct buffer *names, const char ***ret,
			size_t *ret_count)
{
	const char *at;
	int r = read_names(fd, names, ret_count);

	if (r < 0)
		return r;
	*ret = calloc(*ret_count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	at = names->data;
	for (size_t i = 0; i < *ret_count; i++, at += strlen(at) + 1)
		(*ret)[i] = at;
	qsort(*ret, *ret_count, sizeof(**ret), compare_names);
	return 0;
}

static enum tree_step kind(mode_t mode)
{
	if (S_ISDIR(mode))
		return TREE_ENTER;
	if (S_ISREG(mode))
		return TREE_FILE;
	return S_ISLNK(mode) ? TREE_LINK : TREE_OTHER;
}

static int visit_dir(struct visit *visit, int fd, size_t path_size, unsigned depth);

static int visit_entry(struct visit *visit, int fd, const char *name, size_t path_size,
		       unsigned depth)
{
	struct stat st;
	const struct tree_entry entry = {fd, name, visit->path, &st, depth};
	int n, r;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (visit->left-- == 0)
		return -E2BIG;
	n = snprintf(visit->path + path_size, PATH_TEXT - path_size, "%s%s",
		     path_size > 0 ? "/" : "", name);
	if (n < 0 || (size_t)n >= PATH_TEXT - path_size)
		return -E2BIG;
	r = visit->fn(visit->user, kind(st.st_mode), &entry);
	if (r == 0 && S_ISDIR(st.st_mode)) {
		CLEANUP_FD int child = beneath_open_dir(fd, name, O_RDONLY);

		r = child < 0 ? child
			      : visit_dir(visit, child, path_size + (size_t)n, depth + 1);
		if (r == 0)
			r = visit->fn(visit->user, TREE_LEAVE, &entry);
	}
	visit->path[path_size] = '\0';
	return r;
}

/* The recursion is bounded by TREE_DEPTH_MAX. */
static int visit_dir(struct visit *visit, int fd, size_t path_size, unsigned depth)
{
	struct buffer names = BUFFER_INIT(NAMES_MAX);
	CLEANUP_FREE const char **sorted = NULL;
	size_t count = 0;
	int r =
	    depth > TREE_DEPTH_MAX ? -E2BIG : sorted_names(fd, &names, &sorted, &count);

	for (size_t i = 0; r == 0 && i < count; i++) {
		if (depth > 0 || !visit->skip || strcmp(sorted[i], visit->skip) != 0)
			r = visit_entry(visit, fd, sorted[i], path_size, depth);
	}
	buffer_deinit(&names);
	return r;
}

int tree_each(int root, const char *skip, tree_fn fn, void *user)
{
	CLEANUP_FREE struct visit *visit = calloc(1, sizeof(*visit));

	if (!visit)
		return -ENOMEM;
	visit->fn = fn;
	visit->user = user;
	visit->skip = skip;
	visit->left = TREE_ENTRIES_MAX;
	return visit_dir(visit, root, 0, 0);
}
