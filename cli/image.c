/* SPDX-License-Identifier: Apache-2.0 */
/* husk image: the table of the commands below it. */
#include "cli/say.h"
#include "cli/verbs.h"

#include <stdint.h>

static const char status[] = "0    done\n"
			     "125  husk could not do it\n";

static const char long_status[] =
    "0    done\n"
    "125  husk could not do it\n"
    "129, 130, 143  husk was stopped by SIGHUP, SIGINT, SIGTERM\n";

static const struct cli_verb verbs[] = {
    {
	.name = "image export",
	.usage = "[OPTIONS] REF PATH",
	.summary = "Write an image to a file that skopeo, podman and docker read",
	.status = long_status,
	.example = "husk image export python:3.12-slim python.tar",
	.max_words = 2,
	.bit = CLI_VERB_IMAGE_EXPORT,
	.run = cli_image_export,
    },
    {
	.name = "image import",
	.usage = "[OPTIONS] PATH [REF]",
	.summary = "Put an image into the store from a file or directory",
	.status = long_status,
	.example = "husk image import python.tar",
	.max_words = 2,
	.bit = CLI_VERB_IMAGE_IMPORT,
	.run = cli_image_import,
    },
    {
	.name = "image inspect",
	.usage = "[OPTIONS] REF",
	.summary = "Show what an image of the store is",
	.status = status,
	.example = "husk image inspect --json python:3.12-slim",
	.max_words = 1,
	.bit = CLI_VERB_IMAGE_INSPECT,
	.run = cli_image_inspect,
    },
    {
	.name = "image ls",
	.usage = "[OPTIONS]",
	.summary = "List the images of the store",
	.status = status,
	.example = "husk image ls --json",
	.bit = CLI_VERB_IMAGE_LS,
	.run = cli_image_ls,
    },
    {
	.name = "image prune",
	.usage = "[OPTIONS]",
	.summary = "Remove what no image needs, among it pulls that were cut",
	.status = status,
	.example = "husk image prune",
	.bit = CLI_VERB_IMAGE_PRUNE,
	.run = cli_image_prune,
    },
    {
	.name = "image rm",
	.usage = "REF...",
	.summary = "Remove images from the store",
	.status = status,
	.example = "husk image rm python:3.12-slim",
	.max_words = SIZE_MAX,
	.bit = CLI_VERB_IMAGE_RM,
	.run = cli_image_rm,
    },
};

const struct cli_verb *cli_image_verbs(size_t *ret_count)
{
	*ret_count = sizeof(verbs) / sizeof(verbs[0]);
	return verbs;
}

/* `husk image` and no more. */
int cli_image(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};

	(void)settings;
	(void)count;
	(void)words;
	(void)cli_error(&err, "usage", "husk image needs a command");
	return cli_say_usage(&err, "image");
}
