/* SPDX-License-Identifier: Apache-2.0 */
/* husk mcp: the command. */
#include "cli/mcp.h"

#include "cli/mcp_call.h"
#include "cli/running.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/verbs.h"

#include <string.h>

/* A host where no box starts is told of at once, where the client keeps its log; the
 * calls say the same to the model. */
static void try_box(const struct mcp *mcp)
{
	static const char *const argv[] = {"true", NULL};
	husk_result *result = NULL;
	struct husk_error err = {0};
	HUSK_CALL(call);

	call.discard_output = call.skip_files = 1;
	if (husk_session_run(mcp->place->session, argv, &call, &result, &err) < 0)
		(void)cli_say_error(&err);
	else if (husk_result_fault(result) == HUSK_FAULT_STARTUP_FAILED)
		cli_say("no box can be started", husk_result_fault_message(result),
			husk_result_hint(result));
	(void)husk_result_free(result);
}

static int run_server(struct cli_settings *settings, struct husk_error *err)
{
	struct mcp mcp = {.settings = settings};
	int r, error;

	mcp_wire_init(&mcp.wire, 0, 1);
	pthread_mutex_init(&mcp.lock, NULL);
	pthread_cond_init(&mcp.idle, NULL);
	r = mcp_place_open(&mcp, err);
	if (r == 0) {
		try_box(&mcp);
		r = mcp_serve(&mcp);
		if (r < 0)
			(void)cli_error(err, "stdin", "cannot be read: %s", strerror(-r));
		/* What was asked for before the end is still done, unless nobody is there
		 * to hear of it. */
		mcp_calls_end(&mcp, cli_signals_caught() || mcp_wire_broken(&mcp.wire));
		mcp_listen_end(&mcp);
		if (r == 0 && (error = mcp_wire_error(&mcp.wire)) != 0)
			r = cli_error(err, "stdout", "an answer cannot be written: %s",
				      strerror(error));
		mcp_place_leave(&mcp, mcp.place);
	}
	pthread_cond_destroy(&mcp.idle);
	pthread_mutex_destroy(&mcp.lock);
	mcp_wire_deinit(&mcp.wire);
	return r;
}

int cli_mcp(struct cli_settings *settings, size_t count, char **words)
{
	CLEANUP_RUNNING struct cli_running running = CLI_RUNNING_INIT;
	struct husk_error err = {0};
	husk_cancel *cancel = NULL;
	int r, sig;

	(void)count;
	(void)words;
	if (cli_settings_finish(settings, &err) < 0 ||
	    cli_running_enter(&running, settings, "mcp", NULL, &err) < 0 ||
	    husk_cancel_new(&cancel, &err) < 0)
		return cli_say_error(&err);
	settings->images.cancel = cancel; /* opening a session may fetch its image */
	cli_signals_watch(cancel);
	r = run_server(settings, &err);
	sig = cli_signals_caught();
	cli_signals_release();
	(void)husk_cancel_free(cancel);
	if (r < 0)
		return cli_say_error(&err);
	return sig ? CLI_EXIT_SIGNAL + sig : CLI_EXIT_OK;
}
