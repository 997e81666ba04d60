/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/settings.h"

#include "cli/config.h"
#include "cli/credentials.h"
#include "cli/images.h"
#include "cli/reach.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void cli_settings_init(struct cli_settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	settings->box.size = sizeof(settings->box);
	settings->images.size = sizeof(settings->images);
}

void cli_settings_deinit(struct cli_settings *settings)
{
	cli_config_free(settings->config);
	settings->config = NULL;
	cli_keep_release(&settings->kept);
}

void cli_settings_next_layer(struct cli_settings *settings)
{
	settings->mounts_below = settings->mount_count;
	settings->environment.layer++;
}

const char *cli_settings_variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] != '\0' ? value : NULL;
}

const char *cli_settings_image(const struct cli_settings *settings)
{
	return settings->box.image ? settings->box.image
				   : cli_settings_variable("HUSK_IMAGE");
}

bool cli_settings_has_command(const struct cli_settings *settings)
{
	const char *image = cli_settings_image(settings);

	return image && strcmp(image, "host") != 0 && strncmp(image, "dir:", 4) != 0;
}

/* $TMPDIR is a wish: one that does not hold is passed over, as other programs do. */
static const char *temp_dir(void)
{
	const char *dir = cli_settings_variable("TMPDIR");
	struct stat st;

	if (!dir || dir[0] != '/' || stat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
		return NULL;
	return dir;
}

int cli_settings_finish(struct cli_settings *settings, struct husk_error *err)
{
	struct husk_options *box = &settings->box;

	box->image = cli_settings_image(settings);
	box->temp_dir = temp_dir();
	box->home = cli_settings_variable("HOME");
	box->mounts = settings->mounts;
	box->mount_count = settings->mount_count;
	box->images = &settings->images;
	if (cli_reach_check(settings, err) < 0)
		return err->code;
	cli_credentials_warn(settings);
	if (settings->terminal &&
	    cli_environment_add_standard(&settings->environment, &settings->kept, "TERM",
					 err) < 0)
		return err->code;
	if (cli_config_registry(settings, box->image, err) < 0 ||
	    cli_images_finish(settings, err) < 0)
		return err->code;
	return cli_environment_merge(&settings->environment, &settings->kept, &box->env,
				     err);
}
