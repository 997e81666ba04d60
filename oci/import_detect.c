/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/import_detect.h"

#include "base/fd.h"
#include "base/memory.h"
#include "oci/bounds.h"
#include "oci/import_docker.h"
#include "oci/import_source.h"
#include "oci/import_stream.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 };

/* What files begin with that some take for an image. */
static const struct {
	const char *magic;
	size_t size;
	const char *what;
	const char *hint;
} others[] = {
    {"\x7f"
     "ELF",
     4, "is a program", "images are tar files and OCI layouts"},
    {"#!", 2, "is a script", "images are tar files and OCI layouts"},
    {"\xfd"
     "7zXZ",
     5, "is compressed with xz; husk reads gzip, zstd and plain tar files",
     "decompress it first: xz -dk FILE"},
    {"BZh", 3, "is compressed with bzip2; husk reads gzip, zstd and plain tar files",
     "decompress it first: bzip2 -dk FILE"},
    {"PK\x03\x04", 4, "is a zip archive; husk reads gzip, zstd and plain tar files",
     "make a tar of what is in it"},
    {"hsqs", 4, "is a squashfs; husk reads gzip, zstd and plain tar files",
     "make a tar of what is in it: unsquashfs, then tar"},
    {"QFI\xfb", 4, "is a disk image", "make a tar of the file system in it"},
};

void import_found_deinit(struct import_found *found)
{
	fd_close(&found->fd);
	fd_close(&found->plain);
	tar_survey_deinit(&found->survey);
	*found = IMPORT_FOUND_NONE;
}

struct members import_members(const struct import_found *found)
{
	bool directory = found->format == IMPORT_OCI_DIRECTORY;

	return (struct members){.fd = found->plain >= 0 ? found->plain : found->fd,
				.path = found->path,
				.survey = directory ? NULL : &found->survey};
}

static int hinted(struct husk_error *err, const char *path, const char *why,
		  const char *hint)
{
	(void)error_set(err, HUSK_E_IMAGE, path, "%s", why);
	error_hint(err, "%s", hint);
	return HUSK_E_IMAGE;
}

/* The caller's own path, so links on it are followed; what it leads to is looked at
 * before it is opened. */
static int open_path(const char *path, struct import_found *found, struct husk_error *err)
{
	CLEANUP_FD int place = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
	int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	mode_t kind;

	if (place < 0 && errno == ENOENT)
		return error_set(err, HUSK_E_IMAGE, path, "no such file or directory");
	if (place < 0)
		return error_sys(err, errno, path, "cannot open");
	if (fstat(place, &found->st) < 0)
		return error_sys(err, errno, path, "cannot look at it");
	kind = found->st.st_mode & S_IFMT;
	if (kind != S_IFDIR && kind != S_IFREG)
		return hinted(err, path, "is neither a file nor a directory",
			      "images are tar files and OCI layouts");
	found->fd = openat(AT_FDCWD, path, flags);
	if (found->fd < 0)
		return error_sys(err, errno, path, "cannot open");
	if (fstat(found->fd, &found->st) < 0 || (found->st.st_mode & S_IFMT) != kind)
		return error_set(err, HUSK_E_IMAGE, path, "changed while it was opened");
	return 0;
}

static int detect_directory(enum import_format format, struct import_found *found,
			    struct husk_error *err)
{
	struct members members;

	if (format != IMPORT_ANY && format != IMPORT_OCI_DIRECTORY)
		return hinted(err, found->path, "is a directory, not an archive",
			      "a layout's directory is named oci:PATH[:TAG]");
	found->format = IMPORT_OCI_DIRECTORY;
	members = import_members(found);
	if (members_have(&members, "oci-layout") || members_have(&members, "index.json"))
		return 0;
	return hinted(err, found->path,
		      "is a directory without oci-layout, so no OCI layout",
		      "a root file system is imported as a tar: tar -C DIR -cf FILE .");
}

/* gzip and zstd are known by their first bytes; -1: neither they nor plain. */
static int check_magic(const struct import_found *found, enum compression *ret,
		       struct husk_error *err)
{
	unsigned char start[TAR_BLOCK] = {0};
	ssize_t n = pread(found->fd, start, sizeof(start), 0);

