/* SPDX-License-Identifier: Apache-2.0 */
/* husk image ls, inspect, rm, prune: what the store holds. */
#include "cli/image_print.h"
#include "cli/images.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int put_list(FILE *out, const void *what, bool json)
{
	if (json)
		return cli_images_json(out, what);
	cli_images_table(out, what);
	return 0;
}

/* What the list cannot show is no reason to fail: the rest is as good as it was. */
static void warn_of_damage(const husk_images *images)
{
	struct husk_error first;
	size_t count = husk_images_damaged(images, &first);
	char *why = NULL, more[48] = "";

	if (count == 0)
		return;
	if (count > 1)
		(void)snprintf(more, sizeof(more), " (and %zu more)", count - 1);
	if (asprintf(&why, "%s: %s%s", first.where, first.message, more) < 0)
		why = NULL;
	cli_say("warning", why ? why : first.message, first.hint);
	free(why);
}

int cli_image_ls(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};
	husk_images *images = NULL;
	int r;

	(void)count;
	(void)words;
	if (cli_images_finish(settings, &err) < 0 ||
	    husk_image_list(&settings->images, &images, &err) < 0)
		return cli_say_error(&err);
	r = cli_image_print(put_list, images, settings->json);
	warn_of_damage(images);
	(void)husk_images_free(images);
	return r;
}

static int put_details(FILE *out, const void *what, bool json)
{
	if (json)
		return fprintf(out, "%s\n", (const char *)what);
	return cli_image_details(out, what);
}

static int no_image(const char *verb, const char *example)
{
	struct husk_error err = {0};

	(void)cli_error(&err, "usage", "no image is given");
	cli_error_hint(&err, "%s", example);
	return cli_say_usage(&err, verb);
}

int cli_image_inspect(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};
	char *json = NULL;
	int r;

	if (count == 0)
		return no_image("image inspect", "husk image inspect python:3.12-slim");
	if (cli_images_finish(settings, &err) < 0 ||
	    husk_image_inspect(words[0], &settings->images, &json, &err) < 0)
		return cli_say_error(&err);
	r = cli_image_print(put_details, json, settings->json);
	free(json);
	return r;
}

/* Each for itself: one that cannot be removed does not keep the others. */
int cli_image_rm(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};
	int failed = CLI_EXIT_OK;

	if (count == 0)
		return no_image("image rm", "husk image rm python:3.12-slim");
	if (cli_images_finish(settings, &err) < 0)
		return cli_say_error(&err);
	for (size_t i = 0; i < count; i++) {
		uint64_t freed = 0;
		char text[32], *line = NULL;
		int r;

		if (husk_image_remove(words[i], &settings->images, &freed, &err) < 0) {
			/* That it could be fetched is no help to who wants it gone. */
			if (strcmp(err.where, "image") == 0)
				cli_error_hint(&err, "`husk image ls` lists those there");
			failed = cli_say_error(&err);
			continue;
		}
		cli_progress_bytes(text, sizeof(text), freed);
		if (asprintf(&line, "removed %s, %s freed", words[i], text) < 0)
			line = NULL;
		r = line ? cli_print_text(line) : CLI_EXIT_OK;
		free(line);
		if (r != CLI_EXIT_OK)
			return r;
	}
	return failed;
}

int cli_image_prune(struct cli_settings *settings, size_t count, char **words)
{
	uint64_t things = 0, freed = 0;
	struct husk_error err = {0};
	char line[160], text[32];
	int size;

	(void)count;
	(void)words;
	if (cli_images_finish(settings, &err) < 0 ||
	    husk_image_prune(&settings->images, &things, &freed, &err) < 0)
		return cli_say_error(&err);
	cli_progress_bytes(text, sizeof(text), freed);
	if (settings->json)
		size = snprintf(line, sizeof(line),
				"{\"removed\":%" PRIu64 ",\"freed\":%" PRIu64 "}\n",
				things, freed);
	else
		size = snprintf(line, sizeof(line),
				"removed %" PRIu64 " thing%s, %s freed\n", things,
				things == 1 ? "" : "s", text);
	return cli_print(line, (size_t)size);
}
