/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/members.h"

#include "base/fd.h"
#include "base/printable.h"
#include "oci/bounds.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOPS_MAX = 8, NAME_SHOWN = 128 };

void member_close(struct member *member)
{
	if (member->owned)
		fd_close(&member->fd);
	*member = MEMBER_NONE;
}

static int no_such(const struct members *members, const char *name, const char *why,
		   struct husk_error *err)
{
	char shown[NAME_SHOWN];

	return error_set(err, HUSK_E_IMAGE, members->path, "%s %s",
			 printable(shown, sizeof(shown), name), why);
}

/* -- a directory -- */

/* Looked at before it is opened: opening a device can be felt. */
static int open_file(const struct members *members, const char *name, struct member *ret,
		     struct husk_error *err)
{
	CLEANUP_FD int fd = -1;
	CLEANUP_FD int found = fd_open_beneath(members->fd, name, O_PATH | O_NOFOLLOW, 0,
					       RESOLVE_NO_SYMLINKS);
	struct stat st;

	if (found == -ENOENT || found == -ENOTDIR)
		return no_such(members, name, "is not there", err);
	if (found == -ELOOP)
		return no_such(members, name, "leads through a link; no link is followed",
			       err);
	if (found < 0)
		return error_sys(err, -found, members->path, "cannot open %s", name);
	if (fstat(found, &st) < 0)
		return error_sys(err, errno, members->path, "cannot look at %s", name);
	if (!S_ISREG(st.st_mode))
		return no_such(members, name,
			       S_ISLNK(st.st_mode) ? "is a link; no link is followed"
						   : "is no regular file",
			       err);
	fd = fd_open_beneath(members->fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
			     RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return error_sys(err, -fd, members->path, "cannot open %s", name);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return no_such(members, name, "is no regular file", err);
	*ret = (struct member){
	    .fd = fd_take(&fd), .owned = true, .size = (uint64_t)st.st_size};
	return 0;
}

/* -- a tar -- */

/* Where a link in the directory of name leads, without "..": 0, or -ENOENT. */
static int lead(const char *name, const char *link, char *ret, size_t capacity)
{
	const char *slash = strrchr(name, '/');
	size_t used = 0;

	if (link[0] != '/' && slash) {
		used = (size_t)(slash - name);
		if (used >= capacity)
			return -ENOENT;
		memcpy(ret, name, used);
	}
	for (const char *at = link; *at != '\0'; at += strspn(at, "/")) {
		size_t n = strcspn(at, "/");

		if (n == 2 && at[0] == '.' && at[1] == '.') {
			while (used > 0 && ret[used - 1] != '/')
				used--;
			used -= used > 0;
		} else if (n > 0 && !(n == 1 && at[0] == '.')) {
			if (used + n + 2 > capacity)
				return -ENOENT;
			if (used > 0)
				ret[used++] = '/';
			memcpy(ret + used, at, n);
			used += n;
		}
		at += n;
	}
	ret[used] = '\0';
	return 0;
}

static int open_in_tar(const struct members *members, const char *name,
		       struct member *ret, struct husk_error *err)
{
	const struct survey_member *found = tar_survey_find(members->survey, name);
	char at[OCI_MAX_PATH + 1];

	for (int hops = 0; found && found->link; hops++) {
		/* A hard link is written from the top, a symbolic one from its place. */
		if (hops == HOPS_MAX || lead(found->type == '1' ? "" : found->name,
					     found->link, at, sizeof(at)) < 0)
			return no_such(members, name, "is a link that leads nowhere",
				       err);
		found = tar_survey_find(members->survey, at);
	}
	if (!found)
		return no_such(members, name, "is not there", err);
	if (found->type != '0')
		return no_such(members, name, "is no regular file", err);
	*ret = (struct member){
	    .fd = members->fd, .offset = found->offset, .size = found->size};
	return 0;
}

bool members_have(const struct members *members, const char *name)
{
	struct stat st;

	if (members->survey)
		return tar_survey_find(members->survey, name) != NULL;
	return fstatat(members->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int members_open(const struct members *members, const char *name, struct member *ret,
		 struct husk_error *err)
{
	return members->survey ? open_in_tar(members, name, ret, err)
			       : open_file(members, name, ret, err);
}

int member_read_at(const struct member *member, uint64_t offset, void *data, size_t size,
		   const char *where, struct husk_error *err)
{
	size_t done = 0;

	if (offset > member->size || size > member->size - offset)
		return error_set(err, HUSK_E_IMAGE, where, "is shorter than it says");
	while (done < size) {
		ssize_t n = pread(member->fd, (char *)data + done, size - done,
				  (off_t)(member->offset + offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, errno, where, "cannot read");
		if (n == 0)
			return error_set(err, HUSK_E_IMAGE, where, "is cut short");
		done += (size_t)n;
	}
	return 0;
}

/* Readers differ about which of two members of one name counts; a blob's digest decides,
 * but nothing does for a document. */
bool members_have_twice(const struct members *members, const char *name)
{
	size_t times = 0;

	for (size_t i = 0; members->survey && i < members->survey->count; i++)
		times += strcmp(members->survey->members[i].name, name) == 0;
	return times > 1;
}

int members_read(const struct members *members, const char *name, struct buffer *ret,
		 struct husk_error *err)
{
	CLEANUP_MEMBER struct member member = MEMBER_NONE;
	char *to;
	int r = members_open(members, name, &member, err);

	if (r < 0)
		return r;
	if (members_have_twice(members, name))
		return no_such(members, name, "is there twice", err);
	if (member.size > ret->max - ret->size) {
		char shown[NAME_SHOWN];

		return error_set(err, HUSK_E_TOO_BIG, members->path,
				 "%s has %llu bytes, at most %zu are taken",
				 printable(shown, sizeof(shown), name),
				 (unsigned long long)member.size, ret->max);
	}
	to = buffer_reserve(ret, (size_t)member.size);
	if (!to)
		return error_oom(err, members->path);
	r = member_read_at(&member, 0, to, (size_t)member.size, members->path, err);
	if (r < 0)
		return r;
	ret->size += (size_t)member.size;
	to[member.size] = '\0';
	return 0;
}
