/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/box.h"

#include "cli/denials.h"
#include "cli/escape.h"
#include "cli/events.h"
#include "cli/images.h"
#include "cli/no_program.h"
#include "cli/relay.h"
#include "cli/running.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "cli/warning.h"

#include <husk.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the library does where the command line is silent (husk/options.h). */
static const uint64_t STANDARD_TIMEOUT_MS = 30000;

/* -- afterwards --------------------------------------------------------------------- */

/* --files: one line each, the path last: nothing in it can be taken for the rest. */
static void put_files(FILE *out, const husk_result *result)
{
	static const char *const changes[] = {
	    [HUSK_FILE_CREATED] = "created",
	    [HUSK_FILE_MODIFIED] = "modified",
	    [HUSK_FILE_DELETED] = "deleted",
	};

	for (size_t i = 0; i < husk_result_file_count(result); i++) {
		const char *path = husk_result_file_path(result, i);
		size_t size = strlen(path);
		char *printed = malloc(4 * size + 1);

		if (!printed)
			return;
		(void)cli_escape(printed, 4 * size + 1, path, size, CLI_ESCAPE_EXACT);
		(void)fprintf(out, "%-8s %12" PRIu64 " %s\n",
			      changes[husk_result_file_change(result, i)],
			      husk_result_file_size(result, i), printed);
		free(printed);
	}
}

static void say_files(const husk_result *result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	put_files(out, result);
	if (fclose(out) == 0)
		(void)cli_write_all(STDERR_FILENO, text, size);
	free(text);
}

/* What the sandbox did, in one line. That somebody stopped husk is no news to them. */
static void say_fault(const husk_result *result)
{
	const char *message = husk_result_fault_message(result);
	const char *detail = husk_result_fault_detail(result);
	bool more = detail && detail[0] != '\0' && !strstr(message, detail);
	char why[2048];

	(void)snprintf(why, sizeof(why), more ? "%s (%s)" : "%s", message, detail);
	cli_say(husk_result_fault_name(result), why, husk_result_hint(result));
}

static int exit_code(const husk_result *result)
{
	if (husk_result_fault(result) == HUSK_FAULT_CANCELLED && cli_signals_caught())
		return CLI_EXIT_SIGNAL + cli_signals_caught();
	return husk_result_exit_code(result);
}

static void say_no_program(const struct cli_settings *settings, const struct cli_box *box,
			   const husk_result *result)
{
	const char *hint = husk_result_hint(result);
	char more[1024];

	if (!hint && box->argv && box->argv[0] && !box->language &&
	    husk_result_exit_code(result) == 127 &&
	    cli_no_program_hint(settings, box->argv[0], more, sizeof(more)))
		hint = more;
	cli_say(NULL, husk_result_exec_error(result), hint);
}

static int report_plain(const struct cli_settings *settings, const struct cli_box *box,
			const struct cli_relay *relay, const husk_result *result)
{
	int fault = husk_result_fault(result);

	if (husk_result_exec_error(result))
		say_no_program(settings, box, result);
	else if (fault != HUSK_FAULT_NONE && fault != HUSK_FAULT_CANCELLED)
		say_fault(result);
	if (settings->files)
		say_files(result);
	if (settings->explain_denials)
		cli_denials_say(result);
	if (relay->failed)
		return cli_say_write_failed(relay->failed_stream, relay->failed);
	return exit_code(result);
}

static int report_json(const husk_result *result)
{
	struct husk_error err = {0};
	char *json = NULL;
	size_t size;
	int r;

	if (husk_result_to_json(result, &json, &err) < 0)
		return cli_say_error(&err);
	size = strlen(json);
	json[size] = '\n'; /* in the place of the NUL */
	r = cli_print(json, size + 1);
	free(json);
	return r == CLI_EXIT_OK ? exit_code(result) : r;
}

static int explain(husk_session *session, const struct cli_settings *settings,
		   const struct cli_box *box)
{
	HUSK_CALL(call);
	struct husk_error err = {0};
	char *text = NULL;
	int r;

	call.explain_denials = settings->explain_denials;
	if (husk_session_explain(session, box->argv, &call, &text, &err) < 0)
		return cli_say_error(&err);
	r = cli_print_text(text);
	free(text);
	return r;
}

static int report(const struct cli_settings *settings, const struct cli_box *box,
		  const struct cli_relay *relay, const husk_result *result)
{
	if (settings->json)
		return report_json(result);
	if (!settings->json_stream)
		return report_plain(settings, box, relay, result);
	return relay->failed ? cli_say_write_failed("stdout", relay->failed)
			     : exit_code(result);
}

/* -- the run ------------------------------------------------------------------------ */

/* The table comes when the program's own output is complete. */
static int call_timed(husk_session *session, const struct cli_box *box,
		      const struct husk_call *call, husk_result **ret_result,
		      struct husk_error *err)
{
	char *text = NULL;
	int r =
	    husk_session_explain_timing(session, box->argv, call, ret_result, &text, err);

	if (r == 0)
		(void)fputs(text, stderr);
	free(text);
	return r;
}

static int call_program(husk_session *session, const struct cli_settings *settings,
			const struct cli_box *box, const struct husk_call *call,
			husk_result **ret_result, struct husk_error *err)
{
	int r;

	if (settings->timing)
		return call_timed(session, box, call, ret_result, err);
	if (box->language)
		return husk_session_run_code(session, box->language, box->code, box->size,
					     call, ret_result, err);
	r = husk_session_run(session, box->argv, call, ret_result, err);
	if (r < 0 || !box->otherwise || husk_result_exit_code(*ret_result) != 127 ||
	    !husk_result_exec_error(*ret_result))
		return r;
	*ret_result = husk_result_free(*ret_result);
	return husk_session_run(session, box->otherwise, call, ret_result, err);
}