	if (n < 0)
		return error_sys(err, errno, found->path, "cannot read");
	if (n == 0)
		return error_set(err, HUSK_E_IMAGE, found->path, "is empty");
	*ret = COMPRESSION_NONE;
	if (start[0] == 0x1f && start[1] == 0x8b)
		*ret = COMPRESSION_GZIP;
	else if (memcmp(start, "\x28\xb5\x2f\xfd", 4) == 0 ||
		 ((start[0] & 0xf0) == 0x50 && memcmp(start + 1, "\x2a\x4d\x18", 3) == 0))
		*ret = COMPRESSION_ZSTD;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (memcmp(start, others[i].magic, others[i].size) == 0)
			return hinted(err, found->path, others[i].what, others[i].hint);
	return 0;
}

static int stopped(void *user)
{
	return import_stopped(*(const int *)user);
}

static int survey_file(int fd, const char *path, int cancel_fd, struct tar_survey *ret,
		       struct husk_error *err)
{
	struct tar_file *file = NULL;
	struct tar_input input;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return error_sys(err, errno, path, "cannot look at it");
	r = tar_file_new(fd, (uint64_t)st.st_size, path, &file, &input, err);
	if (r == 0)
		r = tar_survey_take(&input, stopped, &cancel_fd, ret, err);
	file = tar_file_free(file);
	return r;
}

static int survey(struct import_found *found, int cancel_fd, struct husk_error *err)
{
	int r;

	if (found->compression == COMPRESSION_NONE)
		r = survey_file(found->fd, found->path, cancel_fd, &found->survey, err);
	else
		r = import_stream_survey(found->fd, found->compression, found->path,
					 cancel_fd, &found->survey, &found->digest,
					 &found->diff_id, err);
	if (r == HUSK_E_IMAGE && err && err->hint[0] == '\0')
		error_hint(err,
			   "husk imports tar files (plain, gzip, zstd) of a root file "
			   "system, OCI layouts and archives of docker save");
	if (r == 0 && found->survey.entries == 0)
		r = error_set(err, HUSK_E_IMAGE, found->path, "the tar holds nothing");
	return r;
}

static bool has_file(const struct import_found *found, const char *name)
{
	const struct survey_member *member = tar_survey_find(&found->survey, name);

	return member && member->type != '5';
}

/* In an archive one jumps about. */
static int make_plain(struct import_found *found, const char *scratch, int cancel_fd,
		      struct husk_error *err)
{
	if (found->compression == COMPRESSION_NONE || found->plain >= 0)
		return 0;
	return import_stream_plain(found->fd, found->compression, found->path, scratch,
				   cancel_fd, &found->plain, err);
}

/* Before manifest.json there was `repositories`, and a directory for each layer. */
static bool is_ancient(const struct import_found *found)
{
	if (!has_file(found, "repositories"))
		return false;
	for (size_t i = 0; i < found->survey.count; i++) {
		const char *name = found->survey.members[i].name;
		const char *slash = strchr(name, '/');

		if (slash && slash - name == 64 && strcmp(slash, "/layer.tar") == 0)
			return true;
	}
	return false;
}

static int wrong_archive(const struct import_found *found, enum import_format format,
			 struct husk_error *err)
{
	if (format == IMPORT_OCI_DIRECTORY)
		return hinted(err, found->path, "is a file, not a layout's directory",
			      "an archive is named oci-archive:PATH[:TAG] or "
			      "docker-archive:PATH[:TAG]");
	return hinted(err, found->path,
		      format == IMPORT_OCI_ARCHIVE
			  ? "has no oci-layout and index.json, so it is no OCI archive"
			  : "has no manifest.json of images, so it is no archive of "
			    "docker save",
		      "husk image import PATH finds out what it is");
}

/* Several tars one after another: a layer is one. */
static int join(struct import_found *found, const char *scratch, int cancel_fd,
		struct husk_error *err)
{
	CLEANUP_FD int joined = -1;
	int r = make_plain(found, scratch, cancel_fd, err);

