/* SPDX-License-Identifier: Apache-2.0 */
/* Where configuration files are. */
#include "cli/config.h"

#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ADMIN_PATH[] = "/etc/husk/config.json";

static int below(struct cli_settings *settings, const char *base, const char *rest,
		 const char **ret_path, struct husk_error *err)
{
	size_t size = strlen(base) + strlen(rest) + 1;
	char *path = cli_keep_new(&settings->kept, size);

	if (!path)
		return cli_error_memory(err, "configuration");
	(void)snprintf(path, size, "%s%s", base, rest);
	*ret_path = path;
	return 0;
}

/* $HUSK_CONFIG, else below $XDG_CONFIG_HOME, else below ~/.config. */
static int user_path(struct cli_settings *settings, const char **ret_path, bool *ret_must,
		     struct husk_error *err)
{
	const char *named = getenv("HUSK_CONFIG");
	const char *base = cli_settings_variable("XDG_CONFIG_HOME");
	const char *rest = "/husk/config.json";

	if (named) {
		*ret_path = named[0] != '\0' ? named : NULL;
		*ret_must = true;
		return 0;
	}
	if (!base || base[0] != '/') {
		base = cli_settings_variable("HOME");
		rest = "/.config/husk/config.json";
	}
	if (!base || base[0] != '/')
		return 0;
	return below(settings, base, rest, ret_path, err);
}

int cli_config_path(struct cli_settings *settings, enum cli_config_kind kind,
		    const char **ret_path, bool *ret_must, struct husk_error *err)
{
	*ret_path = NULL;
	*ret_must = false;
	if (kind == CLI_CONFIG_USER)
		return user_path(settings, ret_path, ret_must, err);
	*ret_path = ADMIN_PATH;
#ifdef HUSK_TEST_HOOKS
	if (cli_settings_variable("HUSK_TEST_ETC"))
		return below(settings, cli_settings_variable("HUSK_TEST_ETC"),
			     "/husk/config.json", ret_path, err);
#endif
	return 0;
}
