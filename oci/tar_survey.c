/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tar_survey.h"

#include "oci/bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MEMBERS_MAX = 65536, /* more are no archive of images but a root file system */
	ASK_EVERY = 1024,    /* entries */
	WINDOW_SIZE = 64 << 10,
};

struct tar_file {
	int fd;
	uint64_t size;
	const char *where;
	uint64_t at; /* of the window */
	size_t used;
	char window[WINDOW_SIZE];
};

/* What a look at the names says about a shell. */
struct shell {
	bool in_bin, in_usr_bin, bin_is_link;
};

static void look_for_shell(const struct tar_entry *entry, struct shell *shell)
{
	bool file = entry->type == '0' || entry->type == '1' || entry->type == '2';

	if (file && strcmp(entry->name, "bin/sh") == 0)
		shell->in_bin = true;
	if (file && strcmp(entry->name, "usr/bin/sh") == 0)
		shell->in_usr_bin = true;
	if (entry->type == '2' && strcmp(entry->name, "bin") == 0)
		shell->bin_is_link = strcmp(entry->link, "usr/bin") == 0 ||
				     strcmp(entry->link, "/usr/bin") == 0;
}

static int keep(struct tar_survey *survey, const struct tar_entry *entry)
{
	bool link = entry->type == '1' || entry->type == '2';
	struct survey_member *member;

	if ((survey->count & (survey->count - 1)) == 0) { /* full at powers of two */
		size_t more = survey->count ? survey->count * 2 : 1;
		struct survey_member *grown =
		    reallocarray(survey->members, more, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		survey->members = grown;
	}
	member = &survey->members[survey->count];
	*member = (struct survey_member){
	    .type = entry->type, .offset = entry->offset, .size = entry->size};
	member->name = strdup(entry->name);
	if (!member->name)
		return -ENOMEM;
	survey->count++;
	if (link && !(member->link = strdup(entry->link)))
		return -ENOMEM;
	return 0;
}

static int keep_joints(const struct tar_scan *scan, const char *where,
		       struct tar_survey *survey, struct husk_error *err)
{
	const struct tar_joint *joints;
	size_t count = tar_scan_joints(scan, &joints);

	if (count == 0)
		return 0;
	survey->joints = calloc(count, sizeof(*joints));
	if (!survey->joints)
		return error_oom(err, where);
	memcpy(survey->joints, joints, count * sizeof(*joints));
	survey->joint_count = count;
	return 0;
}

static int take_all(struct tar_scan *scan, const char *where, int (*stopped)(void *user),
		    void *user, struct tar_survey *survey, struct husk_error *err)
{
	struct shell shell = {0};
	struct tar_entry entry;
	int r;

	while ((r = tar_scan_next(scan, &entry, err)) > 0) {
		if (survey->entries++ % ASK_EVERY == 0 && stopped && stopped(user) != 0)
			return error_set(err, HUSK_E_CANCELLED, where, "was cancelled");
		if (survey->entries > OCI_MAX_ENTRIES)
			return error_set(err, HUSK_E_TOO_BIG, where,
					 "the tar has more than %d members",
					 OCI_MAX_ENTRIES);
		look_for_shell(&entry, &shell);
		if (survey->count < MEMBERS_MAX && keep(survey, &entry) < 0)
			return error_oom(err, where);
	}
	survey->has_shell = shell.in_bin || (shell.in_usr_bin && shell.bin_is_link);
	return r < 0 ? r : keep_joints(scan, where, survey, err);
}

int tar_survey_take(const struct tar_input *input, int (*stopped)(void *user), void *user,
		    struct tar_survey *ret, struct husk_error *err)
{
	CLEANUP_SURVEY struct tar_survey survey = {0};
	struct tar_scan *scan = NULL;
	int r = tar_scan_new(input, &scan, err);

	if (r == 0)
		r = take_all(scan, input->where, stopped, user, &survey, err);
	scan = tar_scan_free(scan);
	if (r < 0)
		return r;
	*ret = survey;
	survey = (struct tar_survey){0};
	return 0;
}

void tar_survey_deinit(struct tar_survey *survey)
{
	for (size_t i = 0; i < survey->count; i++) {
		free(survey->members[i].name);
		free(survey->members[i].link);
	}
	free(survey->members);
	free(survey->joints);
	*survey = (struct tar_survey){0};
}

const struct survey_member *tar_survey_find(const struct tar_survey *survey,
					    const char *name)
{
	for (size_t i = survey->count; i > 0; i--)
		if (strcmp(survey->members[i - 1].name, name) == 0)
			return &survey->members[i - 1];
	return NULL;
}

/* -- a plain file -- */

static ssize_t read_window(struct tar_file *file, uint64_t offset, struct husk_error *err)
{
	ssize_t n;

	do {
		n = pread(file->fd, file->window, sizeof(file->window), (off_t)offset);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_sys(err, errno, file->where, "cannot read");
	file->at = offset;
	file->used = (size_t)n;
	return n;
}

static ssize_t read_file(void *user, uint64_t offset, void *data, size_t size,
			 struct husk_error *err)
{
	struct tar_file *file = user;
	size_t done = 0;

	/* The padding of the last member may be missing: some writers leave it out. */
	if (offset >= file->size + TAR_BLOCK)
		return error_set(err, HUSK_E_IMAGE, file->where, "the tar is cut short");
	while (done < size) {
		uint64_t at = offset + done;
		size_t n;

		if (at < file->at || at >= file->at + file->used) {
			ssize_t got = read_window(file, at, err);

			if (got < 0)
				return got;
			if (got == 0)
				break;
		}
		n = (size_t)(file->at + file->used - at);
		if (n > size - done)
			n = size - done;
		memcpy((char *)data + done, file->window + (at - file->at), n);
		done += n;
	}
	return (ssize_t)done;
}

int tar_file_new(int fd, uint64_t size, const char *where, struct tar_file **ret,
		 struct tar_input *ret_input, struct husk_error *err)
{
	struct tar_file *file = malloc(sizeof(*file));

	if (!file)
		return error_oom(err, where);
	file->fd = fd;
	file->size = size;
	file->where = where;
	file->at = 0;
	file->used = 0;
	*ret = file;
	*ret_input = (struct tar_input){.read = read_file, .user = file, .where = where};
	return 0;
}

struct tar_file *tar_file_free(struct tar_file *file)
{
	free(file);
	return NULL;
}
