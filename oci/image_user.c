/* SPDX-License-Identifier: Apache-2.0 */
/* The numeric ids for an image's User. etc/passwd and etc/group are the image's, which is
 * to say an attacker's: they are found beneath the root as the box would see them, opened
 * only where they are regular files, and read line by line with bounds. */
#include "oci/oci.h"

#include "base/fd.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LINE_MAX_BYTES = 8192,	   /* a longer line is no row */
	FILE_MAX_BYTES = 16 << 20, /* of one of the two files */
	PATH_MAX_BYTES = 4096,
	USER_MAX_BYTES = 1024, /* of what is looked up */
	FIELDS = 7,	       /* of a row of etc/passwd; etc/group has fewer */
	HOME_FIELD = 5,
};

/* The last one means "no id" to the kernel. */
#define ID_MAX (UINT32_MAX - 1)

/* What is looked for in one of the files, and what was found. */
struct row {
	const char *name; /* NULL: by id */
	uint32_t id;	  /* asked, or found */
	uint32_t group;	  /* etc/passwd: the primary group */
	char *home;	  /* etc/passwd: heap or NULL */
	bool found;
};

struct reader {
	int fd;
	size_t used, at;
	size_t total;
	char data[16384];
};

/* Digits and nothing else. 0, -EINVAL, or -ERANGE. */
static int parse_id(const char *text, size_t size, uint32_t *ret)
{
	uint64_t value = 0;

	if (size == 0)
		return -EINVAL;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		if (value <= ID_MAX)
			value = value * 10 + (uint64_t)(text[i] - '0');
	}
	if (value > ID_MAX)
		return -ERANGE;
	*ret = (uint32_t)value;
	return 0;
}

/* The next byte, -1 at the end, or -errno - 1. */
static int next_byte(struct reader *reader)
{
	ssize_t n;

	if (reader->at < reader->used)
		return (unsigned char)reader->data[reader->at++];
	if (reader->total >= FILE_MAX_BYTES)
		return -EFBIG - 1;
	n = fd_read_full(reader->fd, reader->data, sizeof(reader->data));
	if (n < 0)
		return (int)n - 1;
	if (n == 0)
		return -1;
	reader->used = (size_t)n;
	reader->total += (size_t)n;
	reader->at = 1;
	return (unsigned char)reader->data[0];
}

/* The next line without its newline. 1, 0 at the end, -errno; lines that are too long or
 * hold a NUL come as empty ones. */
static int next_line(struct reader *reader, char line[LINE_MAX_BYTES])
{
	bool usable = true, any = false;
	size_t size = 0;
	int c;

	while ((c = next_byte(reader)) >= 0 && c != '\n') {
		any = true;
		if (c == '\0' || size + 1 >= LINE_MAX_BYTES)
			usable = false;
		else
			line[size++] = (char)c;
	}
	if (c < -1)
		return c + 1;
	line[usable ? size : 0] = '\0';
	return c == '\n' || any;
}

/* Take the row where it is the one. 0, or -ENOMEM. */
static int match(char *line, bool passwd, struct row *row)
{
	char *field[FIELDS] = {0};
	size_t count = 0;
	uint32_t id, group = 0;

	for (char *at = line; at && count < FIELDS; count++) {
		field[count] = at;
		at = strchr(at, ':');
		if (at)
			*at++ = '\0';
	}
	if (count < 3 || field[0][0] == '\0' ||
	    parse_id(field[2], strlen(field[2]), &id) < 0)
		return 0;
	if (passwd && (count < 4 || parse_id(field[3], strlen(field[3]), &group) < 0))
		return 0;
	if (row->name ? strcmp(row->name, field[0]) != 0 : row->id != id)
		return 0;
	if (passwd && count > HOME_FIELD && field[HOME_FIELD][0] == '/') {
		row->home = strdup(field[HOME_FIELD]);
		if (!row->home)
			return -ENOMEM;
	}
	row->id = id;
	row->group = group;
	row->found = true;
	return 0;
}

/* A descriptor for reading path as the box would find it. -ENOENT too where it is
 * anything but a regular file: nothing else is ever opened. */
