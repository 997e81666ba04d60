/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/export.h"

#include "base/fd.h"
#include "base/temp_file.h"
#include "oci/bounds.h"
#include "oci/import.h"
#include "oci/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_TRIES = 16, FILE_MODE = 0644 };

/* Where the file is to be, and what it is until then: a file without a name where the
 * file system has such, so that a process that is killed leaves nothing. */
struct target_file {
	int dir;
	int fd;
	const char *name;
	char temp[TEMP_FILE_NAME]; /* "": it has no name */
};

void export_name(const struct export *export, bool familiar, char ret[EXPORT_NAME])
{
	struct reference reference;
	char text[REFERENCE_TEXT];
	const char *start = text;

	ret[0] = '\0';
	if (reference_parse(export->image->name, &reference, NULL) < 0 ||
	    reference.tag[0] == '\0')
		return;
	reference.digest = (struct digest){0};
	reference_text(&reference, text);
	if (familiar && strncmp(start, "docker.io/", 10) == 0) {
		start += 10;
		if (strncmp(start, "library/", 8) == 0)
			start += 8;
	}
	(void)snprintf(ret, EXPORT_NAME, "%s", start);
}

/* -- the file -- */

/* Only a plain file is replaced. */
static int check_target(int dir, const char *name, const char *path,
			struct husk_error *err)
{
	const char *why = "is neither a file nor free to become one";
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0
				       : error_sys(err, errno, path, "cannot look at it");
	if (S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		why = "is a directory";
	else if (S_ISLNK(st.st_mode))
		why = "is a link; husk replaces the file itself only";
	(void)error_set(err, HUSK_E_INVALID, path, "%s", why);
	error_hint(err, "name a file that is to be written");
	return HUSK_E_INVALID;
}

static int open_temp(struct target_file *file, const char *path, struct husk_error *err)
{
	int r;

	file->fd = openat(file->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, FILE_MODE);
	if (file->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return error_sys(err, errno, path, "cannot write beside it");
	r = temp_file_name(TEMP_FILE_EXPORT, file->temp);
	if (r == 0) {
		file->fd =
		    openat(file->dir, file->temp,
			   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
		r = file->fd < 0 ? -errno : 0;
		temp_file_hold(file->fd);
	}
	if (r < 0)
		file->temp[0] = '\0';
	return r < 0 ? error_sys(err, -r, path, "cannot write beside it") : 0;
}

static int open_target(const char *path, struct target_file *file, struct husk_error *err)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX] = ".";
	int r;

	file->name = slash ? slash + 1 : path;
	if (file->name[0] == '\0' || strcmp(file->name, ".") == 0 ||
	    strcmp(file->name, "..") == 0)
		return error_set(err, HUSK_E_INVALID, path, "is a directory");
	if (slash && (size_t)(slash - path) >= sizeof(parent) - 1)
		return error_set(err, HUSK_E_INVALID, "export", "the path is too long");
	if (slash)
		(void)snprintf(parent, sizeof(parent), "%.*s/", (int)(slash - path),
			       path);
	file->dir = openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->dir < 0)
		return error_sys(err, errno, path, "cannot open its directory");
	r = check_target(file->dir, file->name, path, err);
	if (r < 0)
		return r;
	temp_file_sweep_all(file->dir, TEMP_FILE_EXPORT);
	return open_temp(file, path, err);
}

/* linkat cannot replace, so a file without a name gets one of ours first. */
static int name_file(struct target_file *file)
{
	char self[64];
	int r;

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
	temp_file_hold(file->fd);
	for (int i = 0; file->temp[0] == '\0'; i++) {
		char temp[TEMP_FILE_NAME];

		r = temp_file_name(TEMP_FILE_EXPORT, temp);
		if (r < 0)
			return r;
		if (linkat(AT_FDCWD, self, file->dir, temp, AT_SYMLINK_FOLLOW) == 0)
			memcpy(file->temp, temp, sizeof(temp));
		else if (errno != EEXIST || i == NAME_TRIES)
			return -errno;
	}
	if (renameat(file->dir, file->temp, file->dir, file->name) < 0)
		return -errno;
	file->temp[0] = '\0';
	return 0;
}

static int finish(struct target_file *file, const char *path, struct husk_error *err)
{
	int r = check_target(file->dir, file->name, path, err);

	if (r < 0)
		return r;
	if (fsync(file->fd) < 0)
		return error_sys(err, errno, path, "cannot write");
	r = name_file(file);
	return r < 0 ? error_sys(err, -r, path, "cannot give the file its name") : 0;
}

static void close_target(struct target_file *file)
{
	if (file->temp[0] != '\0')
		(void)unlinkat(file->dir, file->temp, 0);
	fd_close(&file->fd);
	fd_close(&file->dir);
}

/* -- the image -- */

static int read_manifest(struct export *export, struct husk_error *err)
{
	CLEANUP_BUFFER struct buffer text = BUFFER_INIT(OCI_MAX_DOCUMENT);
	int r = store_read_blob(export->store, &export->image->manifest, &text, err);

	return r < 0 ? r
		     : manifest_parse(text.data, text.size, export->image->name,
				      &export->manifest, err);
}

int export_path(struct store *store, const struct store_image *image, const char *path,
		int32_t format, int cancel_fd, struct husk_error *err)
{
	struct target_file file = {.dir = -1, .fd = -1};
	struct export export = {
	    .store = store, .image = image, .path = path, .cancel_fd = cancel_fd};
	int r = read_manifest(&export, err);

	if (r < 0)
		return r;
	r = open_target(path, &file, err);
	if (r == 0) {
		export.out = (struct tar_out){.fd = file.fd, .where = path};
		r = format == HUSK_IMAGE_DOCKER ? export_docker(&export, err)
						: export_oci(&export, err);
	}
	if (r == 0)
		r = tar_out_finish(&export.out, err);
	if (r == 0)
		r = finish(&file, path, err);
	close_target(&file);
	manifest_deinit(&export.manifest);
	return r;
}