/* What the box shows is also looked at, to be undone where it is ended. */
static int show(void *user, int stream, const void *data, size_t size)
{
	cli_terminal_saw(data, size);
	return cli_relay_output(user, stream, data, size);
}

static int call_with_terminal(husk_session *session, const struct cli_settings *settings,
			      const struct cli_box *box, struct husk_call *call,
			      struct cli_relay *relay, husk_result **ret_result,
			      struct husk_error *err)
{
	uint64_t timeout_ms = settings->box.timeout_ms;
	struct cli_warning warning;
	int r;

	call->on_output = show;
	call->user = relay;
	cli_terminal_take(call, settings->stdin_open != 0);
	cli_warning_start(&warning, timeout_ms > 0 ? timeout_ms : STANDARD_TIMEOUT_MS);
	r = call_program(session, settings, box, call, ret_result, err);
	cli_warning_stop(&warning);
	cli_terminal_release();
	return r;
}

static int call_with_events(husk_session *session, const struct cli_settings *settings,
			    const struct cli_box *box, struct husk_call *call,
			    struct cli_relay *relay, husk_result **ret_result,
			    struct husk_error *err)
{
	struct husk_call own = *call;
	struct cli_events events;
	int r;

	own.on_output = cli_events_output;
	own.user = &events;
	own.skip_files = 0;
	(void)cli_events_start(&events, relay, box->verb, settings->name);
	r = call_program(session, settings, box, &own, ret_result, err);
	if (r == 0)
		(void)cli_events_end(&events, *ret_result);
	return r;
}

static int call_box(husk_session *session, const struct cli_settings *settings,
		    const struct cli_box *box, husk_cancel *cancel,
		    struct cli_relay *relay, husk_result **ret_result,
		    struct husk_error *err)
{
	HUSK_CALL(call);

	call.cancel = cancel;
	call.explain_denials = settings->explain_denials;
	if (settings->stdin_open) {
		call.stdin_kind = HUSK_STDIN_FD;
		call.stdin_fd = STDIN_FILENO;
	}
	if (!settings->json) {
		call.on_output = cli_relay_output;
		call.user = relay;
		call.discard_output = 1;
		/* Looking at a large workspace takes time, and nobody would see the list.
		 */
		call.skip_files = !settings->files;
	}
	if (settings->json_stream)
		return call_with_events(session, settings, box, &call, relay, ret_result,
					err);
	if (settings->terminal)
		return call_with_terminal(session, settings, box, &call, relay,
					  ret_result, err);
	return call_program(session, settings, box, &call, ret_result, err);
}

/* One box, and the end of its session. The session is closed, and with it a private
 * workspace removed, before anything is printed: printing can wait for a reader, and a
 * second Ctrl-C may end that wait and husk with it. */
static int run_last(husk_session *session, const struct cli_settings *settings,
		    const struct cli_box *box, husk_cancel *cancel)
{
	uint64_t timeout_ms = settings->box.timeout_ms;
	CLEANUP_RELAY struct cli_relay relay;
	husk_result *result = NULL;
	struct husk_error err = {0};
	int r;

	cli_relay_init(&relay, timeout_ms > 0 ? timeout_ms : STANDARD_TIMEOUT_MS);
	r = call_box(session, settings, box, cancel, &relay, &result, &err);
	(void)husk_session_close(session);
	cli_signals_release();
	if (r < 0)
		return cli_say_error(&err);
	r = report(settings, box, &relay, result);
	(void)husk_result_free(result);
	return r;
}

static int open_and_run(struct cli_settings *settings, const struct cli_box *box,
			husk_cancel *cancel)
{
	CLEANUP_RUNNING struct cli_running running = CLI_RUNNING_INIT;
	husk_session *session = NULL;
	struct husk_error err = {0};
	int r;

	/* A plan is to be seen without anything being done, and fetching is. */
	if (settings->explain)
		settings->box.pull = HUSK_PULL_NEVER;
	if (!settings->explain &&
	    cli_running_enter(&running, settings, box->verb, box->argv, &err) < 0)
		return cli_say_error(&err);
	if (cli_session_open(settings, cancel, &session, &err) < 0)
		return cli_say_stopped(&err);
	if (!settings->explain)
		return run_last(session, settings, box, cancel);
	r = explain(session, settings, box);
	(void)husk_session_close(session);
	return r;
}

/* stdout can hold one thing. */
static int check_together(const struct cli_settings *settings, struct husk_error *err)
{
	const struct {
		int32_t given;
		const char *name;
	} kinds[] = {
	    {settings->explain, "--explain"},
	    {settings->json, "--json"},
	    {settings->json_stream, "--json-stream"},
	    {settings->terminal, "--tty"},
	};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!kinds[i].given)
			continue;
		if (first)
			return cli_error(err, first,
					 "cannot go with %s: stdout can hold one of them",
					 kinds[i].name);
		first = kinds[i].name;
	}
	return 0;
}

int cli_box_run(struct cli_settings *settings, const struct cli_box *box)
{
	husk_cancel *cancel = NULL;
	struct husk_error err = {0};
	int r;

	if (check_together(settings, &err) < 0)
		return cli_say_usage(&err, box->verb);
	if (cli_settings_finish(settings, &err) < 0 || husk_cancel_new(&cancel, &err) < 0)
		return cli_say_error(&err);
	cli_signals_watch(cancel);
	r = open_and_run(settings, box, cancel);
	cli_signals_release();
	(void)husk_cancel_free(cancel);
	return r;
}
