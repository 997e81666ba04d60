/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reach.h"

#include "cli/config.h"
#include "cli/input.h"
#include "cli/say.h"

#include <string.h>

int cli_reach_places(struct cli_settings *settings, const char *const **ret_places,
		     struct husk_error *err)
{
	size_t count = 0;
	const char **places =
	    cli_keep_new(&settings->kept, (settings->mount_count + 2) * sizeof(*places));

	if (!places)
		return cli_error_memory(err, "workspace");
	if (settings->box.workspace)
		places[count++] = settings->box.workspace;
	for (size_t i = 0; i < settings->mount_count; i++) {
		if (settings->mounts[i].flags & HUSK_MOUNT_ALLOW_WRITE)
			places[count++] = settings->mounts[i].source;
	}
	*ret_places = places;
	return 0;
}

static int stray(const char *what, const char *path, struct husk_error *err)
{
	return cli_input_strayed(what, path, "place", err);
}

/* The path of an image in files, which a tag may follow. */
static int check_image(struct cli_settings *settings, const char *image,
		       const char *const *places, struct husk_error *err)
{
	static const char *const kinds[] = {
	    "dir:", "docker-archive:", "oci-archive:", "oci:"};
	const char *path = NULL, *tag;
	char *cut;

	for (size_t i = 0; image && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(image, kinds[i], strlen(kinds[i])) == 0)
			path = image + strlen(kinds[i]);
	}
	if (!path)
		return 0;
	if (cli_input_strays(path, places))
		return stray("--image", path, err);
	tag = strrchr(path, ':');
	if (!tag || strncmp(image, "dir:", 4) == 0)
		return 0;
	cut = cli_keep_text(&settings->kept, path, (size_t)(tag - path));
	if (!cut)
		return cli_error_memory(err, "--image");
	return cli_input_strays(cut, places) ? stray("--image", path, err) : 0;
}

static int check_links(struct cli_settings *settings, const char *const *places,
		       struct husk_error *err)
{
	for (size_t i = 0; i < settings->mount_count; i++) {
		if (cli_input_strays(settings->mounts[i].source, places))
			return stray("--volume", settings->mounts[i].source, err);
	}
	if (settings->box.workspace && cli_input_strays(settings->box.workspace, places))
		return stray("--workspace", settings->box.workspace, err);
	return check_image(settings, cli_settings_image(settings), places, err);
}

int cli_reach_check(struct cli_settings *settings, struct husk_error *err)
{
	const struct cli_environment_file *file = NULL;
	const char *const *places = NULL;

	if (cli_reach_places(settings, &places, err) < 0 || !places)
		return err->code;
	if (places[0] && (check_links(settings, places, err) < 0 ||
			  cli_config_guard(settings, places, err) < 0))
		return err->code;
	if (cli_environment_read(&settings->environment, &settings->kept, places, &file,
				 err) == 0)
		return 0;
	if (file && file->key)
		cli_config_name_place(err, file->where, file->key);
	return err->code;
}
