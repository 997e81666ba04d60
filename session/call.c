/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a session: check, run a box, say what happened. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/cancel.h"
#include "session/languages.h"
#include "session/result.h"
#include "session/session.h"
#include "session/spare_code.h"
#include "session/spares.h"

enum {
	CODE_INLINE = 100 << 10, /* below the kernel's bound on one argument */
	CODE_MAX = 256 << 20,
	/* A terminal of which nothing is known. */
	STANDARD_ROWS = 24,
	STANDARD_COLUMNS = 80,
};

static int check_call(const struct husk_session *session, const struct husk_call *call,
		      struct husk_error *err)
{
	uint64_t session_ms = session->settings.timeout_us / 1000;

	if (call->timeout_ms > session_ms)
		return error_set(err, HUSK_E_INVALID, "timeout",
				 "%llu ms is longer than the session's %llu ms",
				 (unsigned long long)call->timeout_ms,
				 (unsigned long long)session_ms);
	if (call->stdin_kind < HUSK_STDIN_EMPTY || call->stdin_kind > HUSK_STDIN_FD)
		return error_set(err, HUSK_E_INVALID, "stdin", "unknown kind %d",
				 call->stdin_kind);
	if (call->stdin_kind == HUSK_STDIN_FD && call->stdin_fd < 0)
		return error_set(err, HUSK_E_INVALID, "stdin", "%d is no descriptor",
				 call->stdin_fd);
	if (call->stdin_kind == HUSK_STDIN_DATA && !call->stdin_data &&
	    call->stdin_size > 0)
		return error_set(err, HUSK_E_INVALID, "stdin", "there is no data");
	return call->workdir ? settings_check_workdir(call->workdir, err) : 0;
}

/* Where a program of the image's own starts is for the image to say, any other starts in
 * the workspace. */
static const char *workdir_of(const struct husk_session *session, const char *const *argv,
			      const struct husk_call *call)
{
	const char *own = session->root.workdir;

	if (call->workdir)
		return call->workdir;
	if (own && argv == session->root.command && !session->workdir_given)
		return own;
	return session->settings.workdir;
}

static void make_call(struct husk_session *session, const char *const *argv,
		      const struct husk_call *call, struct box_call *ret)
{
	static const enum box_stdin kinds[] = {
	    [HUSK_STDIN_EMPTY] = BOX_STDIN_EMPTY,
	    [HUSK_STDIN_DATA] = BOX_STDIN_DATA,
	    [HUSK_STDIN_FD] = BOX_STDIN_FD,
	};
	const struct settings *settings = &session->settings;

	*ret = (struct box_call){
	    .argv = argv,
	    .envp = (const char *const *)settings->env,
	    .search = settings->search,
	    .workdir = workdir_of(session, argv, call),
	    .timeout_us =
		call->timeout_ms ? call->timeout_ms * 1000 : settings->timeout_us,
	    .max_output = settings->max_output,
	    .stdin_kind = kinds[call->stdin_kind],
	    .stdin_data = call->stdin_data,
	    .stdin_size = call->stdin_size,
	    .stdin_fd = call->stdin_fd,
	    .cancel_fd = cancel_fd(call->cancel),
	    .cancel_fd2 = session->closing_fd,
	    .discard = call->discard_output != 0,
	    .explain_denials = call->explain_denials != 0,
	    .terminal = call->terminal != 0,
	    .rows = call->terminal_rows ? call->terminal_rows : STANDARD_ROWS,
	    .columns = call->terminal_columns ? call->terminal_columns : STANDARD_COLUMNS,
	    .resize_fd = call->resize_fd > 0 ? call->resize_fd : -1,
	    .on_output = call->on_output,
	    .on_wait = call->on_wait,
	    .user = call->user,
	    .meanwhile = session_look_for_leftovers,
	    .meanwhile_user = session,
	};
}

/* What to do about a file that is there and no program. */
static const char *exec_hint(int error)
{
	switch (error) {
	case EACCES:
		return "only a file with execute permission (chmod +x) can be run, and "
		       "no "
		       "directory; sh FILE runs a script without";
	case ENOEXEC:
		return "a script begins with a line such as #!/bin/sh, and a program has "
		       "to "
		       "be for this kind of machine; sh FILE runs a script without";
	case ENOENT:
		return "look at what its first line, #!, names, or, of a program, at the "
		       "loader that its image needs";
	default:
		return "";
	}
}

