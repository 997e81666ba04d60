/* SPDX-License-Identifier: Apache-2.0 */
#include "session/setup_key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/sha256.h"
#include "session/setup_inputs.h"

enum { TEXT_MAX = 8192, PATH_TEXT = 4096 };

/* Changes where the layout of the cache or what setup does changes. */
static const char generation[] = "husk setup 1";

static void add_text(struct sha256 *hash, const char *text)
{
	sha256_add(hash, text, strlen(text) + 1);
}

static void add_number(struct sha256 *hash, uint64_t number)
{
	sha256_add(hash, &number, sizeof(number));
}

static void add_stat(struct sha256 *hash, const struct stat *st)
{
	add_number(hash, (uint64_t)st->st_size);
	add_number(hash, (uint64_t)st->st_mtim.tv_sec);
	add_number(hash, (uint64_t)st->st_mtim.tv_nsec);
}

/* The host image is the host's own programs: which system, which Python. */
static void add_host(struct sha256 *hash)
{
	char text[TEXT_MAX];
	struct utsname name;
	struct stat st;

	add_text(hash, "host");
	if (fd_read_text(AT_FDCWD, "/usr/lib/os-release", text, sizeof(text)) > 0)
		add_text(hash, text);
	if (uname(&name) == 0)
		add_text(hash, name.machine);
	if (fstatat(AT_FDCWD, "/usr/bin/python3", &st, 0) == 0)
		add_stat(hash, &st);
}

/* A directory is what it is by its place; that its Python was replaced is noticed. */
static void add_directory(struct sha256 *hash, const struct source *image)
{
	static const char *const programs[] = {"usr/bin/python3",
					       "usr/local/bin/python3"};
	char path[PATH_TEXT];
	struct stat st;

	add_text(hash, "dir");
	add_text(hash, image->path);
	add_number(hash, image->dev);
	add_number(hash, image->ino);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (path_resolve_in_root(image->fd, programs[i], path, sizeof(path)) ==
			0 &&
		    fstatat(image->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
			add_stat(hash, &st);
	}
}

/* An image is its content, wherever it lies and whatever it is called. */
static void add_image(struct sha256 *hash, const struct oci_image *image)
{
	char text[DIGEST_TEXT];

	digest_text(&image->manifest, text);
	add_text(hash, "image");
	add_text(hash, text);
}

static void add_settings(struct sha256 *hash, const struct husk_session *session,
			 const struct setup_command *command, bool network)
{
	const struct box_spec *spec = &session->spec;

	add_text(hash, generation);
	if (session->root.held)
		add_image(hash, &session->root.image);
	else if (spec->root == BOX_ROOT_HOST)
		add_host(hash);
	else
		add_directory(hash, &spec->image);
	add_number(hash, spec->uid);
	add_number(hash, spec->gid);
	add_number(hash, network);
	add_number(hash, spec->writable_root);
	add_text(hash, command->text);
	for (size_t i = 0; session->settings.env[i]; i++)
		add_text(hash, session->settings.env[i]);
	add_text(hash, "");
}

int setup_key_make(const struct husk_session *session,
		   const struct setup_command *command, bool network,
		   char ret_key[SETUP_KEY_SIZE])
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 hash;
	int r;

	sha256_init(&hash);
	add_settings(&hash, session, command, network);
	r = setup_inputs_add(session, command, &hash);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	sha256_finish(&hash, digest);
	sha256_hex(digest, ret_key);
	return 1;
}
