/* SPDX-License-Identifier: Apache-2.0 */
/* husk image import and export: images as files. */
#include "cli/image_print.h"
#include "cli/images.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/verbs.h"

#include <husk.h>

#include <string.h>
#include <unistd.h>

static int put_imported(FILE *out, const void *what, bool json)
{
	if (json)
		return cli_images_json(out, what);
	for (size_t i = 0; i < husk_images_count(what); i++) {
		const husk_image *image = husk_images_get(what, i);

		(void)fprintf(out, "%s %s\n", husk_image_name(image),
			      husk_image_digest(image));
	}
	return 0;
}

static int import(struct cli_settings *settings, const char *path, const char *reference)
{
	static struct cli_progress progress;
	struct husk_error err = {0};
	husk_images *images = NULL;
	int r;

	cli_progress_init(&progress,
			  cli_progress_style_of(settings->quiet, CLI_PROGRESS_LINES),
			  STDERR_FILENO);
	settings->images.on_progress = cli_progress_event;
	settings->images.user = &progress;
	r = husk_image_import(path, reference, &settings->images, &images, &err);
	cli_progress_clear(&progress);
	cli_signals_release();
	if (r < 0)
		return cli_say_stopped(&err);
	r = cli_image_print(put_imported, images, settings->json);
	(void)husk_images_free(images);
	return r;
}

static int export_image(struct cli_settings *settings, const char *reference,
			const char *path)
{
	struct husk_error err = {0};

	if (husk_image_export(reference, path, settings->format, &settings->images,
			      &err) < 0)
		return cli_say_stopped(&err);
	return CLI_EXIT_OK;
}

/* What can take long is done with the signals watched. */
static int watched(struct cli_settings *settings,
		   int (*act)(struct cli_settings *settings, const char *first,
			      const char *second),
		   char **words)
{
	husk_cancel *cancel = NULL;
	struct husk_error err = {0};
	int r;

	if (cli_images_finish(settings, &err) < 0 || husk_cancel_new(&cancel, &err) < 0)
		return cli_say_error(&err);
	settings->images.cancel = cancel;
	cli_signals_watch(cancel);
	r = act(settings, words[0], words[1]);
	cli_signals_release();
	(void)husk_cancel_free(cancel);
	return r;
}

int cli_image_import(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};

	if (count > 0)
		return watched(settings, import, words);
	(void)cli_error(&err, "usage", "no path is given");
	cli_error_hint(&err, "husk image import PATH [REF]");
	return cli_say_usage(&err, "image import");
}

int cli_image_export(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};

	if (count == 2)
		return watched(settings, export_image, words);
	(void)cli_error(&err, "usage",
			count == 0 ? "no image is given" : "no path is given");
	cli_error_hint(&err, "husk image export REF PATH");
	return cli_say_usage(&err, "image export");
}
