/* SPDX-License-Identifier: Apache-2.0 */
/* husk config: the table of the commands below it. */
#include "cli/config.h"

#include "cli/say.h"

static const char status[] = "0    done\n"
			     "125  husk could not do it\n";

static const struct cli_verb verbs[] = {
    {
	.name = "config show",
	.usage = "[OPTIONS]",
	.summary = "Show what holds for `husk run`, and where each value is from",
	.status = status,
	.example = "husk config show --profile untrusted",
	.bit = CLI_VERB_CONFIG_SHOW,
	.run = cli_config_show,
    },
};

const struct cli_verb *cli_config_verbs(size_t *ret_count)
{
	*ret_count = sizeof(verbs) / sizeof(verbs[0]);
	return verbs;
}

/* `husk config` and no more. */
int cli_config(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};

	(void)settings;
	(void)count;
	(void)words;
	(void)cli_error(&err, "usage", "husk config needs a command");
	cli_error_hint(&err, "husk config show");
	return cli_say_usage(&err, "config");
}