	if (r == 0)
		r = import_stream_join(found->plain >= 0 ? found->plain : found->fd,
				       &found->survey, found->path, scratch, cancel_fd,
				       &joined, err);
	if (r < 0)
		return r;
	fd_close(&found->plain);
	fd_close(&found->fd);
	found->fd = fd_take(&joined);
	found->compression = COMPRESSION_NONE;
	found->digest = found->diff_id = (struct digest){0};
	if (fstat(found->fd, &found->st) < 0)
		return error_sys(err, errno, found->path, "cannot look at its copy");
	return 0;
}

static int classify(struct import_found *found, enum import_format format,
		    const char *scratch, int cancel_fd, struct husk_error *err)
{
	bool oci = has_file(found, "oci-layout") && has_file(found, "index.json");
	bool docker = has_file(found, "manifest.json");
	struct members members;
	int r;

	if (format == IMPORT_ROOTFS)
		oci = docker = false;
	if (oci && format != IMPORT_DOCKER_ARCHIVE) {
		found->format = IMPORT_OCI_ARCHIVE;
		return make_plain(found, scratch, cancel_fd, err);
	}
	if (docker && format != IMPORT_OCI_ARCHIVE) {
		found->format = IMPORT_DOCKER_ARCHIVE;
		r = make_plain(found, scratch, cancel_fd, err);
		if (r < 0)
			return r;
		members = import_members(found);
		if (format == IMPORT_ANY)
			r = import_docker_looks_like(&members, &docker, err);
		if (r < 0 || docker)
			return r;
		fd_close(&found->plain);
	}
	if (format != IMPORT_ANY && format != IMPORT_ROOTFS)
		return wrong_archive(found, format, err);
	if (format == IMPORT_ANY && is_ancient(found))
		return hinted(
		    err, found->path,
		    "is an archive of a docker before 1.10, without manifest.json",
		    "load it into a newer docker and save it again");
	found->format = IMPORT_ROOTFS;
	return found->survey.joint_count == 0 ? 0 : join(found, scratch, cancel_fd, err);
}

int import_detect(const char *path, enum import_format format, const char *scratch,
		  int cancel_fd, struct import_found *ret, struct husk_error *err)
{
	CLEANUP_FOUND struct import_found found = IMPORT_FOUND_NONE;
	int r;

	found.path = path;
	r = open_path(path, &found, err);
	if (r < 0)
		return r;
	if (S_ISDIR(found.st.st_mode)) {
		r = detect_directory(format, &found, err);
	} else if (format == IMPORT_OCI_DIRECTORY) {
		r = wrong_archive(&found, format, err);
	} else {
		r = check_magic(&found, &found.compression, err);
		if (r == 0)
			r = survey(&found, cancel_fd, err);
		if (r == 0)
			r = classify(&found, format, scratch, cancel_fd, err);
	}
	if (r < 0)
		return r;
	*ret = found;
	found = IMPORT_FOUND_NONE;
	return 0;
}

int import_hash_member(const struct member *member, const char *path, int cancel_fd,
		       struct digest *ret, struct husk_error *err)
{
	CLEANUP_FREE char *chunk = malloc(CHUNK);
	struct digest_run *run = NULL;
	int r;

	if (!chunk)
		return error_oom(err, path);
	/* A sparse file has terabytes at no cost to who made it. */
	if (member->size > OCI_MAX_BLOB)
		return error_set(
		    err, HUSK_E_TOO_BIG, path,
		    "%llu bytes are more than the %llu that a layer may have",
		    (unsigned long long)member->size, (unsigned long long)OCI_MAX_BLOB);
	r = digest_run_new(DIGEST_SHA256, &run, err);
	for (uint64_t at = 0; r == 0 && at < member->size; at += CHUNK) {
		uint64_t rest = member->size - at;
		size_t n = rest < CHUNK ? (size_t)rest : CHUNK;

		if (import_stopped(cancel_fd))
			r = error_set(err, HUSK_E_CANCELLED, path, "was cancelled");
		else
			r = member_read_at(member, at, chunk, n, path, err);
		if (r == 0)
			digest_run_add(run, chunk, n);
	}
	if (r == 0)
		digest_run_finish(run, ret);
	run = digest_run_free(run);
	return r;
}
