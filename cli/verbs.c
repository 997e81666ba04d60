/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs.h"

#include "cli/say.h"
#include "cli/suggest.h"

#include <stdint.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char box_status[] =
    "N    the program's own exit code; 128+N when signal N ended it\n"
    "124  the deadline passed\n"
    "125  husk could not do it: wrong usage, or the box could not be started\n"
    "126  the program was found and cannot be executed\n"
    "127  the program was not found\n"
    "129, 130, 143  husk was stopped by SIGHUP, SIGINT, SIGTERM\n"
    "137  the memory cap or a SIGKILL ended the program\n"
    "141  nobody read husk's output any more\n"
    "159  a denied system call ended the program\n";

static const char plain_status[] = "0    done\n"
				   "125  husk could not do it\n";

static const struct cli_verb verbs[] = {
    {"code", CLI_VERB_CODE, "[OPTIONS] (-c CODE | FILE | -)",
     "Run a piece of Python, bash or node code in a fresh box", box_status,
     "husk code --timeout 2 -c 'print(6*7)'", 1, false, cli_code},
    {"doctor", CLI_VERB_DOCTOR, "[OPTIONS]",
     "Say what this host can do for a box, and what to do about each gap",
     "0    boxes can run on this host\n"
     "1    they cannot\n"
     "125  husk could not find out\n",
     "husk doctor --json", 0, false, cli_doctor},
    {"help", CLI_VERB_HELP, "[COMMAND]", "Explain husk, or one command", plain_status,
     "husk help run", 1, false, cli_help},
    {"run", CLI_VERB_RUN, "[OPTIONS] [--] PROG [ARG...]", "Run a program in a fresh box",
     box_status, "husk run --memory 64m -v ./data:/data:ro -- ls -l /data", SIZE_MAX,
     true, cli_run},
    {"version", CLI_VERB_VERSION, "", "Print the version", plain_status, "husk version",
     0, false, cli_version},
};

const struct cli_verb *cli_verbs(size_t *ret_count)
{
	*ret_count = COUNT(verbs);
	return verbs;
}

int cli_verb_find(const char *name, const struct cli_verb **ret_verb,
		  struct husk_error *err)
{
	struct cli_suggestion near = {.input = name};

	for (size_t i = 0; i < COUNT(verbs); i++) {
		if (strcmp(verbs[i].name, name) == 0) {
			*ret_verb = &verbs[i];
			return 0;
		}
		cli_suggestion_offer(&near, verbs[i].name);
	}
	(void)cli_error(err, name, "husk has no such command");
	if (near.best)
		cli_error_hint(err, "did you mean %s?", near.best);
	return HUSK_E_INVALID;
}
