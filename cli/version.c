/* SPDX-License-Identifier: Apache-2.0 */
/* husk version */
#include "cli/say.h"
#include "cli/verbs.h"

#include <husk/version.h>

#include <stdio.h>

int cli_version(struct cli_settings *settings, size_t count, char **words)
{
	char line[64];
	int size = snprintf(line, sizeof(line), "husk %s\n", husk_version());

	(void)settings;
	(void)count;
	(void)words;
	return cli_print(line, (size_t)size);
}
