/* SPDX-License-Identifier: Apache-2.0 */
#include "session/image_root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A directory of the host. */
static int set_directory(const char *path, const char *where, struct box_spec *spec,
			 struct husk_error *err)
{
	int r = source_pin(path, where, &spec->image, err);

	if (r == HUSK_E_MOUNT_REFUSED) {
		if (err)
			err->code = HUSK_E_IMAGE;
		return HUSK_E_IMAGE;
	}
	if (r == 0 && !spec->image.directory)
		r = error_set(err, HUSK_E_IMAGE, where, "it is not a directory");
	return r;
}

static size_t count_words(char *const *words)
{
	size_t count = 0;

	while (words && words[count])
		count++;
	return count;
}

static int set_command(struct image_root *root, struct husk_error *err)
{
	const struct image_config *config = &root->image.config;
	size_t first = count_words(config->entrypoint), then = count_words(config->cmd);

	if (first + then == 0)
		return 0;
	root->command = calloc(first + then + 1, sizeof(*root->command));
	if (!root->command)
		return error_oom(err, "image");
	for (size_t i = 0; i < first; i++)
		root->command[i] = config->entrypoint[i];
	for (size_t i = 0; i < then; i++)
		root->command[first + i] = config->cmd[i];
	return 0;
}

/* A relative one is so to the root: the format does not say that it may be, and some are.
 */
static int set_workdir(struct image_root *root, struct husk_error *err)
{
	const char *workdir = root->image.config.workdir;

	if (workdir[0] == '\0')
		return 0;
	if (asprintf(&root->workdir, "%s%s", workdir[0] == '/' ? "" : "/", workdir) >= 0)
		return 0;
	root->workdir = NULL;
	return error_oom(err, "image");
}

/* An image without layers has no directory: its boxes hold what husk puts there. */
static int hold(const struct husk_options *options, const char *where,
		struct image_root *root, struct box_spec *spec, struct husk_error *err)
{
	struct husk_image_options known;
	int cancel = -1;
	int r = settings_images(options->images, &known, &cancel, err);

	if (r == 0)
		r = oci_image_get(options->image, &known, options->pull, cancel,
				  &root->image, err);
	if (r < 0) {
		root->image = IMAGE_ROOT_INIT.image;
		return r;
	}
	root->held = true;
	r = set_command(root, err);
	if (r == 0)
		r = set_workdir(root, err);
	if (r == 0 && root->image.root >= 0)
		r = source_pin_fd(root->image.root, where, &spec->image, err);
	return r;
}

static int set_image(const struct husk_options *options, bool fetch,
		     struct image_root *root, struct box_spec *spec,
		     struct husk_error *err)
{
	const char *image = options->image;
	char where[160];

	if (!image || strcmp(image, "host") == 0) {
		spec->root = BOX_ROOT_HOST;
		return 0;
	}
	(void)snprintf(where, sizeof(where), "image %.140s", image);
	spec->root = BOX_ROOT_DIR;
	if (strncmp(image, "dir:", 4) == 0)
		return set_directory(image + 4, where, spec, err);
	return fetch ? hold(options, where, root, spec, err)
		     : oci_reference_check(image, err);
}

/* Names are for those roots that have account files. */
static int by_number(const char *user, const struct box_spec *spec, uint32_t *uid,
		     uint32_t *gid, struct husk_error *err)
{
	if (!user || !settings_user_is_name(user))
		return settings_user(user, uid, gid, err);
	error_set(err, HUSK_E_INVALID, "user", "\"%.60s\" is a name, and %s", user,
		  spec->root == BOX_ROOT_HOST ? "the host image shows no accounts"
					      : "the image holds no accounts");
	error_hint(err, "give the numbers: UID or UID:GID");
	return HUSK_E_INVALID;
}

/* "/" stands for no home, and nothing could be written there: the usual one is better. */
static int find_user(int root, const char *user, uint32_t *uid, uint32_t *gid,
		     char **ret_home, struct husk_error *err)
{
	CLEANUP_FREE char *home = NULL;
	int r = oci_image_user(root, user, uid, gid, &home, err);

	if (r == 0 && home && strcmp(home, "/") != 0)
		*ret_home = TAKE_PTR(home);
	return r;
}

static int set_user(const struct husk_options *options, struct image_root *root,
		    struct box_spec *spec, struct husk_error *err)
{
	bool named = options->user && settings_user_is_name(options->user);
	const char *user = options->user;
	uint32_t uid = 0, gid = 0;
	int r = 0;

	if (user && !named)
		r = settings_user(user, &uid, &gid, err); /* its form at least */
	if (!user && root->held && root->image.config.user[0] != '\0')
		user = root->image.config.user;
	if (r == 0 && user && spec->image.fd >= 0 && (root->held || named))
		r = find_user(spec->image.fd, user, &uid, &gid, &root->home, err);
	else if (r == 0 && spec->root == BOX_ROOT_DIR && spec->image.fd < 0 &&
		 !root->held)
		return 0; /* not fetched: nobody knows the names */
	else if (r == 0)
		r = by_number(user, spec, &uid, &gid, err);
	spec->uid = uid;
	spec->gid = gid;
	return r;
}

int image_root_set(const struct husk_options *options, bool fetch, struct image_root *ret,
		   struct box_spec *spec, struct husk_error *err)
{
	int r = set_image(options, fetch, ret, spec, err);

	return r < 0 ? r : set_user(options, ret, spec, err);
}

int image_root_variables(const struct image_root *root,
			 const struct husk_options *options, struct settings *settings,
			 struct husk_error *err)
{
	static const char *const none[] = {NULL};
	const char *const *env =
	    root->held ? (const char *const *)root->image.config.env : none;

	return settings_add_image(settings, env, root->home, options->env, err);
}

void image_root_deinit(struct image_root *root)
{
	if (root->held)
		oci_image_deinit(&root->image);
	free(root->command);
	free(root->home);
	free(root->workdir);
	*root = IMAGE_ROOT_INIT;
}
