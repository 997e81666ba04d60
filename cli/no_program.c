/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/no_program.h"

#include "cli/nearby.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Words that a shell knows and no folder holds, sorted. */
static bool is_shell_word(const char *name)
{
	static const char *const words[] = {
	    ".",   "[[", "alias",  "cd",   "eval",   "exec",  "exit",  "export",
	    "for", "if", "source", "type", "ulimit", "umask", "unset", "while"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i], name) == 0)
			return true;
	}
	return false;
}

/* It is on the host, where whoever typed it sees it. */
static const char *host_file_hint(const struct cli_settings *settings, const char *path)
{
	if (access(path, F_OK) < 0)
		return NULL;
	if (path[0] == '/')
		return "it is on the host, where the box does not see it: copy it into "
		       "the "
		       "workspace, or show its directory with -v DIR:DIR:ro";
	if (settings->box.workspace)
		return NULL;
	return "it is here, where the box does not see it: --workspace . shows this "
	       "directory as /workspace";
}

bool cli_no_program_hint(const struct cli_settings *settings, const char *name,
			 char *hint, size_t size)
{
	const char *image = settings->box.image, *found;

	if (is_shell_word(name)) {
		(void)snprintf(hint, size,
			       "%s is a word of the shell: husk run -- sh -c '%s ...'",
			       name, name);
		return true;
	}
	if (strchr(name, ' ') && !strpbrk(name, "\n\033")) {
		(void)snprintf(hint, size,
			       "write each argument as a word of its own, or give the "
			       "line to a shell: husk run -- sh -c 'LINE'");
		return true;
	}
	if (strchr(name, '/')) {
		found = host_file_hint(settings, name);
		(void)snprintf(hint, size, "%s", found ? found : "");
		return found != NULL;
	}
	/* The host's own programs can be looked through for one that was meant. */
	return (!image || strcmp(image, "host") == 0) &&
	       cli_nearby_program(name, hint, size);
}
