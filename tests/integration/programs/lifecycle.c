/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls in the wrong order, with NULL, with structs of other sizes, and from several
 *threads at once. Each case checks itself.
 *
 *	lifecycle enforce|best-effort MARKER CASE...	(`list` prints the cases)
 *
 * Prints `ok CASE` or `failed CASE WORDS`. MARKER is an argument for sleep that tells the
 * test's own processes from others.
 */
#include <husk.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALLERS = 8 };

static int limits;
static const char *marker;
static char words[512];

/* The first complaint of a case. */
static void fails(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void fails(const char *format, ...)
{
	va_list args;

	if (words[0])
		return;
	va_start(args, format);
	(void)vsnprintf(words, sizeof(words), format, args);
	va_end(args);
}

#define EXPECT(condition)                                           \
	do {                                                        \
		if (!(condition))                                   \
			fails("line %d: %s", __LINE__, #condition); \
	} while (0)

static husk_session *open_session(void)
{
	HUSK_OPTIONS(options);
	struct husk_error err = {0};
	husk_session *session = NULL;

	options.limits = limits;
	if (husk_session_open(&options, &session, &err) < 0)
		fails("open: %s %s", err.where, err.message);
	return session;
}

static void nap(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* -- the cases --------------------------------------------------------------------------
 */

static void nothing_given(void)
{
	struct husk_error err = {0};
	husk_result *result = NULL;
	const char *const argv[] = {"true", NULL};
	struct husk_usage usage = {.size = sizeof(usage)};
	size_t size = 7;
	char *text = NULL;

	EXPECT(husk_session_close(NULL) == NULL);
	EXPECT(husk_result_free(NULL) == NULL);
	EXPECT(husk_listing_free(NULL) == NULL);
	EXPECT(husk_cancel_free(NULL) == NULL);
	EXPECT(husk_session_run(NULL, argv, NULL, &result, &err) == HUSK_E_INVALID);
	EXPECT(err.where[0] && err.message[0]);
	EXPECT(husk_session_explain(NULL, argv, NULL, &text, NULL) == HUSK_E_INVALID);
	EXPECT(husk_session_write(NULL, "a", "b", 1, NULL) == HUSK_E_INVALID);
	EXPECT(husk_session_workspace(NULL) == NULL);
	EXPECT(husk_result_stdout(NULL, &size) == NULL && size == 0);
	EXPECT(husk_result_exit_code(NULL) == 0 && husk_result_signal(NULL) == 0);
	EXPECT(husk_result_fault(NULL) == HUSK_FAULT_NONE);
	EXPECT(!husk_result_fault_name(NULL) && !husk_result_fault_message(NULL));
	EXPECT(!husk_result_hint(NULL) && !husk_result_exec_error(NULL));
	EXPECT(husk_result_file_count(NULL) == 0 && !husk_result_file_path(NULL, 0));
	husk_result_usage(NULL, &usage);
	EXPECT(usage.size == sizeof(usage));
	EXPECT(husk_listing_count(NULL) == 0 && !husk_listing_path(NULL, 0));
	husk_cancel_fire(NULL);
}

static void null_options_are_defaults(void)
{
	struct husk_error err = {0};
	husk_session *session = NULL;

	EXPECT(husk_session_open(NULL, &session, &err) == 0);
	EXPECT(session && husk_session_workspace(session)[0] == '/');
	EXPECT(access(husk_session_workspace(session), F_OK) == 0);
	husk_session_close(session);
}

/* An older caller's struct is filled up; a newer one's is taken where it asks nothing. */
static void sizes_of_structs(void)
{
	struct {
		struct husk_options options;
		char tail[64];
	} large = {0};
	struct husk_error err = {0};
	husk_session *session = NULL;

	large.options.limits = limits;
	large.options.size = sizeof(large);
	EXPECT(husk_session_open(&large.options, &session, &err) == 0);
	session = husk_session_close(session);
	large.tail[63] = 1;
	EXPECT(husk_session_open(&large.options, &session, &err) == HUSK_E_INVALID);
	large.options.size = 0;
	EXPECT(husk_session_open(&large.options, &session, &err) == HUSK_E_INVALID);
	large.options.size = sizeof(size_t);
	EXPECT(husk_session_open(&large.options, &session, &err) == 0);
	session = husk_session_close(session);
	large.options.size = sizeof(large.options);
	large.options.prewarm = HUSK_PREWARM_MAX + 1;
	EXPECT(husk_session_open(&large.options, &session, &err) == HUSK_E_INVALID);
	EXPECT(session == NULL);
}

static void calls_of_odd_shape(void)
{
	husk_session *session = open_session();
	const char *const argv[] = {"true", NULL};
	const char *const none[] = {NULL};
	struct husk_error err = {0};
	husk_result *result = NULL;
	HUSK_CALL(call);

	EXPECT(husk_session_run(session, NULL, NULL, &result, &err) == HUSK_E_INVALID);
	EXPECT(husk_session_run(session, none, NULL, &result, &err) == HUSK_E_INVALID);
	call.size = 3;
	EXPECT(husk_session_run(session, argv, &call, &result, &err) == HUSK_E_INVALID);
	call.size = sizeof(call);
	call.stdin_kind = 77;
	EXPECT(husk_session_run(session, argv, &call, &result, &err) == HUSK_E_INVALID);
	call.stdin_kind = HUSK_STDIN_DATA;
	call.stdin_size = 5;
	EXPECT(husk_session_run(session, argv, &call, &result, &err) == HUSK_E_INVALID);
	EXPECT(husk_session_run_code(session, NULL, "x", 1, NULL, &result, &err) ==
	       HUSK_E_INVALID);
	EXPECT(husk_session_run_code(session, "python", NULL, 1, NULL, &result, &err) ==
	       HUSK_E_INVALID);
	EXPECT(husk_session_run_code(session, "python", NULL, 0, NULL, &result, &err) ==
	       0);
	EXPECT(husk_result_success(result));
	husk_result_free(result);
	husk_session_close(session);
}

static void results_outlive_the_session(void)
{
	husk_session *session = open_session();
	const char *const argv[] = {"sh", "-c", "echo kept; echo x >file", NULL};
	struct husk_error err = {0};
	husk_result *result = NULL;
	char *json = NULL;

	EXPECT(husk_session_run(session, argv, NULL, &result, &err) == 0);
	session = husk_session_close(session);
	EXPECT(strcmp(husk_result_stdout(result, NULL), "kept\n") == 0);
	EXPECT(husk_result_file_count(result) == 1);
	EXPECT(strcmp(husk_result_file_path(result, 0), "file") == 0);
	EXPECT(husk_result_file_size(result, 0) == 2);
	EXPECT(husk_result_file_change(result, 0) == HUSK_FILE_CREATED);
	EXPECT(!husk_result_file_path(result, 1) && !husk_result_file_change(result, 1));
	EXPECT(husk_result_to_json(result, &json, &err) == 0 &&
	       strstr(json, "\"kept\\n\""));
	free(json);
	husk_result_free(result);
}

struct caller {
	husk_session *session;
	atomic_int begun;
	int code, fault;
};

static void *run_long(void *data)
{
	struct caller *caller = data;
	const char *const argv[] = {"sleep", marker, NULL};
	struct husk_error err = {0};
	husk_result *result = NULL;

	caller->begun = 1;
	caller->code = husk_session_run(caller->session, argv, NULL, &result, &err);
	caller->fault = husk_result_fault(result);
	husk_result_free(result);
	return NULL;
}

/* Closing ends the calls that run, and waits for them. */
static void closed_during_calls(void)
{
	struct caller callers[CALLERS] = {0};
	pthread_t threads[CALLERS];
	husk_session *session = open_session();
	char workspace[256];

	(void)snprintf(workspace, sizeof(workspace), "%s",
		       husk_session_workspace(session));
	for (int i = 0; i < CALLERS; i++) {
		callers[i].session = session;
		pthread_create(&threads[i], NULL, run_long, &callers[i]);
	}
	for (int i = 0; i < CALLERS; i++) {
		while (!callers[i].begun)
			nap(1);
	}
	nap(300);
	husk_session_close(session);
	EXPECT(access(workspace, F_OK) < 0);
	for (int i = 0; i < CALLERS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT(callers[i].code == 0);
		EXPECT(callers[i].fault == HUSK_FAULT_CANCELLED);
	}
}

static void expect_closed(husk_session *session)
{
	const char *const argv[] = {"true", NULL};
	struct husk_spares spares = {.size = sizeof(spares), .wanted = 7};
	struct husk_error err = {0};
	husk_listing *listing = NULL;
	husk_result *result = NULL;
	void *content = NULL;
	char *text = NULL;
	size_t size;

	EXPECT(husk_session_run(session, argv, NULL, &result, &err) == HUSK_E_CLOSED);
	EXPECT(husk_session_run_code(session, "python", "1", 1, NULL, &result, &err) ==
	       HUSK_E_CLOSED);
	EXPECT(husk_session_write(session, "a", "b", 1, &err) == HUSK_E_CLOSED);
	EXPECT(husk_session_read(session, "a", 0, &content, &size, &err) ==
	       HUSK_E_CLOSED);
	EXPECT(husk_session_list(session, NULL, &listing, &err) == HUSK_E_CLOSED);
	EXPECT(husk_session_explain(session, argv, NULL, &text, &err) == HUSK_E_CLOSED);
	husk_session_spares(session, &spares);
	EXPECT(spares.wanted == 0);
}

static int end_it(void *user, int stream, const void *data, size_t size)
{
	struct caller *caller = user;

	(void)stream, (void)data, (void)size;
	/* A call on it is running: this one. */
	caller->code = husk_session_end(caller->session, 0);
	return 0;
}

/* Ended, a session has only its memory: calls fail, and its path can still be read. */
static void ended_during_calls(void)
{
	struct caller caller = {.session = open_session(), .code = 7};
	const char *const argv[] = {"sh", "-c", "echo x; exec sleep 1000", NULL};
	husk_session *session = caller.session;
	struct husk_error err = {0};
	husk_result *result = NULL;
	char workspace[256];
	HUSK_CALL(call);

	(void)snprintf(workspace, sizeof(workspace), "%s",
		       husk_session_workspace(session));
	call.on_output = end_it;
	call.user = &caller;
	EXPECT(husk_session_run(session, argv, &call, &result, &err) == 0);
	EXPECT(caller.code == 0);
	EXPECT(husk_result_fault(result) == HUSK_FAULT_CANCELLED);
	EXPECT(access(workspace, F_OK) == 0);
	expect_closed(session);
	EXPECT(husk_session_end(session, 20000) == 1);
	EXPECT(access(workspace, F_OK) < 0);
	EXPECT(husk_session_end(session, 0) == 1);
	expect_closed(session);
	EXPECT(strcmp(husk_session_workspace(session), workspace) == 0);
	husk_session_close(session);
	husk_result_free(result);
	EXPECT(husk_session_end(NULL, 0) == 1);
}

static void *end_and_look(void *data)
{
	struct caller *caller = data;

	caller->code = husk_session_end(caller->session, UINT64_MAX);
	EXPECT(access(husk_session_workspace(caller->session), F_OK) < 0);
	return NULL;
}

/* Whoever waits for the end finds it done, by whichever thread. */
static void ended_by_many(void)
{
	struct caller callers[CALLERS] = {0}, run = {.session = open_session()};
	pthread_t threads[CALLERS], running;

	pthread_create(&running, NULL, run_long, &run);
	while (!run.begun)
		nap(1);
	nap(300);
	for (int i = 0; i < CALLERS; i++) {
		callers[i].session = run.session;
		pthread_create(&threads[i], NULL, end_and_look, &callers[i]);
	}
	for (int i = 0; i < CALLERS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT(callers[i].code == 1);
	}
	pthread_join(running, NULL);
	EXPECT(run.code == 0 && run.fault == HUSK_FAULT_CANCELLED);
	husk_session_close(run.session);
}

struct shared {
	husk_session *session;
	husk_cancel *cancel;
	int calls;
	atomic_int cancelled, ended;
};

static void *run_until_cancelled(void *data)
{
	struct shared *shared = data;
	const char *const argv[] = {"sleep", marker, NULL};
	struct husk_error err = {0};
	husk_result *result = NULL;
	HUSK_CALL(call);

	call.cancel = shared->cancel;
	if (husk_session_run(shared->session, argv, &call, &result, &err) == 0)
		shared->cancelled += husk_result_fault(result) == HUSK_FAULT_CANCELLED;
	husk_result_free(result);
	shared->ended++;
	return NULL;
}

/* One object stops all of them, and the session goes on. */
static void one_cancel_for_many(void)
{
	struct shared shared = {.session = open_session()};
	pthread_t threads[CALLERS];
	struct husk_error err = {0};
	const char *const argv[] = {"true", NULL};
	husk_result *result = NULL;

	EXPECT(husk_cancel_new(&shared.cancel, &err) == 0);
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, run_until_cancelled, &shared);
	nap(200);
	EXPECT(shared.ended == 0);
	husk_cancel_fire(shared.cancel);
	husk_cancel_fire(shared.cancel);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	EXPECT(shared.cancelled == CALLERS);
	husk_cancel_free(shared.cancel);
	EXPECT(husk_session_run(shared.session, argv, NULL, &result, &err) == 0 &&
	       husk_result_success(result));
	husk_result_free(result);
	husk_session_close(shared.session);
}

static void *write_and_list(void *data)
{
	struct shared *shared = data;
	const char *const argv[] = {"sh", "-c", "ls >/dev/null; echo x >made-$$", NULL};

	for (int i = 0; i < 20; i++) {
		struct husk_error err = {0};
		husk_listing *listing = NULL;
		husk_result *result = NULL;
		void *content = NULL;
		size_t size;

		EXPECT(husk_session_write(shared->session, "shared/file", "0123456789",
					  10, &err) == 0);
		EXPECT(husk_session_read(shared->session, "shared/file", 0, &content,
					 &size, &err) == 0 &&
		       size == 10);
		free(content);
		EXPECT(husk_session_list(shared->session, NULL, &listing, &err) == 0);
		husk_listing_free(listing);
		EXPECT(husk_session_run(shared->session, argv, NULL, &result, &err) ==
			   0 &&
		       husk_result_success(result));
		husk_result_free(result);
	}
	return NULL;
}

/* Files and runs of one session from many threads. */
static void everything_at_once(void)
{
	struct shared shared = {.session = open_session()};
	pthread_t threads[CALLERS];

	for (int i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, write_and_list, &shared);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	husk_session_close(shared.session);
}

static void *open_and_close(void *unused)
{
	const char *const argv[] = {"true", NULL};

	for (int i = 0; i < 10; i++) {
		husk_session *session = open_session();
		struct husk_error err = {0};
		husk_result *result = NULL;

		EXPECT(husk_session_run(session, argv, NULL, &result, &err) == 0 &&
		       husk_result_success(result));
		husk_result_free(result);
		husk_session_close(session);
	}
	return unused;
}

static void many_sessions(void)
{
	pthread_t threads[CALLERS];

	for (int i = 0; i < CALLERS; i++)
		pthread_create(&threads[i], NULL, open_and_close, NULL);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
    {"calls-of-odd-shape", calls_of_odd_shape},
    {"closed-during-calls", closed_during_calls},
    {"ended-by-many", ended_by_many},
    {"ended-during-calls", ended_during_calls},
    {"everything-at-once", everything_at_once},
    {"many-sessions", many_sessions},
    {"nothing-given", nothing_given},
    {"null-options-are-defaults", null_options_are_defaults},
    {"one-cancel-for-many", one_cancel_for_many},
    {"results-outlive-the-session", results_outlive_the_session},
    {"sizes-of-structs", sizes_of_structs},
};

static void run_case(const char *name)
{
	words[0] = '\0';
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, name) == 0) {
			cases[i].run();
			printf("%s %s %s\n", words[0] ? "failed" : "ok", name, words);
			fflush(stdout);
			return;
		}
	}
	printf("failed %s there is no such case\n", name);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			puts(cases[i].name);
		return 0;
	}
	if (argc < 4)
		return 2;
	limits = strcmp(argv[1], "best-effort") == 0 ? HUSK_LIMITS_BEST_EFFORT
						     : HUSK_LIMITS_ENFORCE;
	marker = argv[2];
	for (int i = 3; i < argc; i++)
		run_case(argv[i]);
	return 0;
}
