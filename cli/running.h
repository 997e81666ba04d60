/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which boxes of this user run. Each husk that runs one holds a file in the user's
 * run-time directory ($XDG_RUNTIME_DIR/husk; /run/husk for root; /run/user/UID/husk; else
 * /tmp/husk-run-UID, and all of them are looked at, since sessions differ in what they
 * have):
 * NAME.json, with a record lock (fcntl(2)) that the kernel gives up when husk ends,
 * however it ends. The lock tells who is alive, and the kernel which process holds it:
 * nothing relies on a number that was written down, and nothing has to be cleaned up.
 */
#ifndef CLI_RUNNING_H
#define CLI_RUNNING_H

#include "cli/settings.h"

#include <husk/error.h>

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

enum { CLI_RUNNING_NAME = 65, CLI_RUNNING_DIRS = 4 };

/* A running husk's own entry. */
struct cli_running {
	int dir, fd;
	char file[CLI_RUNNING_NAME + 8];
};

#define CLI_RUNNING_INIT             \
	(struct cli_running)         \
	{                            \
		.dir = -1, .fd = -1, \
	}

/* Enter this husk: its --name, or one that is made up from verb. words: what it runs.
 * Where the directory cannot be had, a husk without a --name simply stays unlisted.
 * HUSK_E_INVALID: no such name may be; HUSK_E_IN_USE: another box has it. */
int cli_running_enter(struct cli_running *running, const struct cli_settings *settings,
		      const char *verb, const char *const *words, struct husk_error *err);
void cli_running_leave(struct cli_running *running);
#define CLEANUP_RUNNING __attribute__((cleanup(cli_running_leave)))

/* May a box have this name? Letters, digits, "-", "_" and ".", none of these first. */
bool cli_running_is_name(const char *name);

/* All that run, sorted by name: a list of objects {name, pid, started, verb, image,
 * workspace, command}. Entries that nobody holds are removed. */
json_t *cli_running_list(void);

/* The process that holds NAME's entry now: its pidfd, the caller's; -1: nobody does. */
int cli_running_find(const char *name);

/* The same where somebody must: a negative code with the names that are like it. */
int cli_running_hold(const char *name, int *ret_pidfd, struct husk_error *err);

/* The directory for a new entry, made where it is not there; -1 with errno where it
 * cannot be had. cli/running_dir.c */
int cli_running_dir(void);
/* Those that are there, open, and where entries of this user may be. Returns how many. */
size_t cli_running_dirs(int dirs[CLI_RUNNING_DIRS]);

#endif
