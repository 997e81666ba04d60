/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of up to a hundred kilobytes is an argument (python3 -c CODE). Longer code lies in
 * a file of the box and a short stand-in runs it with the same meaning: in __main__,
 * without a
 * __file__, with sys.argv ["-c"]; in the same shell; with node's require in scope.
 */
#include "session/languages.h"

#include <string.h>

#include "runtime/box.h"

/* Sorted by name. */
static const struct language languages[] = {
    {
	.name = "bash",
	.programs = {"bash", "sh"},
	.option = "-c",
	.from_file = ". " BOX_CODE_PATH,
	.hint = "the image has neither bash nor sh",
    },
    {
	.name = "node",
	.programs = {"node", "nodejs"},
	.option = "-e",
	.from_file =
	    "require('vm').runInThisContext(require('fs').readFileSync('" BOX_CODE_PATH
	    "','utf8'),{filename:'[eval]'})",
	.hint = "the image has no node; on the host image, install nodejs on the host",
    },
    {
	.name = "python",
	.programs = {"python3"},
	.option = "-c",
	.from_file =
	    "exec(compile(open('" BOX_CODE_PATH "','rb').read(),'<string>','exec'))",
	.hint =
	    "the image has no python3; on the host image, install python3 on the host",
    },
};

const struct language *language_find(const char *name)
{
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
		if (strcmp(languages[i].name, name) == 0)
			return &languages[i];
	}
	return NULL;
}

const char *language_names(void)
{
	return "python, bash or node";
}