/* The program was not found: say so where its own words would have been. */
static void explain_exec(struct husk_result *result, const char *program,
			 const char *search)
{
	struct box_outcome *outcome = &result->outcome;
	char text[128];

	if (outcome->end != BOX_NO_PROGRAM)
		return;
	if (!outcome->found && strchr(program, '/'))
		(void)snprintf(result->exec_error, sizeof(result->exec_error),
			       "%.200s: there is no such file in the box", program);
	else if (!outcome->found)
		(void)snprintf(result->exec_error, sizeof(result->exec_error),
			       "%.200s: not found in the box's PATH (%.200s)", program,
			       search);
	else if (outcome->error == ENOENT)
		(void)snprintf(result->exec_error, sizeof(result->exec_error),
			       "%.200s: its interpreter is not in the box", program);
	else
		(void)snprintf(result->exec_error, sizeof(result->exec_error),
			       "%.200s: cannot be executed: %s", program,
			       strerror_r(outcome->error, text, sizeof(text)));
	if (outcome->found && result->hint[0] == '\0')
		(void)snprintf(result->hint, sizeof(result->hint), "%s",
			       exec_hint(outcome->error));
	if (outcome->err.max > 0)
		(void)buffer_addf(&outcome->err, "husk: %s\n", result->exec_error);
}

/* What is to be run: a program; for source code also the interpreter that may wait for
 * it, and the source as that takes it. */
struct job {
	struct box_call call;
	bool skip_files;
	enum spare_kind kind;
	const char *code;
	size_t code_size;
};

/* One that was stopped before it began is no work for a box that might be done with it
 * before anybody looks. */
static bool is_cancelled(const struct box_call *call)
{
	struct pollfd fds[] = {{.fd = call->cancel_fd, .events = POLLIN},
			       {.fd = call->cancel_fd2, .events = POLLIN}};

	return poll(fds, 2, 0) > 0;
}

/* A box that is ready, whatever has become of it. 0: the job is done in it; 1: nothing of
 * it has been run. */
static int run_in_spare(struct husk_session *session, const struct job *job,
			enum spare_kind kind, struct husk_result *result,
			struct husk_error *err)
{
	struct box_call call = job->call;
	struct spare_slot *slot;
	int r;

	/* What has begun without a tracer would be told of in part. */
	if (call.terminal || call.stdin_kind == BOX_STDIN_FD || call.code ||
	    call.explain_denials || is_cancelled(&call))
		return 1;
	slot = spares_take(session->spares, kind);
	if (!slot)
		return 1;
	if (kind != SPARE_PROGRAM) {
		call.code = job->code;
		call.code_size = job->code_size;
	}
	r = box_spare_run(slot->box, &call, &result->outcome, err);
	spares_return(session->spares, slot);
	if (r == 0)
		result->spare =
		    kind == SPARE_PROGRAM ? HUSK_SPARE_PROGRAM : HUSK_SPARE_INTERPRETER;
	return r;
}

/* The best that is there. */
static int run_anywhere(struct husk_session *session, const struct job *job,
			struct husk_result *result, struct husk_error *err)
{
	int r = 1;

	if (job->call.timing)
		return box_run(&session->spec, &job->call, &result->outcome, err);
	if (job->kind != SPARE_PROGRAM)
		r = run_in_spare(session, job, job->kind, result, err);
	if (r > 0)
		r = run_in_spare(session, job, SPARE_PROGRAM, result, err);
	if (r > 0)
		r = box_run(&session->spec, &job->call, &result->outcome, err);
	return r;
}

/* What was missing, where nothing has been run. */
static int start_errno(int r, const struct husk_result *result,
		       const struct husk_error *err)
{
	if (r < 0)
		return err->sys_errno;
	return result->outcome.end == BOX_NOT_STARTED ? result->outcome.error : 0;
}

static int start_box(struct husk_session *session, const struct job *job,
		     struct diff_call *diff, struct husk_result *result,
		     struct shortage_wait *wait, struct husk_error *err)
{
	int r;

	for (;;) {
		*err = (struct husk_error){0};
		r = job->skip_files ? 0 : diff_begin(&session->diff, diff, err);
		if (r == 0)
			r = run_anywhere(session, job, result, err);
		if (!shortage_again(session, &job->call, wait,
				    start_errno(r, result, err)))
			return r;
		diff_cancel(&session->diff, diff);
		box_outcome_deinit(&result->outcome);
		result->outcome = (struct box_outcome){0};
	}
}

static int look_after(struct husk_session *session, const struct job *job,
		      struct diff_call *diff, struct husk_result *result,
		      struct shortage_wait *wait, struct husk_error *err)
{
	int r;

