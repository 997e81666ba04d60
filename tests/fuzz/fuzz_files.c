/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: the file API of a session over a workspace that a box has shaped. Each
 * line is a byte that says what to do and a path; a second line where it takes one. Among
 * what is done: links, pipes and directories that are not ours, made with plain calls
 * where the path says. With 0x80 in the first byte the changes are listed at the end,
 * which takes a while: the clock must have moved on.
 *
 * A directory beside the workspace never changes, what is written can be read again, and
 * a refusal is one line that can be printed.
 */
#include "tests/fuzz/cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "session/diff.h"
#include "session/files.h"
#include "session/files_path.h"
#include "session/listing.h"
#include "oci/unpack.h"

enum { STEPS = 24 };

struct base {
	char path[64];
	int fd;
	struct workspace ws;
};

static void made(int r)
{
	require(r == 0);
}

static void base_open(struct base *base)
{
	char ws[96];

	(void)snprintf(base->path, sizeof(base->path), "/dev/shm/husk-fuzz-files-XXXXXX");
	require(mkdtemp(base->path) != NULL);
	base->fd = open(base->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	require(base->fd >= 0);
	made(mkdirat(base->fd, "K", 0755));
	made(symlinkat("nowhere", base->fd, "K/secret"));
	made(mkdirat(base->fd, "ws", 0755));
	(void)snprintf(ws, sizeof(ws), "%s/ws", base->path);
	made(workspace_open(ws, NULL, &base->ws, NULL));
}

static void base_close(struct base *base)
{
	(void)workspace_deinit(&base->ws, NULL);
	made(tree_remove(base->fd, "ws"));
	made(tree_remove(base->fd, "K"));
	(void)close(base->fd);
	made(rmdir(base->path));
}

static void look(const struct base *base, struct stat now[2])
{
	made(fstatat(base->fd, "K", &now[0], AT_SYMLINK_NOFOLLOW));
	made(fstatat(base->fd, "K/secret", &now[1], AT_SYMLINK_NOFOLLOW));
}

static void check_same(const struct stat before[2], const struct stat after[2])
{
	for (int i = 0; i < 2; i++)
		require(before[i].st_ctim.tv_sec == after[i].st_ctim.tv_sec &&
			before[i].st_ctim.tv_nsec == after[i].st_ctim.tv_nsec &&
			before[i].st_nlink == after[i].st_nlink &&
			before[i].st_ino == after[i].st_ino);
}

/* A path of the target's own calls: it must not lead out, links included. */
static bool is_inside(const char *path)
{
	return path[0] != '\0' && path[0] != '/' && !strstr(path, "..");
}

/* What a box could do, but for leading us out ourselves: the parent is reached without
 * links. */
static void shape(const struct base *base, unsigned kind, const char *path,
		  const char *other)
{
	char parent[256] = "";
	const char *slash = strrchr(path, '/');
	CLEANUP_FD int dir = -1;
	int r;

	if (!is_inside(path) || strlen(path) >= sizeof(parent))
		return;
	if (slash)
		memcpy(parent, path, (size_t)(slash - path));
	dir = fd_open_beneath(base->ws.fd, parent[0] ? parent : ".",
			      O_RDONLY | O_DIRECTORY, 0, 0x04 /* RESOLVE_NO_SYMLINKS */);
	if (dir < 0)
		return;
	path = slash ? slash + 1 : path;
	if (kind % 4 == 0)
		r = symlinkat(other, dir, path);
	else if (kind % 4 == 1)
		r = mkfifoat(dir, path, 0644);
	else if (kind % 4 == 2)
		r = mkdirat(dir, path, 0700);
	else
		r = unlinkat(dir, path, 0);
	require(r == 0 || errno != EBADF); /* most come to nothing */
}

static void use_write(const struct base *base, const char *path, const char *content)
{
	struct husk_error err = {0};
	void *data = NULL;
	size_t size = 0;
	int r = files_write(&base->ws, path, content, strlen(content), &err);

	if (r < 0) {
		require_refusal(r, &err);
		return;
	}
	require(files_read(&base->ws, path, 0, &data, &size, &err) == 0);
	require(size == strlen(content) && memcmp(data, content, size) == 0);
	free(data);
}

static void use_read(const struct base *base, const char *path)
{
	struct husk_error err = {0};
	void *data = NULL;
	size_t size = 0;
	int r = files_read(&base->ws, path, 1 << 16, &data, &size, &err);

	if (r < 0)
		require_refusal(r, &err);
	free(data);
}

static void use_list(const struct base *base, const char *path)
{
	struct husk_error err = {0};
	struct husk_listing *listing = NULL;
	int r = files_list(&base->ws, path, &listing, &err);

	if (r < 0)
		require_refusal(r, &err);
	for (size_t i = 0; i < husk_listing_count(listing); i++)
		require(husk_listing_path(listing, i)[0] != '/');
	(void)husk_listing_free(listing);
}

static void use_path(const struct base *base, const char *path, bool directory)
{
	struct husk_error err = {0};
	char *normal = NULL;
	int r = files_path_parse(&base->ws, path, directory, &normal, &err);

	if (r < 0)
		require_refusal(r, &err);
	else
		require(normal[0] != '/' && strlen(normal) <= FILES_PATH_MAX);
	free(normal);
}

static void step(const struct base *base, struct cursor *c)
{
	unsigned kind = cursor_byte(c);
	char *path = cursor_line(c), *other = NULL;

	use_path(base, path, kind & 8);
	switch (kind % 8) {
	case 0:
	case 1:
		other = cursor_line(c);
		use_write(base, path, other);
		break;
	case 2:
		use_read(base, path);
		break;
	case 3:
		use_list(base, path);
		break;
	default:
		other = cursor_line(c);
		shape(base, kind, path, other);
	}
	free(path);
	free(other);
}

static void steps(const struct base *base, struct cursor *c)
{
	for (int i = 0; c->size > 0 && i < STEPS; i++)
		step(base, c);
}

static void steps_and_changes(const struct base *base, struct cursor *c)
{
	struct diff diff;
	struct diff_call call;
	husk_listing *changes = NULL;

	diff_init(&diff, base->ws.fd);
	require(diff_begin(&diff, &call, NULL) == 0);
	steps(base, c);
	require(diff_end(&diff, &call, &changes, NULL) == 0);
	(void)husk_listing_free(changes);
	diff_deinit(&diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = {data, size};
	struct base base;
	struct stat before[2], after[2];

	base_open(&base);
	look(&base, before);
	if (size > 0 && data[0] & 0x80)
		steps_and_changes(&base, &c);
	else
		steps(&base, &c);
	look(&base, after);
	check_same(before, after);
	base_close(&base);
	return 0;
}
