/* SPDX-License-Identifier: Apache-2.0 */
/* husk stop: ask the husk that runs a box to end it, and make it end. With husk the
 * kernel ends everything in the box. */
#include "cli/running.h"
#include "cli/say.h"
#include "cli/verbs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What husk may take to end its box by itself and to clean up. */
enum { PATIENCE_MS = 10000, FOREVER_MS = -1 };

static bool has_ended(int pidfd, int wait_ms)
{
	struct pollfd look = {.fd = pidfd, .events = POLLIN};
	int r;

	do {
		r = poll(&look, 1, wait_ms);
	} while (r < 0 && errno == EINTR);
	return r > 0;
}

static int stop(const char *name, struct husk_error *err)
{
	int pidfd, r = cli_running_hold(name, &pidfd, err);

	if (r < 0)
		return r;
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0) < 0 && errno != ESRCH)
		r = cli_error(err, name, "it cannot be stopped: %s", strerror(errno));
	if (r == 0 && !has_ended(pidfd, PATIENCE_MS)) {
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		(void)has_ended(pidfd, FOREVER_MS);
	}
	(void)close(pidfd);
	return r;
}

/* One name; its line is printed once it has ended. Returns the exit code. */
static int stop_one(const char *name)
{
	char line[CLI_RUNNING_NAME + 2];
	struct husk_error err = {0};
	int size;

	if (stop(name, &err) < 0)
		return cli_say_error(&err);
	size = snprintf(line, sizeof(line), "%.64s\n", name);
	return cli_print(line, (size_t)size);
}

static int stop_all(void)
{
	struct husk_error err = {0};
	json_t *list = cli_running_list(), *row;
	int worst = CLI_EXIT_OK;
	size_t i;

	json_array_foreach(list, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));
		int pidfd;

		/* One that has ended meanwhile is no failure. */
		if (cli_running_hold(name, &pidfd, &err) < 0)
			continue;
		(void)close(pidfd);
		if (stop_one(name) != CLI_EXIT_OK)
			worst = CLI_EXIT_CANNOT;
	}
	json_decref(list);
	return worst;
}

int cli_stop(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};
	int worst = CLI_EXIT_OK;

	if ((count == 0) == (settings->all == 0)) {
		(void)cli_error(&err, "usage", "%s",
				count == 0 ? "no name is given"
					   : "--all stands for every name");
		cli_error_hint(&err, "`husk ps` lists the names");
		return cli_say_usage(&err, "stop");
	}
	if (settings->all)
		return stop_all();
	for (size_t i = 0; i < count; i++) {
		if (stop_one(words[i]) != CLI_EXIT_OK)
			worst = CLI_EXIT_CANNOT;
	}
	return worst;
}
