/* SPDX-License-Identifier: Apache-2.0 */
/* husk pull */
#include "cli/config.h"
#include "cli/images.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/verbs.h"

#include <husk.h>

#include <stdio.h>
#include <unistd.h>

static int check(size_t count, struct husk_error *err)
{
	if (count > 0)
		return 0;
	(void)cli_error(err, "usage", "no image is given");
	cli_error_hint(err, "husk pull python:3.12-slim");
	return HUSK_E_INVALID;
}

static int print_digest(const husk_image *image)
{
	char line[256];
	int size = snprintf(line, sizeof(line), "%s\n", husk_image_digest(image));

	return cli_print(line, (size_t)size);
}

static int pull(struct cli_settings *settings, const char *reference, husk_cancel *cancel)
{
	static struct cli_progress progress;
	struct husk_error err = {0};
	husk_image *image = NULL;
	int r;

	cli_progress_init(&progress,
			  cli_progress_style_of(settings->quiet, CLI_PROGRESS_LINES),
			  STDERR_FILENO);
	settings->images.on_progress = cli_progress_event;
	settings->images.user = &progress;
	settings->images.cancel = cancel;
	r = husk_image_pull(reference, &settings->images, &image, &err);
	cli_progress_clear(&progress);
	cli_signals_release();
	if (r < 0)
		return cli_say_stopped(&err);
	r = print_digest(image);
	(void)husk_image_free(image);
	return r;
}

int cli_pull(struct cli_settings *settings, size_t count, char **words)
{
	husk_cancel *cancel = NULL;
	struct husk_error err = {0};
	int r;

	if (check(count, &err) < 0)
		return cli_say_usage(&err, "pull");
	if (cli_config_registry(settings, words[0], &err) < 0 ||
	    cli_images_finish(settings, &err) < 0 || husk_cancel_new(&cancel, &err) < 0)
		return cli_say_error(&err);
	cli_signals_watch(cancel);
	r = pull(settings, words[0], cancel);
	cli_signals_release();
	(void)husk_cancel_free(cancel);
	return r;
}
