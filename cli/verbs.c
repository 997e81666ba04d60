/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs.h"

#include "cli/foreign.h"
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

static const char pull_status[] =
    "0    done\n"
    "125  husk could not do it\n"
    "129, 130, 143  husk was stopped by SIGHUP, SIGINT, SIGTERM\n";

static const char setup_status[] =
    "0    done, or taken from the cache\n"
    "1    the command failed\n"
    "124  the deadline passed\n"
    "125  husk could not do it: wrong usage, or the box could not be started\n"
    "129, 130, 143  husk was stopped by SIGHUP, SIGINT, SIGTERM\n";

static const char mcp_status[] =
    "0    the client has closed stdin\n"
    "125  husk could not do it: wrong usage, or no workspace could be opened\n"
    "129, 130, 143  husk was stopped by SIGHUP, SIGINT, SIGTERM\n";

static const char doctor_status[] = "0    boxes can run on this host\n"
				    "1    they cannot\n"
				    "125  husk could not find out\n";

static const struct cli_verb verbs[] = {
    {
	.name = "code",
	.usage = "[OPTIONS] (-c CODE | FILE | -)",
	.summary = "Run a piece of Python, bash or node code in a fresh box",
	.status = box_status,
	.example = "husk code --timeout 2 -c 'print(6*7)'",
	.max_words = 1,
	.bit = CLI_VERB_CODE,
	.run = cli_code,
    },
    {
	.name = "completion",
	.usage = "SHELL",
	.summary = "Print the script that completes husk's words in bash, fish or zsh",
	.status = plain_status,
	.example = "source <(husk completion bash)",
	.max_words = SIZE_MAX,
	.bit = CLI_VERB_COMPLETION,
	.program = true,
	.run = cli_completion,
    },
    {
	.name = "config",
	.usage = "COMMAND [OPTIONS]",
	.summary = "Show the settings that are in force, and where they are from",
	.status = plain_status,
	.example = "husk config show",
	.bit = CLI_VERB_CONFIG,
	.run = cli_config,
	.below = cli_config_verbs,
    },
    {
	.name = "doctor",
	.usage = "[OPTIONS]",
	.summary = "Say what this host can do for a box, and what to do about each gap",
	.status = doctor_status,
	.example = "husk doctor --json",
	.bit = CLI_VERB_DOCTOR,
	.run = cli_doctor,
    },
    {
	.name = "gc",
	.usage = "[OPTIONS]",
	.summary = "Remove what callers that were killed have left behind",
	.status = plain_status,
	.example = "husk gc",
	.bit = CLI_VERB_GC,
	.run = cli_gc,
    },
    {
	.name = "help",
	.usage = "[COMMAND]",
	.summary = "Explain husk, or one command",
	.status = plain_status,
	.example = "husk help run",
	.max_words = 2,
	.bit = CLI_VERB_HELP,
	.run = cli_help,
    },
    {
	.name = "image",
	.usage = "COMMAND [OPTIONS] [ARG...]",
	.summary = "List, look at, remove, import and export images",
	.status = plain_status,
	.example = "husk image ls",
	.bit = CLI_VERB_IMAGE,
	.run = cli_image,
	.below = cli_image_verbs,
    },
    {
	.name = "mcp",
	.usage = "[OPTIONS]",
	.summary = "Serve the Model Context Protocol on stdin and stdout",
	.status = mcp_status,
	.example = "husk mcp --workspace ./w --memory 1g --timeout 60",
	.bit = CLI_VERB_MCP,
	.run = cli_mcp,
    },
    {
	.name = "ps",
	.usage = "[OPTIONS]",
	.summary = "List the boxes of yours that run",
	.status = plain_status,
	.example = "husk ps --json",
	.bit = CLI_VERB_PS,
	.run = cli_ps,
    },
    {
	.name = "pull",
	.usage = "[OPTIONS] REF",
	.summary = "Fetch an image into the store, and print its digest",
	.status = pull_status,
	.example = "husk pull python:3.12-slim",
	.max_words = 1,
	.bit = CLI_VERB_PULL,
	.run = cli_pull,
    },
    {
	.name = "run",
	.usage = "[OPTIONS] [--] PROG [ARG...]",
	.summary = "Run a program in a fresh box",
	.status = box_status,
	.example = "husk run --memory 64m -v ./data:/data:ro -- ls -l /data",
	.max_words = SIZE_MAX,
	.bit = CLI_VERB_RUN,
	.program = true,
	.run = cli_run,
    },
    {
	.name = "setup",
	.usage = "--workspace DIR [OPTIONS] COMMAND",
	.summary = "Install what the boxes on a workspace need",
	.status = setup_status,
	.example = "husk setup --workspace ./w 'pip install pandas'",
	.max_words = SIZE_MAX,
	.bit = CLI_VERB_SETUP,
	.program = true,
	.run = cli_setup,
    },
    {
	.name = "shell",
	.usage = "[OPTIONS]",
	.summary = "Open an interactive shell in a fresh box",
	.status = box_status,
	.example = "husk shell --workspace ./w --image debian:12",
	.bit = CLI_VERB_SHELL,
	.run = cli_shell,
    },
    {
	.name = "stop",
	.usage = "[OPTIONS] (NAME... | --all)",
	.summary = "End boxes of yours that run",
	.status = plain_status,
	.example = "husk stop build-17",
	.max_words = SIZE_MAX,
	.bit = CLI_VERB_STOP,
	.run = cli_stop,
    },
    {
	.name = "version",
	.usage = "",
	.summary = "Print the version",
	.status = plain_status,
	.example = "husk version",
	.bit = CLI_VERB_VERSION,
	.run = cli_version,
    },
};

const struct cli_verb *cli_verbs(size_t *ret_count)
{
	*ret_count = COUNT(verbs);
	return verbs;
}

static int find(const struct cli_verb *rows, size_t count, const char *name,
		size_t prefix, const struct cli_verb **ret_verb, struct husk_error *err)
{
	struct cli_suggestion near = {.input = name};

	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].name + prefix, name) == 0) {
			*ret_verb = &rows[i];
			return 0;
		}
		cli_suggestion_offer(&near, rows[i].name + prefix);
	}
	(void)cli_error(err, name, "husk%s%.*s has no such command",
			prefix > 0 ? " " : "", prefix > 0 ? (int)prefix - 1 : 0,
			rows[0].name);
	if (prefix == 0 && cli_foreign_command(name))
		cli_error_hint(err, "%s", cli_foreign_command(name));
	else if (near.best)
		cli_error_hint(err, "did you mean %s?", near.best);
	return HUSK_E_INVALID;
}

int cli_verb_find(const char *name, const struct cli_verb **ret_verb,
		  struct husk_error *err)
{
	return find(verbs, COUNT(verbs), name, 0, ret_verb, err);
}

int cli_verb_find_words(char *const *words, const struct cli_verb **ret_verb,
			size_t *ret_used, struct husk_error *err)
{
	const struct cli_verb *verb, *rows;
	size_t count;

	if (cli_verb_find(words[0], &verb, err) < 0)
		return HUSK_E_INVALID;
	*ret_used = 1;
	*ret_verb = verb;
	if (verb->below && words[1] && words[1][0] != '-') {
		rows = verb->below(&count);
		if (find(rows, count, words[1], strlen(verb->name) + 1, &verb, err) < 0)
			return HUSK_E_INVALID;
		*ret_used = 2;
		*ret_verb = verb;
	}
	return 0;
}