	do {
		*err = (struct husk_error){0};
		r = diff_end(&session->diff, diff, &result->changes, err);
	} while (r < 0 && shortage_again(session, &job->call, wait, err->sys_errno));
	diff_cancel(&session->diff, diff);
	return r;
}

static int run_box(struct husk_session *session, const struct job *job,
		   struct husk_result *result, struct husk_error *err)
{
	const struct box_call *box_call = &job->call;
	bool skip_files = job->skip_files;
	struct diff_call diff = DIFF_CALL_INIT;
	struct shortage_wait wait = shortage_begin(box_call);
	struct husk_error own;
	int r;

	if (!err)
		err = &own;
	r = start_box(session, job, &diff, result, &wait, err);
	session_remove_leftovers(session);
	if (r < 0) {
		diff_cancel(&session->diff, &diff);
		return r;
	}
	verdict_reach(&result->outcome, box_call->timeout_us, &result->verdict);
	(void)snprintf(result->hint, sizeof(result->hint), "%s", result->outcome.hint);
	explain_exec(result, box_call->argv[0], box_call->search);
	if (skip_files)
		return 0;
	wait = shortage_begin(box_call); /* the box may have used up the time */
	return look_after(session, job, &diff, result, &wait, err);
}

static int run_checked(struct husk_session *session, const struct job *job,
		       husk_result **ret_result, struct husk_error *err)
{
	husk_result *result = calloc(1, sizeof(*result));
	int r;

	if (!result) {
		error_oom(err, "result");
		return HUSK_E_MEMORY;
	}
	r = run_box(session, job, result, err);
	if (r < 0)
		husk_result_free(result);
	else
		*ret_result = result;
	return r;
}

static int own_command(const husk_session *session, const char *const **argv,
		       struct husk_error *err)
{
	if (*argv && (*argv)[0])
		return 0;
	*argv = session->root.command;
	if (*argv)
		return 0;
	error_set(err, HUSK_E_INVALID, "command", "%s",
		  session->root.held ? "none is given, and the image has none of its own"
				     : "it is empty");
	error_hint(err, "name the program to run, and its arguments");
	return HUSK_E_INVALID;
}

/* The call of a program, checked: *ret_known is what was asked for, with the defaults,
 * and has to outlive *ret_call, which points into it. */
static int prepare(husk_session *session, const char *const argv[],
		   const struct husk_call *call, struct husk_call *ret_known,
		   struct box_call *ret_call, struct husk_error *err)
{
	int r = settings_call(call, ret_known, err);

	if (r == 0)
		r = check_call(session, ret_known, err);
	if (r == 0)
		r = own_command(session, &argv, err);
	if (r == 0)
		r = settings_check_exec(argv, session->settings.env, err);
	if (r == 0)
		make_call(session, argv, ret_known, ret_call);
	return r;
}

int husk_session_run(husk_session *session, const char *const argv[],
		     const struct husk_call *call, husk_result **ret_result,
		     struct husk_error *err)
{
	struct job job = {.kind = SPARE_PROGRAM};
	struct husk_call known;
	int r = session_enter(session, err);

	if (r < 0)
		return r;
	r = prepare(session, argv, call, &known, &job.call, err);
	if (r == 0) {
		job.skip_files = known.skip_files != 0;
		spares_note(session->spares, job.kind);
		r = run_checked(session, &job, ret_result, err);
		spares_wake(session->spares);
	}
	session_leave(session);
	return r;
}

/* Try the language's programs in order; the first that the box has decides. */
static int run_language(struct husk_session *session, const struct language *language,
			struct job *job, const char **argv, husk_result **ret_result,
			struct husk_error *err)
{
	for (size_t i = 0; language->programs[i]; i++) {
		husk_result *result = NULL;
		int r;

		argv[0] = language->programs[i];
		job->call.argv = argv;
		r = run_checked(session, job, &result, err);
		if (r < 0 || !result)
			return r;
		if (result->outcome.end != BOX_NO_PROGRAM || result->outcome.found ||
		    !language->programs[i + 1]) {
			if (result->outcome.end == BOX_NO_PROGRAM)
				(void)snprintf(result->hint, sizeof(result->hint), "%s",
					       language->hint);
			*ret_result = result;
			return 0;
		}
		husk_result_free(result);
		job->kind = SPARE_PROGRAM;
	}
	return error_set(err, HUSK_E_INVALID, "language", "no program is known for it");
}