static int open_database(int root, const char *path)
{
	CLEANUP_FD int found = -1;
	char inside[PATH_MAX_BYTES];
	struct stat st;
	int fd, r;

	if (root < 0)
		return -ENOENT; /* an image without layers */
	r = path_resolve_in_root(root, path, inside, sizeof(inside));
	if (r < 0)
		return r;
	found =
	    fd_open_beneath(root, inside, O_PATH | O_NOFOLLOW, 0, RESOLVE_NO_SYMLINKS);
	if (found < 0)
		return found;
	if (fstat(found, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	fd = fd_open_beneath(root, inside, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
			     0, RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		fd_close(&fd);
		return -ENOENT;
	}
	return fd;
}

/* Look row up; not found is no error, nor is a file that is not there. */
static int look_up(int root, bool passwd, struct row *row, struct husk_error *err)
{
	const char *path = passwd ? "etc/passwd" : "etc/group";
	CLEANUP_FREE struct reader *reader = NULL;
	CLEANUP_FREE char *line = NULL;
	CLEANUP_FD int fd = open_database(root, path);
	int r = 0;

	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP || fd == -ENAMETOOLONG)
		return 0;
	if (fd < 0)
		return error_sys(err, -fd, "user", "cannot open the image's /%s", path);
	reader = calloc(1, sizeof(*reader));
	line = malloc(LINE_MAX_BYTES);
	if (!reader || !line)
		return error_oom(err, "user");
	reader->fd = fd;
	while (!row->found && (r = next_line(reader, line)) > 0)
		if (match(line, passwd, row) < 0)
			return error_oom(err, "user");
	if (r == -EFBIG)
		return error_set(err, HUSK_E_TOO_BIG, "user",
				 "the image's /%s has more than %d MiB", path,
				 FILE_MAX_BYTES >> 20);
	if (r < 0)
		return error_sys(err, -r, "user", "cannot read the image's /%s", path);
	return 0;
}

static int no_such(const char *what, const char *name, const char *file,
		   struct husk_error *err)
{
	char shown[128];

	(void)error_set(err, HUSK_E_IMAGE, "user", "the image's /%s has no %s \"%s\"",
			file, what, printable(shown, sizeof(shown), name));
	error_hint(err, "name ids instead: --user UID[:GID]");
	return HUSK_E_IMAGE;
}

static int bad_user(const char *user, const char *why, struct husk_error *err)
{
	char shown[128];

	(void)error_set(err, HUSK_E_IMAGE, "user", "\"%s\" %s",
			printable(shown, sizeof(shown), user), why);
	error_hint(err, "write UID, UID:GID, NAME or NAME:GROUP");
	return HUSK_E_IMAGE;
}

/* row->name is the text before the colon. */
static int find_user(int root, struct row *row, struct husk_error *err)
{
	const char *name = row->name;
	int r, id = parse_id(name, strlen(name), &row->id);

	if (id == -ERANGE)
		return bad_user(name, "is larger than any user id", err);
	if (id == 0)
		row->name = NULL;
	r = look_up(root, true, row, err);
	if (r < 0 || row->found || id == 0)
		return r;
	return no_such("user", name, "etc/passwd", err);
}

static int find_group(int root, const char *name, uint32_t *ret, struct husk_error *err)
{
	struct row row = {.name = name};
	int r = parse_id(name, strlen(name), ret);

	if (r == 0)
		return 0;
	if (r == -ERANGE)
		return bad_user(name, "is larger than any group id", err);
	r = look_up(root, false, &row, err);
	if (r < 0)
		return r;
	if (!row.found)
		return no_such("group", name, "etc/group", err);
	*ret = row.id;
	return 0;
}

int oci_image_user(int root, const char *user, uint32_t *ret_uid, uint32_t *ret_gid,
		   char **ret_home, struct husk_error *err)
{
	char name[USER_MAX_BYTES];
	CLEANUP_FREE char *home = NULL;
	const char *group = NULL;
	struct row row = {.name = name};
	uint32_t gid;
	int r;

	if (strlen(user) >= sizeof(name))
		return bad_user(user, "is too long for a user", err);
	(void)snprintf(name, sizeof(name), "%s", user[0] ? user : "0");
	group = strchr(name, ':');
	if (group) {
		name[group - name] = '\0';
		group++;
		if (name[0] == '\0' || group[0] == '\0' || strchr(group, ':'))
			return bad_user(user, "is no user", err);
	}
	r = find_user(root, &row, err);
	home = row.home;
	if (r < 0)
		return r;
	gid = row.group;
	if (group) {
		r = find_group(root, group, &gid, err);
		if (r < 0)
			return r;
	}
	if (!home && !(home = strdup("/")))
		return error_oom(err, "user");
	*ret_uid = row.id;
	*ret_gid = gid;
	*ret_home = TAKE_PTR(home);
	return 0;
}
