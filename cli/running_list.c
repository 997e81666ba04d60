/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of others, as the kernel's locks tell them. */
#include "cli/running.h"

#include "cli/say.h"
#include "cli/suggest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRY_MAX = 64 << 10 };

static const char ending[] = ".json";

/* The process that holds the entry, as this process's namespace counts; 0: nobody, or
 * nobody whom we can see. *ret_held: somebody holds it. */
static pid_t holder(int fd, bool *ret_held)
{
	/* Conflicts with the lock of who runs a box, not with that of who sweeps. */
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

	*ret_held = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	return *ret_held && lock.l_pid > 0 ? lock.l_pid : 0;
}

/* Its husk was killed. While the lock is held nobody can take the entry for their own,
 * so that it is not one of somebody who has just done that. */
static void sweep(int dir, const char *file, int fd)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	struct stat held, named;

	if (fcntl(fd, F_SETLK, &lock) == 0 && fstat(fd, &held) == 0 &&
	    fstatat(dir, file, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    held.st_ino == named.st_ino)
		(void)unlinkat(dir, file, 0);
}

static int open_entry(int dir, const char *file)
{
	return openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static json_t *read_entry(int fd, const char *name, pid_t pid)
{
	static char text[ENTRY_MAX];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	json_t *entry =
	    n > 0 ? json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL) : NULL;

	if (!json_is_object(entry)) {
		json_decref(entry);
		entry = json_object(); /* it is just being written */
	}
	(void)json_object_set_new(entry, "name", json_string(name));
	(void)json_object_set_new(entry, "pid", json_integer(pid));
	return entry;
}

/* One file of the directory; NULL where nobody holds it. */
static json_t *look_at(int dir, const char *file)
{
	size_t size = strlen(file);
	char name[CLI_RUNNING_NAME];
	json_t *entry = NULL;
	bool held;
	pid_t pid;
	int fd;

	if (size <= sizeof(ending) - 1 || size - (sizeof(ending) - 1) >= sizeof(name) ||
	    strcmp(file + size - (sizeof(ending) - 1), ending) != 0)
		return NULL;
	(void)snprintf(name, sizeof(name), "%.*s", (int)(size - (sizeof(ending) - 1)),
		       file);
	fd = cli_running_is_name(name) ? open_entry(dir, file) : -1;
	if (fd < 0)
		return NULL;
	pid = holder(fd, &held);
	if (held)
		entry = read_entry(fd, name, pid);
	else
		sweep(dir, file, fd);
	(void)close(fd);
	return entry;
}

static int by_name(const void *a, const void *b)
{
	json_t *const *first = a, *const *second = b;

	return strcmp(json_string_value(json_object_get(*first, "name")),
		      json_string_value(json_object_get(*second, "name")));
}

static json_t *sorted(json_t *list)
{
	size_t count = json_array_size(list);
	json_t **rows = calloc(count > 0 ? count : 1, sizeof(json_t *));
	json_t *result = json_array();

	for (size_t i = 0; rows && i < count; i++)
		rows[i] = json_array_get(list, i);
	if (rows)
		qsort(rows, count, sizeof(json_t *), by_name);
	for (size_t i = 0; rows && i < count; i++)
		(void)json_array_append(result, rows[i]);
	free(rows);
	json_decref(list);
	return result;
}

/* Takes dir. */
static void list_dir(int dir, json_t *list)
{
	const struct dirent *entry;
	DIR *stream = fdopendir(dir);

	if (!stream) {
		(void)close(dir);
		return;
	}
	while ((entry = readdir(stream))) {
		json_t *row = look_at(dirfd(stream), entry->d_name);

		if (row)
			(void)json_array_append_new(list, row);
	}
	(void)closedir(stream);
}

json_t *cli_running_list(void)
{
	int dirs[CLI_RUNNING_DIRS];
	size_t count = cli_running_dirs(dirs);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		list_dir(dirs[i], list);
	return sorted(list);
}

static int no_such(const char *name, struct husk_error *err)
{
	struct cli_suggestion near = {.input = name};
	json_t *list = cli_running_list(), *row;
	size_t i;

	(void)cli_error(err, name, "no box of that name is running");
	json_array_foreach(list, i, row)
	{
		cli_suggestion_offer(&near,
				     json_string_value(json_object_get(row, "name")));
	}
	if (near.best)
		cli_error_hint(err, "did you mean %s?", near.best);
	else
		cli_error_hint(err, "`husk ps` lists those that do");
	json_decref(list);
	return HUSK_E_INVALID;
}

/* The number that the lock names may be another process's by the time it is opened: the
 * lock is looked at once more, and the holder, still the same, cannot have changed
 * between. */
static int hold_in(int dir, const char *file)
{
	int fd = open_entry(dir, file), pidfd = -1;
	pid_t pid;
	bool held;

	if (fd < 0)
		return -1;
	pid = holder(fd, &held);
	if (pid > 0)
		pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd >= 0 && holder(fd, &held) != pid) {
		(void)close(pidfd);
		pidfd = -1;
	}
	(void)close(fd);
	return pidfd;
}

int cli_running_find(const char *name)
{
	char file[CLI_RUNNING_NAME + 8];
	int dirs[CLI_RUNNING_DIRS], pidfd = -1;
	size_t count = cli_running_dirs(dirs);

	(void)snprintf(file, sizeof(file), "%.64s%s", name, ending);
	for (size_t i = 0; i < count; i++) {
		if (pidfd < 0 && cli_running_is_name(name))
			pidfd = hold_in(dirs[i], file);
		(void)close(dirs[i]);
	}
	return pidfd;
}

int cli_running_hold(const char *name, int *ret_pidfd, struct husk_error *err)
{
	int pidfd = cli_running_find(name);

	if (pidfd < 0)
		return no_such(name, err);
	*ret_pidfd = pidfd;
	return 0;
}
