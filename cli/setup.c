/* SPDX-License-Identifier: Apache-2.0 */
/* husk setup: install into a workspace, once. */
#include "cli/setup.h"

#include "cli/images.h"
#include "cli/relay.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/verbs.h"

#include <husk.h>

#include <errno.h>
#include <stdio.h>

/* What the library does where the command line is silent (husk/setup.h). */
static const uint64_t STANDARD_TIMEOUT_MS = 300000;

const char *cli_setup_cache(char text[CLI_CACHE_TEXT])
{
	const char *base = cli_settings_variable("XDG_CACHE_HOME");
	const char *below = "";
	int n;

	if (!base || base[0] != '/') {
		base = cli_settings_variable("HOME");
		below = "/.cache";
	}
	if (!base || base[0] != '/')
		return NULL;
	n = snprintf(text, CLI_CACHE_TEXT, "%s%s/husk", base, below);
	return n > 0 && n < CLI_CACHE_TEXT ? text : NULL;
}

static int check(const struct cli_settings *settings, size_t count, char **words,
		 struct husk_error *err)
{
	if (!settings->box.workspace) {
		(void)cli_error(err, "usage", "no workspace is given");
		cli_error_hint(err, "name the directory that the boxes are to use with "
				    "--workspace DIR");
		return HUSK_E_INVALID;
	}
	if (count == 0) {
		(void)cli_error(err, "usage", "no command is given");
		cli_error_hint(err, "husk setup --workspace DIR 'pip install NAME'");
		return HUSK_E_INVALID;
	}
	if (count > 1) {
		(void)cli_error(err, words[1], "the command is one argument");
		cli_error_hint(err, "put it into quotes: 'pip install NAME'");
		return HUSK_E_INVALID;
	}
	return 0;
}

static int exit_code(const struct husk_error *err)
{
	if (cli_signals_caught())
		return CLI_EXIT_SIGNAL + cli_signals_caught();
	(void)cli_say_error(err);
	if (err->code != HUSK_E_SETUP)
		return CLI_EXIT_CANNOT;
	if (err->sys_errno == ETIMEDOUT)
		return CLI_EXIT_TIMEOUT;
	return err->sys_errno == 0 ? CLI_EXIT_NO : CLI_EXIT_CANNOT;
}

/* What the command line says about memory, deadline and network is about this one box,
 * not about the session. */
static void move_settings(struct cli_settings *settings, struct husk_setup *setup)
{
	setup->memory_bytes = settings->box.memory_bytes;
	setup->timeout_ms = settings->box.timeout_ms;
	setup->offline = settings->network_given && !settings->box.allow_network;
	settings->box.memory_bytes = settings->box.timeout_ms = 0;
	settings->box.allow_network = 0;
}

static int run_setup(struct cli_settings *settings, const char *command,
		     husk_cancel *cancel)
{
	CLEANUP_RELAY struct cli_relay relay;
	husk_session *session = NULL;
	struct husk_error err = {0};
	char cache[CLI_CACHE_TEXT];
	HUSK_SETUP(setup);
	int r;

	move_settings(settings, &setup);
	setup.cache_dir = settings->no_cache ? NULL : cli_setup_cache(cache);
	setup.cancel = cancel;
	setup.on_output = cli_relay_output;
	setup.user = &relay;
	cli_relay_init(&relay,
		       setup.timeout_ms > 0 ? setup.timeout_ms : STANDARD_TIMEOUT_MS);
	r = cli_session_open(settings, cancel, &session, &err);
	if (r == 0)
		r = husk_session_setup(session, command, &setup, NULL, &err);
	(void)husk_session_close(session);
	cli_signals_release();
	if (relay.failed)
		return cli_say_write_failed(relay.failed_stream, relay.failed);
	return r < 0 ? exit_code(&err) : CLI_EXIT_OK;
}

int cli_setup(struct cli_settings *settings, size_t count, char **words)
{
	husk_cancel *cancel = NULL;
	struct husk_error err = {0};
	int r;

	if (check(settings, count, words, &err) < 0)
		return cli_say_usage(&err, "setup");
	if (cli_settings_finish(settings, &err) < 0 || husk_cancel_new(&cancel, &err) < 0)
		return cli_say_error(&err);
	cli_signals_watch(cancel);
	r = run_setup(settings, words[0], cancel);
	cli_signals_release();
	(void)husk_cancel_free(cancel);
	return r;
}