static int check_code(const char *language, const char *code, size_t size,
		      const struct language **ret, struct husk_error *err)
{
	*ret = language ? language_find(language) : NULL;
	if (!*ret) {
		error_set(err, HUSK_E_INVALID, "language", "\"%.60s\" is not one of %s",
			  language ? language : "", language_names());
		return HUSK_E_INVALID;
	}
	if (!code && size > 0)
		return error_set(err, HUSK_E_INVALID, "code", "it is NULL");
	if (size > CODE_MAX)
		return error_set(err, HUSK_E_INVALID, "code",
				 "it is %zu bytes long; at most %d are taken", size,
				 CODE_MAX);
	if (size > 0 && memchr(code, '\0', size))
		return error_set(err, HUSK_E_INVALID, "code", "it holds a NUL byte");
	return 0;
}

/* A file may begin with a byte order mark; python3 -c takes none. */
static bool begins_with_mark(const char *code, size_t size)
{
	static const char mark[] = "\xef\xbb\xbf";

	return size >= sizeof(mark) - 1 && memcmp(code, mark, sizeof(mark) - 1) == 0;
}

/* Which spare could take this source. What the session is used for is noted also where
 * this call is an exception. */
static enum spare_kind kind_of(struct husk_session *session,
			       const struct language *language,
			       const struct husk_call *call, const struct job *job,
			       bool inline_code)
{
	enum spare_kind kind = spare_code_kind(language->name);

	if (!session->spares)
		return SPARE_PROGRAM;
	if (kind != SPARE_PROGRAM &&
	    (!spare_code_allowed(session, kind) || !inline_code ||
	     !spare_code_fits(call, job->code, job->code_size)))
		kind = SPARE_PROGRAM;
	spares_note(session->spares, kind);
	return kind;
}

int husk_session_run_code(husk_session *session, const char *language, const char *code,
			  size_t size, const struct husk_call *call,
			  husk_result **ret_result, struct husk_error *err)
{
	CLEANUP_FREE char *text = NULL;
	const struct language *row = NULL;
	const char *argv[4] = {NULL};
	struct job job = {.kind = SPARE_PROGRAM, .code = code, .code_size = size};
	struct husk_call known;
	int r = session_enter(session, err);

	if (r < 0)
		return r;
	r = settings_call(call, &known, err);
	if (r == 0)
		r = check_call(session, &known, err);
	if (r == 0)
		r = check_code(language, code, size, &row, err);
	if (r == 0 && row && size <= CODE_INLINE && !begins_with_mark(code, size)) {
		text = strndup(code ? code : "", size);
		if (!text)
			r = error_oom(err, "code");
	}
	if (r == 0) {
		argv[1] = row->option;
		argv[2] = text ? text : row->from_file;
		make_call(session, argv, &known, &job.call);
		job.skip_files = known.skip_files != 0;
		job.kind = kind_of(session, row, &known, &job, text != NULL);
		if (!text) {
			job.call.code = code;
			job.call.code_size = size;
		}
		r = run_language(session, row, &job, argv, ret_result, err);
		spares_wake(session->spares);
	}
	session_leave(session);
	return r;
}

int husk_session_explain(husk_session *session, const char *const argv[],
			 const struct husk_call *call, char **ret_text,
			 struct husk_error *err)
{
	struct buffer text = BUFFER_INIT(64 << 20);
	struct box_call box_call;
	struct husk_call known;
	int r = session_enter(session, err);

	if (r < 0)
		return r;
	r = prepare(session, argv, call, &known, &box_call, err);
	if (r == 0)
		r = box_explain(&session->spec, &box_call, &text, err);
	session_leave(session);
	if (r < 0)
		buffer_deinit(&text);
	else
		*ret_text = text.data;
	return r;
}

int husk_session_explain_timing(husk_session *session, const char *const argv[],
				const struct husk_call *call, husk_result **ret_result,
				char **ret_text, struct husk_error *err)
{
	struct buffer text = BUFFER_INIT(1 << 20);
	struct job job = {.kind = SPARE_PROGRAM};
	husk_result *result = NULL;
	struct husk_call known;
	int r = session_enter(session, err);

	if (r < 0)
		return r;
	r = prepare(session, argv, call, &known, &job.call, err);
	if (r == 0) {
		job.skip_files = known.skip_files != 0;
		job.call.timing = true;
		r = run_checked(session, &job, &result, err);
	}
	session_leave(session);
	if (r == 0 && (!result || !result->outcome.timing ||
		       box_timing_text(result->outcome.timing, &text) < 0))
		r = error_oom(err, "timing");
	if (r < 0) {
		buffer_deinit(&text);
		husk_result_free(result);
		return r;
	}
	*ret_result = result;
	*ret_text = text.data;
	return 0;
}
